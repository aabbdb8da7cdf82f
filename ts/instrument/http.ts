// HTTP/1 on sockets: node:http, all copies of undici, a fetch that was captured earlier. The library that takes them is
// loaded at the first request, because it costs more time than the rest of the package.

import diagnostics from "node:diagnostics_channel";
import { AsyncLocalStorage } from "node:async_hooks";
import { createRequire } from "node:module";
import net from "node:net";
import { Duplex } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import zlib from "node:zlib";

import { UnrecordedRequestError } from "../errors/snapshot.js";
import { builtFile } from "../files/dist.js";
import { rewindFetch, type RewindFetchOptions } from "../fetch/index.js";
import { ambientContext } from "../integration/index.js";
import { takeHttp1 } from "../integration/session/index.js";

interface RequestEvent {
  readonly request: Request;
  readonly requestId: string;
  readonly initiator: object;
  readonly controller: {
    readonly readyState: number;
    respondWith(response: Response): void;
    errorWith(reason: unknown): void;
  };
}

interface ResponseEvent {
  readonly requestId: string;
  readonly response: Response;
}

interface Interceptor {
  apply(owner?: object): void;
  dispose(owner?: object): void;
  on(type: string, listener: (event: never) => unknown): unknown;
}

interface Library {
  readonly HttpRequestInterceptor: new () => Interceptor;
  readonly SocketInterceptor: { singleton?: unknown } & (new () => Interceptor);
  readonly singleton: (type: unknown) => Interceptor;
}

type InContext = <R>(fn: () => R) => R;

/** Calls functions in the async context of the code that sent a request. */
const senders = new WeakMap<object, InContext>();
/** The request of undici that a socket sends now. */
const sending = new WeakMap<object, object>();

/** Records what is sent over HTTP/1. Returns a function that undoes it. */
export function instrumentHttp(options: RewindFetchOptions): () => void {
  const { prototype } = net.Socket;
  const { connect } = prototype;
  let loaded: typeof connect | undefined;
  const load = (): typeof connect => {
    // Below mocks that were installed meanwhile: they may be removed at any time.
    const above = prototype.connect;
    prototype.connect = connect;
    undo.push(intercept(options));
    loaded = prototype.connect;
    Object.defineProperty(prototype, "connect", { value: above });
    return loaded;
  };
  const stub = function (this: net.Socket, ...args: never[]): net.Socket {
    return (loaded ?? load()).apply(this, args as never);
  } as typeof connect;
  prototype.connect = stub;
  const note = ({ request }: { readonly request: object }): void => {
    senders.set(request, AsyncLocalStorage.snapshot());
  };
  const undo = [
    subscribe("undici:request:create", note),
    subscribe("http.client.request.created", note),
    subscribe("undici:client:sendHeaders", ({ request, socket }) => void sending.set(socket, request)),
  ];
  takeHttp1(true);
  undo.push(() => {
    takeHttp1(false);
    if (prototype.connect === stub) prototype.connect = connect;
  });
  return () => {
    for (const action of undo.toReversed()) action();
  };
}

function subscribe(channel: string, listener: (message: Record<"request" | "socket", object>) => void): () => void {
  const receive = (message: unknown): void => listener(message as never);
  diagnostics.subscribe(channel, receive);
  return () => void diagnostics.unsubscribe(channel, receive);
}

const LIBRARY = builtFile("vendor/interceptors.cjs");

function intercept(options: RewindFetchOptions): () => void {
  const { HttpRequestInterceptor, SocketInterceptor, singleton } = createRequire(LIBRARY)(
    fileURLToPath(LIBRARY),
  ) as Library;
  const interceptor = new HttpRequestInterceptor();
  const responses = new Map<string, (response: Response) => Promise<void> | undefined>();
  /** The client's socket of each intercepted one. */
  const sockets = new WeakMap<object, net.Socket>();
  interceptor.apply();
  singleton(SocketInterceptor).on("connection", ({ socket, controller }: { socket: object; controller: object }) => {
    const symbol = Object.getOwnPropertySymbols(controller).find(({ description }) => description === "kRawSocket");
    const raw = symbol && (controller as Record<symbol, unknown>)[symbol];
    if (raw instanceof net.Socket) sockets.set(socket, raw);
  });
  interceptor.on("response", ({ requestId, response }: ResponseEvent) => responses.get(requestId)?.(response));
  interceptor.on("request", async ({ request, requestId, initiator, controller }: RequestEvent) => {
    if (request.method === "CONNECT") return;
    const socket = sockets.get(initiator);
    const inContext = senderOf(socket);
    let pass = (_response: undefined): void => {};
    const sent = new Promise<undefined>((resolve) => (pass = resolve));
    const send = (): Promise<Response> =>
      new Promise((resolve, reject) => {
        // A strict replay sends no call. What is left is telemetry, which it drops.
        if (ambientContext("instrument", undefined)?.mode === "replay") return reject(dropped(request));
        const end = (): void => {
          responses.delete(requestId);
          socket?.off("error", fail).off("close", fail);
        };
        const fail = (error?: unknown): void => {
          end();
          reject(error instanceof Error ? error : new Error(`the connection to ${request.url} was closed`));
        };
        socket?.on("error", fail).on("close", fail);
        responses.set(requestId, (response) => {
          end();
          resolve(decoded(response));
          const recorded = answer.then(drain, () => {});
          // The client receives a response that is not streamed when it is recorded.
          return STREAMED.test(response.headers.get("content-type") ?? "") ? undefined : recorded;
        });
        pass(undefined);
      });
    const copy = request.clone();
    const answer = inContext(() => rewindFetch(send, options)(copy));
    try {
      const replayed = await Promise.race([sent, answer]);
      if (replayed !== undefined) controller.respondWith(withLength(replayed));
    } catch (error) {
      controller.errorWith(error);
    }
  });
  return () => interceptor.dispose();
}

function dropped({ method, url }: Request): Error {
  const { host, pathname: path } = new URL(url);
  const call = { method, host, path, callSite: "unknown" };
  return new UnrecordedRequestError(call, "It is known telemetry, which a replay drops.");
}

function senderOf(socket: net.Socket | undefined): InContext {
  const message = (socket as { _httpMessage?: object } | undefined)?._httpMessage;
  const request = message ?? (socket && sending.get(socket));
  return (request && senders.get(request)) ?? ((fn) => fn());
}

/** The client receives the original response. The recorded copy is the decoded one, as `fetch` returns it. */
function decoded(response: Response): Response {
  const coding = response.headers.get("content-encoding")?.trim().toLowerCase();
  const create = DECODERS[coding ?? ""];
  if (create === undefined || response.body === null) return response;
  const body = response.body.pipeThrough(Duplex.toWeb(create()) as never) as ReadableStream;
  const headers = new Headers(response.headers);
  headers.delete("content-encoding");
  headers.delete("content-length");
  return new Response(body, { status: response.status, statusText: response.statusText, headers });
}

const DECODERS: Readonly<Record<string, (() => Duplex) | undefined>> = {
  gzip: () => zlib.createGunzip(),
  "x-gzip": () => zlib.createGunzip(),
  deflate: () => zlib.createInflate(),
  br: () => zlib.createBrotliDecompress(),
};

/** Without a length or a transfer coding, the connection would be closed at the end. */
function withLength(response: Response): Response {
  if (response.body !== null && !response.headers.has("content-length"))
    response.headers.set("transfer-encoding", "chunked");
  return response;
}

const STREAMED = /event-?stream|ndjson|jsonl/i;

async function drain(response: Response): Promise<void> {
  try {
    await response.body?.pipeTo(new WritableStream());
  } catch {
    // The client sees the failure too.
  }
  await setImmediate();
}
