import { budgetDict, ledgerDict, utilizationOf, warningsOf } from "../window/ledger.js";
import { SnapshotHookData } from "../capture/boundary.js";
import { redactJson, type MonitorRedactor } from "./redactor.js";

/** What the monitor writes of a snapshot: the JSON text of which the core makes both formats. */
export function monitorDocument(data: SnapshotHookData, redactor: MonitorRedactor | undefined): Buffer {
  const { ledger, budget } = data;
  const { messages } = SnapshotHookData.contentOf(data);
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

/** A float stays one for readers that tell 1 from 1.0. */
function float(value: number): string {
  const text = JSON.stringify(value);
  return /^-?\d+$/.test(text) ? `${text}.0` : text;
}
