import { isError } from "../errors/base.js";
import { TRACE_EVENT_SCHEMA_VERSION } from "../events/names.js";
import type { TraceEvent, TraceGap } from "../types/events.js";
import { encodeMarked } from "../values/encode.js";
import { isPlainJson } from "../values/plain.js";

/** Fields whose types can be part of the event, as `outputTypes` for `output`. */
const TYPED_FIELDS = ["output", "props", "newProps", "result"] as const;

/** Writes an event as one line of JSON, with the newline. Never throws. */
export function eventLine(event: TraceEvent): string {
  try {
    if (!hasLossyField(event)) return `${JSON.stringify(event)}\n`;
  } catch {
    // A cycle, a BigInt or an accessor that throws. The event is written field by field.
  }
  return markedLine(event);
}

export function gapLine(count: number): string {
  const gap: TraceGap = { type: "gap", count, schemaVersion: TRACE_EVENT_SCHEMA_VERSION, timestamp: Date.now() };
  return `${JSON.stringify(gap)}\n`;
}

/** True if `JSON.stringify` would silently lose data in a field that replay returns. */
function hasLossyField(event: TraceEvent): boolean {
  const { output, outputTypes } = event as { output?: unknown; outputTypes?: unknown };
  return output !== undefined && outputTypes === undefined && !isPlainJson(output);
}

/** Writes an event field by field. A text such as "[function]" replaces values that cannot be recorded. */
function markedLine(event: TraceEvent): string {
  const members: string[] = [];
  for (const key of Object.keys(event)) {
    const { text, types } = encodeMarked(read(event, key));
    if (types === UNDEFINED) continue;
    members.push(`${JSON.stringify(key)}:${text}`);
    const typesKey = `${key}Types`;
    if (types !== null && (TYPED_FIELDS as readonly string[]).includes(key) && !Object.hasOwn(event, typesKey)) {
      members.push(`${JSON.stringify(typesKey)}:${types}`);
    }
  }
  return `{${members.join(",")}}\n`;
}

const UNDEFINED = '{"":"undefined"}';

function read(event: TraceEvent, key: string): unknown {
  try {
    return (event as unknown as Record<string, unknown>)[key];
  } catch (error) {
    return `[reading it threw: ${isError(error) ? error.message : "something"}]`;
  }
}
