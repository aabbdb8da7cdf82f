import { hasName, named, RewindError } from "./base.js";

/** A request to an MCP server ended without an answer. */
export class McpCallEndedError extends RewindError {
  static {
    named(this, "McpCallEndedError");
  }

  /** Whether the connection was closed, or the client took the request back. */
  readonly how: "closed" | "cancelled";
  /** Why it was taken back, as the client told the server. */
  readonly reason: string | undefined;

  constructor(method: string, how: "closed" | "cancelled", reason?: string) {
    const why = how === "closed" ? "the connection was closed" : `it was cancelled: ${reason ?? "no reason was given"}`;
    super(`The MCP server gave no answer to ${method}: ${why}`, "ERR_REWIND_MCP_CALL_ENDED");
    this.how = how;
    this.reason = reason;
  }
}

export function isMcpCallEndedError(value: unknown): value is McpCallEndedError {
  return hasName(value, "McpCallEndedError");
}
