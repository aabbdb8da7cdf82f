// A transport of an MCP client, as far as it is used. Without the types of the SDK, which want those of a browser.

import type { Message } from "./messages.js";

/** What a transport of an MCP client has at least. */
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

/** The transport with what `own` has in place of its own. All else that it has is there too. */
export function overlaid<T extends TransportLike>(transport: T, own: object): T {
  return new Proxy(transport, {
    get(target, key) {
      const from = key in own ? own : target;
      // Transports have private members, which a proxy has not.
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
