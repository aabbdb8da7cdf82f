import { messageOf } from "../errors/base.js";
import { RestoreError } from "../errors/index.js";
import { native, type TextSink } from "../native.js";
import { pushText } from "./text-pieces.js";

/** Events that are written at a time: a call of `JSON.stringify` for each costs more than what it writes. */
const LIST = 256;

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

/**
 * Hands over the events as JSON text, a list of some in each line, with what restore reads of them. Whole
 * conversations are not among it.
 */
export function projectEvents(events: readonly unknown[]): TextSink {
  // A guess: heads and hashes take so much, and outputs make room for themselves.
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
    // Which of them it is: one by one.
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
  // Whatever is not an object is named by the core, with its place.
  if (typeof event !== "object" || event === null || Array.isArray(event)) return event;
  const { type, agentId, timestamp, _seq, trace } = event as Base;
  const projected: Record<string, unknown> = { type, agentId, timestamp, _seq, trace };
  for (const name of typeof type === "string" ? fieldsOfType(type) : []) {
    projected[name] = (event as Record<string, unknown>)[name];
  }
  return projected;
}
