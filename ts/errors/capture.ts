import { named, RewindError, type CauseOptions, type ErrorGuard } from "./base.js";

/** A request or an answer cannot be captured. */
export class CaptureError extends RewindError {
  constructor(message: string, options: CauseOptions = {}) {
    super(message, "ERR_REWIND_CAPTURE", options);
  }
}

export const isCaptureError: ErrorGuard<CaptureError> = named(CaptureError, "CaptureError");
