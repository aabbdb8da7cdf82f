import { messageOf } from "../errors/base.js";
import { RestoreError } from "../errors/index.js";
import { native, type NativeTextSink } from "../native.js";
import { pushText } from "./text-pieces.js";

/** The fields that a restore reads from events of one type. Conversations are not among them. */
export interface RestoredFields {
  readonly names: readonly string[];
  /** The number of leading fields that are read from every event. The others are read only if the span's start is missing. */
  readonly always: number;
}

const known = new Map<string, RestoredFields>();

export function restoredFields(type: string): RestoredFields {
  let fields = known.get(type);
  if (fields === undefined) {
    fields = native.restoredFields(type);
    // Unknown types are not cached: there is no limit to their number.
    if (fields.names.length > 0) known.set(type, fields);
  }
  return fields;
}

/** Events per call of `JSON.stringify`. One call per event would cost more than the writing itself. */
const LIST = 256;

interface Base {
  type?: unknown;
  agentId?: unknown;
  timestamp?: unknown;
  _seq?: unknown;
  trace?: unknown;
}

/**
 * Passes values of any type to the core as JSON text, a list of events per line, with only the fields that a restore
 * reads. The core reports invalid events with their position.
 */
export function projectEvents(events: readonly unknown[]): NativeTextSink {
  // An estimate for heads and hashes; the sink grows.
  const sink = new native.TextSink(events.length * 512);
  for (let start = 0; start < events.length; start += LIST) {
    pushText(sink, `${listText(events.slice(start, start + LIST), start)}\n`);
  }
  return sink;
}

function listText(events: unknown[], start: number): string {
  try {
    return JSON.stringify(events.map(projectEvent));
  } catch {
    // Find the one that fails.
    return `[${events.map((event, index) => eventText(event, start + index)).join(",")}]`;
  }
}

function eventText(event: unknown, index: number): string {
  try {
    return JSON.stringify(projectEvent(event)) ?? "null";
  } catch (cause) {
    const message = messageOf(cause);
    throw new RestoreError(`Restore failed: events.${index}: not JSON: ${message}`, { path: `events.${index}`, cause });
  }
}

function projectEvent(event: unknown): unknown {
  // The core reports elements that are not objects.
  if (typeof event !== "object" || event === null || Array.isArray(event)) return event;
  const { type, agentId, timestamp, _seq, trace } = event as Base;
  const projected: Record<string, unknown> = { type, agentId, timestamp, _seq, trace };
  for (const name of typeof type === "string" ? restoredFields(type).names : []) {
    projected[name] = (event as Record<string, unknown>)[name];
  }
  return projected;
}
