import { hasName, named, RewindError } from "./base.js";

/** A tool gave a value that cannot be recorded, and so could not be replayed. */
export class InvalidToolOutputError extends RewindError {
  static {
    named(this, "InvalidToolOutputError");
  }

  readonly toolName: string;
  /** JSON pointer into the output; "" is the output itself. */
  readonly path: string;
  readonly reason: string;

  constructor(toolName: string, path: string, reason: string) {
    super(
      `The output of tool "${toolName}" cannot be recorded: ${path === "" ? "it" : `the value at ${path}`} is: ${reason}. ` +
        "Return plain data instead.",
      "ERR_REWIND_INVALID_TOOL_OUTPUT",
    );
    this.toolName = toolName;
    this.path = path;
    this.reason = reason;
  }
}

export function isInvalidToolOutputError(value: unknown): value is InvalidToolOutputError {
  return hasName(value, "InvalidToolOutputError");
}
