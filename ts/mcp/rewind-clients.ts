import { isWrapped, rewindTransport } from "./rewind-transport.js";
import type { TransportLike } from "./transport.js";

/** The class `Client` of an MCP SDK. */
export interface ClientClass {
  readonly prototype: { connect(transport: never, ...rest: never[]): Promise<void> };
}

type Connect = (this: unknown, transport: TransportLike, ...rest: unknown[]) => Promise<void>;
/** Names the original method of a replaced one. */
const ORIGINAL = Symbol.for("agent-rewind.mcp.connect");

/**
 * Wraps the transports of all MCP clients of a class by `rewindTransport`, also of those that a framework creates. Call
 * it once, before the first client connects.
 *
 * @param Client the class that the framework uses: of `@modelcontextprotocol/sdk/client/index.js` (LangChain, Mastra), or
 * of `@modelcontextprotocol/client` (OpenAI Agents). An ES module has another class than a CommonJS module.
 * @throws TypeError if `Client` is no such class.
 *
 * @example
 * ```ts
 * import { Client } from "@modelcontextprotocol/sdk/client/index.js";
 * import { rewindClients } from "agent-rewind/mcp";
 *
 * rewindClients(Client);
 * ```
 */
export function rewindClients(Client: ClientClass): void {
  const prototype = (Client as Partial<ClientClass> | undefined)?.prototype as { connect?: Connect } | undefined;
  const connect = prototype?.connect;
  if (prototype === undefined || typeof connect !== "function")
    throw new TypeError("rewindClients: Client must be the class Client of an MCP SDK, with a method connect()");
  const original = (connect as Connect & { [ORIGINAL]?: Connect })[ORIGINAL] ?? connect;
  const wrapping: Connect = function (transport, ...rest) {
    return original.call(this, isWrapped(transport) ? transport : rewindTransport(transport), ...rest);
  };
  prototype.connect = Object.assign(wrapping, { [ORIGINAL]: original });
}
