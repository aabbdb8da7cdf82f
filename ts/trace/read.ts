import { checkObject } from "../errors/received.js";
import { createReadStream, createWriteStream } from "node:fs";
import { open, stat } from "node:fs/promises";
import { createInterface } from "node:readline";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { messageOf } from "../errors/base.js";
import { TraceReadError } from "../errors/index.js";
import { wrongKind } from "../files/kind.js";
import { PRIVATE, replacementOf } from "../files/replace.js";
import type { TraceEvent, TraceGap } from "../types/events.js";
import { DeltaReader, isDeltaTurn } from "./messages-delta.js";

export interface ReadTraceOptions {
  /**
   * Called for a line that cannot be restored: not JSON (the last line of a killed run), not an event, or a turn whose
   * conversation is incomplete in the file. Such a turn is still yielded, with `messagesDelta` instead of `messages`;
   * other faulty lines are skipped. Without this option, the first fault is thrown.
   */
  onFault?: (fault: TraceReadError) => void;
}

/**
 * Reads the events of a trace file in the shape in which they were emitted: turns get back the whole conversation, of
 * which the file contains only the additions. Yields `"gap"` lines too, which mark dropped events.
 *
 * @throws TraceReadError for a line that cannot be read, unless `onFault` is given. Errors of the file system.
 */
export async function* readTrace(
  path: string | URL,
  options: ReadTraceOptions = {},
): AsyncGenerator<TraceEvent | TraceGap, void, undefined> {
  checkObject("readTrace: options", options);
  const { onFault } = options;
  const file = typeof path === "string" ? path : fileURLToPath(path);
  const fault = (line: number, reason: string, cause?: unknown): void => {
    const error = new TraceReadError(file, line, reason, cause);
    if (onFault === undefined) throw error;
    onFault(error);
  };
  const deltas = new DeltaReader();
  let number = 0;
  // Opened here, so that a missing file is thrown from here and not emitted by the stream.
  const handle = await open(file);
  try {
    const input = createReadStream(file, { fd: handle, autoClose: false });
    for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
      number++;
      if (line.trim() === "") continue;
      let event: unknown;
      try {
        event = JSON.parse(number === 1 && line.startsWith("\ufeff") ? line.slice(1) : line);
      } catch (error) {
        fault(number, `it is not JSON (${messageOf(error)})`, error);
        continue;
      }
      if (!isEvent(event)) {
        const other = number === 1 ? wrongKind(event, "trace") : undefined;
        fault(number, other ?? "it is not an event: expected an object with a `type`");
        continue;
      }
      if (event.type === "gap") {
        yield event;
        continue;
      }
      if (!isPlaced(event)) {
        const other = number === 1 ? wrongKind(event, "trace") : undefined;
        fault(number, other ?? "it is not an event: expected a `trace` with ids of the trace and its spans");
        continue;
      }
      const complete = deltas.complete(event);
      if (typeof complete === "string") {
        fault(number, complete);
        yield event;
      } else {
        yield complete;
      }
    }
  } finally {
    await handle.close();
  }
}

function isEvent(value: unknown): value is TraceEvent | TraceGap {
  return typeof value === "object" && value !== null && typeof (value as { type?: unknown }).type === "string";
}

function isPlaced(event: TraceEvent): boolean {
  const trace = event.trace as unknown;
  if (typeof trace !== "object" || trace === null) return false;
  return isDeltaTurn(event) ? isDelta(event.messagesDelta) : true;
}

function isDelta(delta: unknown): boolean {
  const { count, prefixHash, add } = (delta ?? {}) as { count?: unknown; prefixHash?: unknown; add?: unknown };
  return typeof count === "number" && typeof prefixHash === "string" && Array.isArray(add);
}

/**
 * Copies a trace file with the whole conversation in each turn, for tools that support only that form. The size of such
 * a file grows with the square of the turns.
 *
 * @throws TraceReadError for a line that cannot be read, unless `onFault` is given. Errors of the file system. On an
 *   error, `to` is unchanged. An existing `to` keeps its mode, a link stays a link; only its owner can read a new file.
 */
export async function exportTrace(from: string | URL, to: string | URL, options: ReadTraceOptions = {}): Promise<void> {
  const path = typeof to === "string" ? to : fileURLToPath(to);
  async function* lines(): AsyncGenerator<string> {
    for await (const event of readTrace(from, options)) yield `${JSON.stringify(event)}\n`;
  }
  const there = await stat(path).catch(() => undefined);
  // Replacing a device or a pipe by a file would cut off its other users.
  if (there !== undefined && !there.isFile() && !there.isDirectory()) return pipeline(lines, createWriteStream(path));
  const file = replacementOf(path, PRIVATE);
  try {
    await pipeline(lines, createWriteStream(file.temporary, file.options));
    file.finish();
  } catch (error) {
    file.discard();
    throw error;
  }
}
