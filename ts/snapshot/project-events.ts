import { messageOf } from "../errors/base.js";
import { RestoreError } from "../errors/index.js";
import { native } from "../native.js";

/** Fields by type of event: what the core reads of the lines of a trace file is what is handed over from memory. */
const fieldsOf = new Map<string, readonly string[]>();

function fieldsOfType(type: string): readonly string[] {
  let fields = fieldsOf.get(type);
  if (fields === undefined) {
    fields = native.restoredFields(type);
    // Types are data: others than those that are read could be any number.
    if (fields.length > 0) fieldsOf.set(type, fields);
  }
  return fields;
}

interface Base {
  type?: unknown;
  agentId?: unknown;
  timestamp?: unknown;
  _seq?: unknown;
  trace?: unknown;
}

/** The events as JSON text, one a line, with what restore reads of them. Whole conversations are not among it. */
export function projectEvents(events: readonly unknown[]): string {
  return events.map(projectEvent).join("\n");
}

function projectEvent(event: unknown, index: number): string {
  try {
    // Whatever is not an object is named by the core, with its place.
    if (typeof event !== "object" || event === null || Array.isArray(event)) return JSON.stringify(event) ?? "null";
    const { type, agentId, timestamp, _seq, trace } = event as Base;
    const projected: Record<string, unknown> = { type, agentId, timestamp, _seq, trace };
    for (const name of typeof type === "string" ? fieldsOfType(type) : []) {
      projected[name] = (event as Record<string, unknown>)[name];
    }
    return JSON.stringify(projected);
  } catch (cause) {
    const message = messageOf(cause);
    throw new RestoreError(`Restore failed: events.${index}: not JSON: ${message}`, { path: `events.${index}`, cause });
  }
}
