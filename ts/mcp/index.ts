export { McpCallEndedError, isMcpCallEndedError } from "../errors/mcp.js";
export { rewindClients, type ClientClass } from "./rewind-clients.js";
export { rewindTransport, type RewindTransportOptions } from "./rewind-transport.js";
export type { TransportLike } from "./transport.js";
