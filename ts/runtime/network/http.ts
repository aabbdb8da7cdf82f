// node:http and node:https: axios, got, node-fetch. All requests of both go through `Agent` or get a socket directly,
// however a program imported them.

import http from "node:http";
import https from "node:https";
import net from "node:net";

import type { UnrecordedRequestError } from "../../errors/snapshot.js";
import { currentCaller, isGuardingHttp1, judge, type Caller } from "./judge.js";
import { knownSockets } from "./sockets.js";

interface Target {
  readonly host?: string | null;
  readonly port?: string | number | null;
  readonly socketPath?: string | null;
  readonly createConnection?: unknown;
}

type ClientRequest = http.ClientRequest & { readonly agent?: unknown };

interface Internals {
  addRequest(request: ClientRequest, target: Target, ...rest: unknown[]): void;
  onSocket(this: ClientRequest, socket: unknown, ...rest: unknown[]): void;
}

/** Who sends a request, until that is judged. */
const callers = new WeakMap<ClientRequest, { readonly caller: Caller; readonly target: Target } | "judged">();

export function guardHttp(): void {
  const agent = http.Agent.prototype as unknown as Internals;
  const { addRequest } = agent;
  const request = http.ClientRequest.prototype as unknown as Internals;
  const { onSocket } = request;

  agent.addRequest = function (this: http.Agent, sent, target, ...rest): void {
    if (isGuardingHttp1()) {
      const caller = currentCaller();
      if (connectsItself(this, target)) {
        callers.set(sent, "judged");
        const error = judge(caller, outgoing(sent, target));
        if (error !== undefined) {
          // Not in this tick, because the client has not added its listeners.
          process.nextTick(() => refuse(sent, error));
          return;
        }
      } else {
        callers.set(sent, { caller, target });
      }
    }
    addRequest.call(this as unknown as Internals, sent, target, ...rest);
  };

  request.onSocket = function (socket, ...rest): void {
    // A socket without a handle is that of a mock.
    if (socket instanceof net.Socket && (socket as { _handle?: unknown })._handle != null) {
      const error = isGuardingHttp1() && !this.destroyed ? judgeLate(this) : undefined;
      if (error !== undefined) {
        socket.destroy();
        refuse(this, error);
        return;
      }
      knownSockets.add(socket);
    }
    onSocket.call(this, socket, ...rest);
  };

  function refuse(sent: ClientRequest, error: UnrecordedRequestError): void {
    sent.destroy(error);
    // It emits the error. Without it, the request would wait forever.
    onSocket.call(sent, null, error);
  }
}

/** True if no other code creates the connections of an agent: a mock, or an agent for a proxy. */
function connectsItself(agent: http.Agent, { createConnection }: Target): boolean {
  const { createSocket, createConnection: create } = agent as unknown as Record<string, unknown>;
  const own = [http.Agent.prototype, https.Agent.prototype] as unknown as Record<string, unknown>[];
  return (
    own.some((prototype) => prototype["createConnection"] === (createConnection ?? create)) &&
    own.some((prototype) => prototype["createSocket"] === createSocket)
  );
}

function judgeLate(sent: ClientRequest): UnrecordedRequestError | undefined {
  const known = callers.get(sent);
  if (known === "judged") return undefined;
  if (known !== undefined) return judge(known.caller, outgoing(sent, known.target));
  // It has waited in its agent since before the guard was installed.
  if (sent.agent instanceof http.Agent) return undefined;
  return judge(currentCaller(), outgoing(sent, {}));
}

function outgoing(sent: ClientRequest, { host, port, socketPath }: Target): Parameters<typeof judge>[1] {
  const header = (name: string): string | undefined => sent.getHeader(name)?.toString();
  const scheme = sent.protocol;
  // A proxy receives the whole URL.
  const isWhole = /^https?:\/\//.test(sent.path);
  const authority =
    host == null ? (header("host") ?? sent.host) : `${bracketed(host)}${port == null ? "" : `:${port}`}`;
  return {
    method: sent.method,
    url: isWhole ? sent.path : `${scheme}//${authority}${sent.path}`,
    socketPath: socketPath ?? undefined,
    header,
  };
}

function bracketed(host: string): string {
  return net.isIPv6(host) ? `[${host}]` : host;
}
