import { budgetDict, ledgerDict, utilizationOf, warningsOf } from "../window/ledger.js";
import { BoundaryCapture } from "../capture/boundary.js";
import { redactJson, type MonitorRedactor } from "./redactor.js";

/** The JSON text of a capture from which the core renders both monitor formats. */
export function monitorDocument(data: BoundaryCapture, redactor: MonitorRedactor | undefined): Buffer {
  const { ledger, budget } = data;
  const { messages } = BoundaryCapture.contentOf(data);
  const history = redactJson(messages.wire, redactor);
  const head = JSON.stringify({
    timestamp: data.timestamp,
    message_hash: data.messageHash,
    tools_hash: data.toolsHash,
    session_id: data.sessionId,
    agent_name: data.agentName,
    model_name: data.model,
    budget: budgetDict(budget),
    ledger: ledgerDict(ledger),
  });
  const tail = `"warnings":${JSON.stringify(warningsOf(ledger, budget))},"history_turn_count":${ledger.messageCount}`;
  const list = history.startsWith("[") ? history : `[${history}]`;
  return Buffer.from(
    `${head.slice(0, -1)},"utilization":${float(utilizationOf(ledger, budget))},${tail},"history":${list}}`,
    "utf8",
  );
}

/** Writes 1 as `1.0`, for readers that distinguish floats from integers. */
function float(value: number): string {
  const text = JSON.stringify(value);
  return /^-?\d+$/.test(text) ? `${text}.0` : text;
}
