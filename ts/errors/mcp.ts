import { hasName, named, RewindError } from "./base.js";

/** A request to an MCP server ended without an answer. */
export class McpCallEndedError extends RewindError {
  static {
    named(this, "McpCallEndedError");
  }

  /** Why there is no answer: the connection was closed, or the client cancelled the request. */
  readonly how: "closed" | "cancelled";
  /** The reason that the client sent with the cancellation. */
  readonly reason: string | undefined;

  constructor(method: string, how: "closed" | "cancelled", reason?: string) {
    const why = how === "closed" ? "the connection was closed" : `it was cancelled: ${reason ?? "no reason was given"}`;
    super(`The MCP server did not answer ${method}: ${why}`, "ERR_REWIND_MCP_CALL_ENDED");
    this.how = how;
    this.reason = reason;
  }
}

export function isMcpCallEndedError(value: unknown): value is McpCallEndedError {
  return hasName(value, "McpCallEndedError");
}
