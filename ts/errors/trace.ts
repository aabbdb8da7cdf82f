import { hasName, messageOf, named, RewindError } from "./base.js";

/** A trace file could not be written. */
export class TraceWriteError extends RewindError {
  static {
    named(this, "TraceWriteError");
  }

  /** The trace file. */
  readonly path: string;

  constructor(path: string, cause: unknown) {
    super(
      `The trace file ${path} could not be written: ${messageOf(cause)}. Events since then may be missing in it.`,
      "ERR_REWIND_TRACE_WRITE",
      { cause },
    );
    this.path = path;
  }
}

export function isTraceWriteError(value: unknown): value is TraceWriteError {
  return hasName(value, "TraceWriteError");
}

/** A line of a trace file could not be read. */
export class TraceReadError extends RewindError {
  static {
    named(this, "TraceReadError");
  }

  /** The trace file. */
  readonly path: string;
  /** From 1. */
  readonly line: number;

  constructor(path: string, line: number, reason: string, cause?: unknown) {
    super(
      `Line ${line} of the trace file ${path} cannot be read: ${reason}. Give \`onFault\` to go on with what follows.`,
      "ERR_REWIND_TRACE_READ",
      { cause },
    );
    this.path = path;
    this.line = line;
  }
}

export function isTraceReadError(value: unknown): value is TraceReadError {
  return hasName(value, "TraceReadError");
}
