import { type CauseOptions, hasName, named, RewindError } from "./base.js";

/** A rule of redaction cannot be used, or a snapshot was recorded under other rules. */
export class RedactError extends RewindError {
  static {
    named(this, "RedactError");
  }

  constructor(message: string, options: CauseOptions = {}) {
    super(message, "ERR_REWIND_REDACT", options);
  }
}

export function isRedactError(value: unknown): value is RedactError {
  return hasName(value, "RedactError");
}
