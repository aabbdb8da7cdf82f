// Sockets that no HTTP client of Node.js or undici uses. HTTP on them is refused, other protocols are only reported.

import net from "node:net";

import type { UnrecordedRequestError } from "../../errors/snapshot.js";
import { currentCaller, isGuardingHttp1, judge, report, runsOf } from "./judge.js";
import { isOwnServer, watchServers } from "./own-servers.js";

/** Sockets whose requests were judged by the layer of their client. */
export const knownSockets: WeakSet<object> = new WeakSet();

interface Internals {
  _writeGeneric(this: Socket, writev: boolean, data: unknown, encoding: string, done: (error?: Error) => void): void;
}

/** `server`: of the connections of a server. */
type Socket = net.Socket & { readonly _host?: string | null; readonly server?: unknown };

/** The last run that each socket was reported in. */
const reported = new WeakMap<Socket, object>();

export function guardSockets(): void {
  watchServers();
  const sockets = net.Socket.prototype as unknown as Internals;
  const { _writeGeneric } = sockets;
  sockets._writeGeneric = function (writev, data, encoding, done): void {
    const error = knownSockets.has(this) ? undefined : judgeWrite(this, writev ? firstChunk(data) : data);
    if (error === undefined) {
      _writeGeneric.call(this, writev, data, encoding, done);
    } else {
      done(error);
      this.destroy(error);
    }
  };
}

function firstChunk(data: unknown): unknown {
  return (data as readonly { readonly chunk: unknown }[])[0]?.chunk;
}

const REQUEST = /^([A-Z]{3,12}) (\S+) HTTP\/1\.[01]\r\n/;
const HTTP2 = "PRI * HTTP/2";
const RPC = /^\s*\{.*"jsonrpc"\s*:\s*"2\.0"/s;

function judgeWrite(socket: Socket, data: unknown): UnrecordedRequestError | undefined {
  const [run] = runsOf(currentCaller());
  if (run === undefined || (socket.server ?? undefined) !== undefined) return undefined;
  const text = startOf(data);
  if (REQUEST.test(text) && !isGuardingHttp1()) {
    knownSockets.add(socket);
    return undefined;
  }
  if (REQUEST.test(text) || text.startsWith(HTTP2)) return judge(currentCaller(), outgoing(socket, text));
  if (reported.get(socket) !== run || RPC.test(text)) reportOther(socket, text, run);
  return undefined;
}

function startOf(data: unknown): string {
  if (typeof data === "string") return data.slice(0, MAX_READ);
  if (!ArrayBuffer.isView(data)) return "";
  return Buffer.from(data.buffer, data.byteOffset, Math.min(data.byteLength, MAX_READ)).toString("latin1");
}

const MAX_READ = 2_000;

function outgoing(socket: Socket, text: string): Parameters<typeof judge>[1] {
  const [, method = "PRI", target = "/"] = REQUEST.exec(text) ?? [];
  const header = (name: string): string | undefined => new RegExp(`\r\n${name}:\\s*([^\r]*)`, "i").exec(text)?.[1];
  const scheme = "encrypted" in socket ? "https" : "http";
  const authority = header("host") ?? remote(socket) ?? "unknown.invalid";
  const url =
    method === "CONNECT" ? `https://${target}` : /^https?:/.test(target) ? target : `${scheme}://${authority}${target}`;
  return { method, url, header };
}

const MCP_REMEDY =
  "Wrap the transport of the MCP client with rewindTransport(), or the class of the client with rewindClients(): of the " +
  "copy of the MCP SDK that the framework imports. A replay starts and asks this server.";

function reportOther(socket: Socket, text: string, run: object): void {
  const host = remote(socket);
  if (host === undefined) {
    const method = RPC.test(text) ? /"method"\s*:\s*"([^"]*)"/.exec(text)?.[1] : undefined;
    if (method !== undefined) report(currentCaller(), { method, host: commandOf(socket), path: "" }, MCP_REMEDY);
    return;
  }
  reported.set(socket, run);
  const url = `tcp://${host}`;
  if (URL.canParse(url) && !isOwnServer(new URL(url), undefined))
    report(currentCaller(), { method: "TCP", host, path: "" });
}

/** `undefined` until the socket is connected. */
function remote({ _host: host, remoteAddress = "", remotePort }: Socket): string | undefined {
  if (remotePort === undefined) return undefined;
  const name = host ?? remoteAddress;
  return `${net.isIPv6(name) ? `[${name}]` : name}:${remotePort}`;
}

/** The command of the process that a pipe leads to. */
function commandOf(pipe: Socket): string {
  const handles = (process as { _getActiveHandles?: () => unknown[] })._getActiveHandles?.() ?? [];
  const children = handles as { readonly stdin?: unknown; readonly spawnargs?: readonly string[] }[];
  const child = children.find(({ stdin }) => stdin === pipe);
  // Later arguments may be secrets.
  return `stdio: ${child?.spawnargs?.slice(0, 2).join(" ") ?? "a child process"}`;
}
