import { messageOf } from "../errors/base.js";
import { RestoreError } from "../errors/index.js";
import { native, type NativeTextSink } from "../native.js";
import { restoredFields } from "./restored-fields.js";
import { pushText } from "./text-pieces.js";

/** Events per call of `JSON.stringify`: one call for each event would cost more than the writing. */
const LIST = 256;

interface Base {
  type?: unknown;
  agentId?: unknown;
  timestamp?: unknown;
  _seq?: unknown;
  trace?: unknown;
}

/**
 * Passes events of any form to the core as JSON text, with the fields that restoring reads. Each line is a list of events.
 * The core reports elements that are not events, with their position.
 */
export function projectEvents(events: readonly unknown[]): NativeTextSink {
  // An estimate for heads and hashes; the sink grows for large outputs.
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
    // Written one by one, to find the event that is not JSON.
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
  // The core reports it, with its position.
  if (typeof event !== "object" || event === null || Array.isArray(event)) return event;
  const { type, agentId, timestamp, _seq, trace } = event as Base;
  const projected: Record<string, unknown> = { type, agentId, timestamp, _seq, trace };
  for (const name of typeof type === "string" ? restoredFields(type).names : []) {
    projected[name] = (event as Record<string, unknown>)[name];
  }
  return projected;
}
