import { fileURLToPath } from "node:url";
import { checkOptionNames, type OptionNames } from "../errors/option-names.js";
import type { TraceEvent } from "../types/events.js";
import { asyncDispose } from "../values/dispose.js";
import { Appender, type TraceSync } from "./buffered-writer.js";

export type { TraceSync } from "./buffered-writer.js";

export interface TraceWriterOptions {
  /** @default "batch" */
  sync?: TraceSync;
  /**
   * Maximum number of bytes that wait to be written. Further events are dropped and replaced by one line
   * `{"type":"gap","count":…}`.
   * @default 16 MiB
   */
  maxBuffered?: number;
}

const OPTION_NAMES: OptionNames<TraceWriterOptions> = { sync: true, maxBuffered: true };

/**
 * Pass it to `runWith` as `eventBus`, or subscribe its `emit` to a bus: `bus.subscribe("*", writer.emit)`.
 * Its functions need no `this`.
 */
export interface TraceWriter extends AsyncDisposable {
  readonly path: string;
  /** Appends one line. Never throws. */
  readonly emit: (event: TraceEvent) => void;
  /**
   * Resolves when all events so far are written, and synced unless `sync` is "off".
   * @throws TraceWriteError if they cannot be written, or if the file was deleted or replaced while it was open.
   */
  readonly flush: () => Promise<void>;
  /**
   * Flushes and closes the file. Further events are ignored. Waits for the end of runs that have returned a stream, so
   * read or cancel the stream first.
   */
  readonly close: () => Promise<void>;
}

/**
 * Opens a trace file for appending events, one JSON object per line. Creates the file and its folder if necessary.
 *
 * A write error does not disturb the run. It is reported once by `console.warn`, the write is retried, and `flush` and
 * `close` reject with the error.
 *
 * @throws TypeError, RangeError for invalid options.
 *
 * @example
 * ```ts
 * import { runWith } from "agent-rewind";
 * import { createTraceWriter } from "agent-rewind/debugger";
 *
 * export async function traced(agent: () => Promise<string>): Promise<string> {
 *   const trace = createTraceWriter("run.jsonl", { sync: "each" });
 *   try {
 *     return await runWith(agent, { eventBus: trace });
 *   } finally {
 *     await trace.close();
 *   }
 * }
 * ```
 */
export function createTraceWriter(path: string | URL, options: TraceWriterOptions = {}): TraceWriter {
  checkOptionNames("createTraceWriter: options", options, OPTION_NAMES);
  const { sync = "batch", maxBuffered = 16 * 1024 * 1024 } = options;
  if (!["off", "batch", "each"].includes(sync)) {
    throw new TypeError(
      `createTraceWriter: options.sync must be "off", "batch" or "each", received ${JSON.stringify(sync)}`,
    );
  }
  if (!(maxBuffered > 0)) {
    throw new RangeError(
      `createTraceWriter: options.maxBuffered must be a number of bytes above 0, received ${maxBuffered}`,
    );
  }
  const appender = new Appender(typeof path === "string" ? path : fileURLToPath(path), sync, maxBuffered);
  return {
    path: appender.path,
    emit: (event) => appender.emit(event),
    flush: () => appender.flush(),
    close: () => appender.close(),
    [asyncDispose]: () => appender.close(),
  };
}
