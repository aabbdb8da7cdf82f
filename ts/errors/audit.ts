import { named, RewindError, type CauseOptions, type ErrorGuard } from "./base.js";

/** An audit log cannot be opened, written or read. */
export class AuditLogError extends RewindError {
  /** Path of the log. */
  readonly path: string;

  constructor(
    message: string,
    { path, code = "ERR_REWIND_AUDIT", ...options }: CauseOptions & { path: string; code?: string },
  ) {
    super(message, code, options);
    this.path = path;
  }
}

export const isAuditLogError: ErrorGuard<AuditLogError> = named(AuditLogError, "AuditLogError");
