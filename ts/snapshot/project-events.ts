import { messageOf } from "../errors/base.js";
import { RestoreError } from "../errors/index.js";
import { EVENTS } from "../events/names.js";

const CALL_END = ["callId", "contentHash", "success", "output", "outputTypes", "tombstone", "error"];

/** What restore reads of each type of event, beside the base fields. Whole conversations are not among it. */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  [EVENTS.RUN_WITH_START]: ["props", "propsTypes", "normalize", "redact", "restoration"],
  [EVENTS.RUN_WITH_END]: ["success", "result", "resultTypes", "error", "memory"],
  [EVENTS.AGENT_START]: ["props", "propsTypes", "inputHash", "callId"],
  [EVENTS.AGENT_END]: ["success", "result", "resultTypes", "error"],
  [EVENTS.AGENT_REBORN]: ["generationId", "newProps", "newPropsTypes"],
  [EVENTS.GENERATION_START]: ["generationId", "props", "propsTypes", "memory"],
  [EVENTS.GENERATION_END]: ["generationId", "endReason", "success", "memory"],
  [EVENTS.TURN_START]: ["callId", "contentHash"],
  [EVENTS.TURN_END]: ["callId", "contentHash", "success", "message", "tombstone", "error", "meta"],
  [EVENTS.MODEL_CALL_START]: ["adapterId", "provider"],
  [EVENTS.TOOLS_EXECUTE_END]: ["success", "toolResults"],
  [EVENTS.TOOL_CALL_START]: ["toolName", "journalCallId", "callId", "contentHash"],
  [EVENTS.TOOL_CALL_END]: ["toolName", "journalCallId", ...CALL_END],
  [EVENTS.CALL_START]: ["kind", "name", "callId", "contentHash"],
  [EVENTS.CALL_END]: ["kind", "name", ...CALL_END],
  [EVENTS.BUDGET_UPDATE]: ["delta"],
};

interface Base {
  type?: unknown;
  agentId?: unknown;
  timestamp?: unknown;
  _seq?: unknown;
  trace?: unknown;
}

/** The events as JSON text, one a line, with what restore reads of them. */
export function projectEvents(events: readonly unknown[]): string {
  return events.map(projectEvent).join("\n");
}

function projectEvent(event: unknown, index: number): string {
  try {
    // Whatever is not an object is named by the core, with its place.
    if (typeof event !== "object" || event === null || Array.isArray(event)) return JSON.stringify(event) ?? "null";
    const { type, agentId, timestamp, _seq, trace } = event as Base;
    const projected: Record<string, unknown> = { type, agentId, timestamp, _seq, trace };
    for (const name of (typeof type === "string" && FIELDS[type]) || []) {
      projected[name] = (event as Record<string, unknown>)[name];
    }
    return JSON.stringify(projected);
  } catch (cause) {
    const message = messageOf(cause);
    throw new RestoreError(`Restore failed: events.${index}: not JSON: ${message}`, { path: `events.${index}`, cause });
  }
}
