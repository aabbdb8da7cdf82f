// node:http2: gRPC, the default client of Bedrock.

import http2 from "node:http2";
import { Duplex } from "node:stream";

import { currentCaller, isGuarding, judge } from "./judge.js";

type Headers = Readonly<Record<string, unknown>>;

interface Session {
  request(headers?: Headers | readonly string[], ...rest: unknown[]): unknown;
  readonly encrypted?: boolean;
  readonly socket?: { readonly remoteAddress?: string; readonly remotePort?: number };
}

export function guardHttp2(): void {
  const sessions = prototypeOfSessions();
  const { request } = sessions;
  sessions.request = function (this: Session, headers = {}, ...rest): unknown {
    if (isGuarding() && !isUndici(this)) {
      const error = judge(currentCaller(), outgoing(this, fields(headers)));
      if (error !== undefined) throw error;
    }
    return request.call(this, headers, ...rest);
  };
}

/** Sessions that are open already are guarded too. Node.js does not export their class. */
function prototypeOfSessions(): Session {
  const createConnection = (): Duplex => new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() });
  const probe = http2.connect("http://probe.invalid", { createConnection });
  probe.on("error", () => {});
  const prototype = Object.getPrototypeOf(probe) as Session;
  probe.destroy();
  return prototype;
}

/** Undici judges its requests itself, and sends them in the context of others. */
function isUndici(session: Session): boolean {
  return Object.getOwnPropertySymbols(session).some(({ description }) => description === "client");
}

function fields(headers: Headers | readonly string[]): Headers {
  if (!Array.isArray(headers)) return headers as Headers;
  const all = headers as readonly string[];
  return Object.fromEntries(
    all.flatMap((name, index) => (index % 2 === 0 ? [[name.toLowerCase(), all[index + 1]]] : [])),
  );
}

function outgoing(session: Session, headers: Headers): Parameters<typeof judge>[1] {
  const header = (name: string): string | undefined => headers[name]?.toString();
  const { remoteAddress, remotePort } = session.socket ?? {};
  const connected = remoteAddress?.includes(":") === true ? `[${remoteAddress}]` : remoteAddress;
  const authority = header(":authority") ?? header("host") ?? authorityOf(session) ?? `${connected}:${remotePort}`;
  const scheme = header(":scheme") ?? (session.encrypted === true ? "https" : "http");
  return { method: header(":method") ?? "GET", url: `${scheme}://${authority}${header(":path") ?? "/"}`, header };
}

/** The host that a session was opened for. */
function authorityOf(session: Session): string | undefined {
  const symbol = Object.getOwnPropertySymbols(session).find(({ description }) => description === "authority");
  const value: unknown = symbol && (session as unknown as Record<symbol, unknown>)[symbol];
  return typeof value === "string" && value !== "" ? value : undefined;
}
