import { hasName, named, RewindError, type CauseOptions } from "./base.js";

/** What was to be captured cannot be. */
export class CaptureError extends RewindError {
  static {
    named(this, "CaptureError");
  }

  constructor(message: string, options: CauseOptions = {}) {
    super(message, "ERR_REWIND_CAPTURE", options);
  }
}

export function isCaptureError(value: unknown): value is CaptureError {
  return hasName(value, "CaptureError");
}
