import { named, RewindError, type ErrorGuard } from "./base.js";

/** A tool returned a value that cannot be recorded, and so cannot be replayed. */
export class InvalidToolOutputError extends RewindError {
  readonly toolName: string;
  /** JSON pointer into the output; "" is the output itself. */
  readonly path: string;
  readonly reason: string;

  constructor(toolName: string, path: string, reason: string) {
    const place = path === "" ? "it" : `the value at ${path}`;
    super(
      `The output of tool "${toolName}" cannot be recorded: ${place} is: ${reason}. Return plain data instead.`,
      "ERR_REWIND_INVALID_TOOL_OUTPUT",
    );
    this.toolName = toolName;
    this.path = path;
    this.reason = reason;
  }
}

export const isInvalidToolOutputError: ErrorGuard<InvalidToolOutputError> = named(
  InvalidToolOutputError,
  "InvalidToolOutputError",
);
