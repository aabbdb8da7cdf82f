// The transport of an MCP client. The types of the MCP SDK are not used, because they require the types of a browser.

import type { Message } from "./messages.js";

/** The methods that every transport of an MCP client has. */
export interface TransportLike {
  start(): Promise<void>;
  send(message: never, options?: never): Promise<void>;
  close(): Promise<void>;
}

export interface Transport {
  start(): Promise<void>;
  send(message: Message, options?: object): Promise<void>;
  close(): Promise<void>;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: ((message: Message, extra?: unknown) => void) | undefined;
  sessionId?: string | undefined;
  setProtocolVersion?: ((version: string) => void) | undefined;
}

/**
 * A proxy of a transport that takes the members of `own` from there, and all others from the transport.
 *
 * @param wrap wraps a further transport that a client creates by `transport.constructor`.
 */
export function overlaid<T extends TransportLike>(transport: T, own: object, wrap: (other: T) => T): T {
  const sibling = function (...args: unknown[]): T {
    return wrap(Reflect.construct(transport.constructor, args) as T);
  };
  return new Proxy(transport, {
    get(target, key) {
      if (key === "constructor") return sibling;
      const from = key in own ? own : target;
      // Methods with private members need their own object as `this`, not the proxy.
      const value: unknown = Reflect.get(from, key, from);
      return typeof value === "function" && !key.toString().startsWith("on") ? (value.bind(from) as unknown) : value;
    },
    set(target, key, value) {
      const to = key in own ? own : target;
      return Reflect.set(to, key, value, to);
    },
    has: (target, key) => key in own || key in target,
  });
}
