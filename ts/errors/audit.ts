import { type CauseOptions, hasName, named, RewindError } from "./base.js";

/** An audit log cannot be opened, written or read. */
export class AuditLogError extends RewindError {
  static {
    named(this, "AuditLogError");
  }

  /** The log. */
  readonly path: string;

  constructor(
    message: string,
    { path, code = "ERR_REWIND_AUDIT", ...options }: CauseOptions & { path: string; code?: string },
  ) {
    super(message, code, options);
    this.path = path;
  }
}

export function isAuditLogError(value: unknown): value is AuditLogError {
  return hasName(value, "AuditLogError");
}
