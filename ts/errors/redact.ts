import { named, RewindError, type CauseOptions, type ErrorGuard } from "./base.js";

/** A redaction rule cannot be used, or a snapshot was recorded under other rules. */
export class RedactError extends RewindError {
  constructor(message: string, options: CauseOptions = {}) {
    super(message, "ERR_REWIND_REDACT", options);
  }
}

export const isRedactError: ErrorGuard<RedactError> = named(RedactError, "RedactError");
