import { messageOf } from "../errors/base.js";
import { RestoreError } from "../errors/index.js";
import { native, type NativeTextSink } from "../native.js";
import { restoredFields } from "./restored-fields.js";
import { pushText } from "./text-pieces.js";

/** Events that are written at a time: a call of `JSON.stringify` for each costs more than what it writes. */
const LIST = 256;

interface Base {
  type?: unknown;
  agentId?: unknown;
  timestamp?: unknown;
  _seq?: unknown;
  trace?: unknown;
}

/**
 * Hands over events of any form as JSON text, a list of some in each line, with what restore reads of them. What is
 * no event is found by the core, and named with its place.
 */
export function projectEvents(events: readonly unknown[]): NativeTextSink {
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
  for (const name of typeof type === "string" ? restoredFields(type).names : []) {
    projected[name] = (event as Record<string, unknown>)[name];
  }
  return projected;
}
