import { named, RewindError, type ErrorGuard } from "./base.js";

/** A request to an MCP server ended without an answer. */
export class McpCallEndedError extends RewindError {
  /** "closed": the connection was closed. "cancelled": the client cancelled the request. */
  readonly how: "closed" | "cancelled";
  /** The reason for the cancellation that the client sent to the server. */
  readonly reason: string | undefined;

  constructor(method: string, how: "closed" | "cancelled", reason?: string) {
    const why = how === "closed" ? "the connection was closed" : `it was cancelled: ${reason ?? "no reason was given"}`;
    super(`The MCP server did not answer ${method}: ${why}`, "ERR_REWIND_MCP_CALL_ENDED");
    this.how = how;
    this.reason = reason;
  }
}

export const isMcpCallEndedError: ErrorGuard<McpCallEndedError> = named(McpCallEndedError, "McpCallEndedError");
