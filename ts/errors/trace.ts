import { messageOf, named, RewindError, type ErrorGuard } from "./base.js";

/** A trace file could not be written. */
export class TraceWriteError extends RewindError {
  /** Path of the trace file. */
  readonly path: string;

  constructor(path: string, cause: unknown) {
    super(
      `The trace file ${path} could not be written: ${messageOf(cause)}. Events after that may be missing in it.`,
      "ERR_REWIND_TRACE_WRITE",
      { cause },
    );
    this.path = path;
  }
}

export const isTraceWriteError: ErrorGuard<TraceWriteError> = named(TraceWriteError, "TraceWriteError");

/** A line of a trace file could not be read. */
export class TraceReadError extends RewindError {
  /** Path of the trace file. */
  readonly path: string;
  /** Number of the line, from 1. */
  readonly line: number;

  constructor(path: string, line: number, reason: string, cause?: unknown) {
    super(
      `Line ${line} of the trace file ${path} cannot be read: ${reason}. Pass \`onFault\` to continue after faults.`,
      "ERR_REWIND_TRACE_READ",
      { cause },
    );
    this.path = path;
    this.line = line;
  }
}

export const isTraceReadError: ErrorGuard<TraceReadError> = named(TraceReadError, "TraceReadError");
