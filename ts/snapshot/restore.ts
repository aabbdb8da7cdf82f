import { types } from "node:util";

import { checkOptionNames, type OptionNames } from "../errors/option-names.js";
import { messageOf } from "../errors/base.js";
import { RestoreError } from "../errors/index.js";
import { kindOf } from "../errors/received.js";
import { wrongKind } from "../files/kind.js";
import { calling, fromNativeError, native, type NativeSnapshotHandle, type NativeTextSink } from "../native.js";
import type { TraceEvent } from "../types/events.js";
import type { AgentSnapshot, RestoreOptions } from "../types/snapshot.js";
import { present } from "../values/members.js";
import { eventTable } from "./event-table.js";
import { snapshotObject } from "./handle.js";
import { metadataText } from "./metadata.js";
import { checkSnapshot } from "./open.js";
import { pushText } from "./text-pieces.js";

/**
 * Restores a snapshot from the events of a run: the frames at a point in time, ready to be replayed. The tree is built
 * from the spans of the events, so their order does not matter if they have `_seq`.
 *
 * @param trace the events; or JSONL as text or UTF-8 bytes, with one event per line.
 * @param options.spanId the span to restore to. Default: the end of the trace.
 * @param options.anchor "after" the span's end (default) or "before" its start.
 * @param options.resumedFrom the snapshot that the run resumed. Without it, what the run had not requested is lost.
 * @param options.traceId the run to restore, if the trace has several. Default: the run that started last.
 * @returns the snapshot. Its `warnings` list lost, duplicated and unreadable events.
 * @throws RestoreError if the trace is empty or does not contain the span, if nothing precedes the span, or if an element
 * of an array is not an event.
 *
 * @example
 * ```ts
 * import { replay, runWith } from "agent-rewind";
 * import { collectTrace, restoreSnapshot } from "agent-rewind/debugger";
 *
 * export async function twice(agent: () => Promise<string>): Promise<string> {
 *   const trace = collectTrace();
 *   await runWith(agent);
 *   return replay(agent, { snapshot: restoreSnapshot(trace.stop()) });
 * }
 * ```
 */
export function restoreSnapshot(
  trace: readonly TraceEvent[] | string | Uint8Array,
  options: RestoreOptions = {},
): AgentSnapshot {
  try {
    if (typeof trace === "string") return restored(native.restoreTrace(trace, nativeOptions(options, false)), options);
    if (types.isUint8Array(trace)) {
      // The core reads the bytes in place, so no other thread may write to them.
      const bytes = types.isSharedArrayBuffer(trace.buffer) ? trace.slice() : trace;
      return restored(native.restoreBytesSync(bytes, nativeOptions(options, false)), options);
    }
    if (!Array.isArray(trace)) {
      throw new RestoreError(
        `Restore failed: expected an array of events, JSONL text or bytes, received ${typeof trace}.`,
      );
    }
    return restored(restoreEvents(trace as unknown[], nativeOptions(options, true)), options);
  } catch (error) {
    throw restoreError(error, trace);
  }
}

/** The snapshot of a restored run, with what the run had not requested of the recording that it resumed. */
export function restored(handle: NativeSnapshotHandle, { resumedFrom }: RestoreOptions): AgentSnapshot {
  if (resumedFrom === undefined) return snapshotObject(handle);
  return snapshotObject(calling(() => handle.resumedFrom(checkSnapshot(resumedFrom).handle)));
}

/** An error of the core, or one that names the function for what the content is. */
export function restoreError(error: unknown, content: unknown): unknown {
  const message = wrongKind(content, "trace");
  return message === undefined ? fromNativeError(error) : new RestoreError(`Restore failed: ${message}.`);
}

const OPTION_NAMES: OptionNames<RestoreOptions> = {
  spanId: true,
  anchor: true,
  metadata: true,
  traceId: true,
  resumedFrom: true,
};

function restoreEvents(events: unknown[], options: ReturnType<typeof nativeOptions>): NativeSnapshotHandle {
  const table = eventTable(events);
  // The core reports the element that is not an event, with its position.
  if (table === undefined) return native.restorePieces(eventLines(events), options);
  const { heads, numbers, values, ...names } = table;
  return native.restoreTable(heads, numbers, names.types, names.spans, names.traces, values, options);
}

/** Events of any form, one per line. */
function eventLines(events: readonly unknown[]): NativeTextSink {
  const sink = new native.TextSink(events.length * 512);
  for (const [index, event] of events.entries()) {
    try {
      pushText(sink, `${JSON.stringify(event) ?? "null"}\n`);
    } catch (cause) {
      const path = `events.${index}`;
      throw new RestoreError(`Restore failed: ${path}: not JSON: ${messageOf(cause)}`, { path, cause });
    }
  }
  return sink;
}

/** The options in the form of the binding. */
export function nativeOptions(options: RestoreOptions, fromMemory: boolean): Parameters<typeof native.restoreTrace>[1] {
  checkOptionNames("restoreSnapshot: options", options, OPTION_NAMES);
  const { spanId, anchor, traceId } = options;
  if (anchor !== undefined && anchor !== "before" && anchor !== "after") {
    throw new RestoreError(
      `Restore failed: options.anchor must be "before" or "after", received ${JSON.stringify(anchor)}.`,
    );
  }
  for (const [name, id] of Object.entries({ spanId, traceId })) {
    if (id !== undefined && typeof id !== "string")
      throw new RestoreError(`Restore failed: options.${name} must be a string, received ${kindOf(id)}.`);
  }
  const metadata = metadataText(options.metadata);
  return { now: Date.now(), fromMemory, ...present({ spanId, anchor, traceId, metadata }) };
}
