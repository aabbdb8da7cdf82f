// Undici: the built-in fetch, also one that was captured earlier, and the npm package in any number of copies.

import diagnostics from "node:diagnostics_channel";
import { createRequire } from "node:module";

import { currentCaller, isGuardingHttp1, judge, type Caller } from "./judge.js";
import { knownSockets } from "./sockets.js";

interface UndiciRequest {
  readonly origin?: string | URL;
  readonly path: string;
  readonly method: string;
  readonly headers?: unknown;
  onError?(error: Error): void;
  /** Since undici 8. */
  onResponseError?(error: Error): void;
}

/** Who dispatched a request. The queue of a pool creates it in the context of whoever freed the connection. */
const callers = new WeakMap<object, { readonly caller: Caller }>();

export function guardUndici(): void {
  watchDispatchers();
  diagnostics.subscribe("undici:request:create", (message) => {
    if (!isGuardingHttp1()) return;
    const { request } = message as { request: UndiciRequest };
    const error = judge(callerOf(request), outgoing(request));
    if (error === undefined) return;
    // An error that is thrown here would be an uncaught exception.
    if (request.onError === undefined) request.onResponseError?.(error);
    else request.onError(error);
  });
  diagnostics.subscribe("undici:client:sendHeaders", (message) => {
    const { socket } = message as { socket?: object };
    if (socket !== undefined) knownSockets.add(socket);
  });
}

function callerOf(request: UndiciRequest): Caller {
  const symbol = symbolOf(request, "handler");
  const handler = (symbol && (request as unknown as Record<symbol, unknown>)[symbol]) as object | undefined;
  const known = handler && callers.get(handler);
  if (known !== undefined) return known.caller;
  // A copy that was loaded after the last look. Its first request has not been queued.
  watchDispatchers();
  // The handlers of `request`, `stream` and `pipeline` are resources of their callers.
  if (handler !== undefined && "runInAsyncScope" in handler && typeof handler.runInAsyncScope === "function")
    return (handler as { runInAsyncScope<T>(fn: () => T): T }).runInAsyncScope(currentCaller);
  return currentCaller();
}

const watched = new WeakSet<object>();
const { cache } = createRequire(import.meta.url);
let cached = -1;

/** Notes the caller of each dispatch, in all copies. Those of npm are CommonJS, so they are in the cache if imported too. */
function watchDispatchers(): void {
  for (const version of [1, 2]) {
    let at = (globalThis as Record<symbol, unknown>)[Symbol.for(`undici.globalDispatcher.${version}`)] as object | null;
    while (at != null && !Object.hasOwn(at, "dispatch")) at = Object.getPrototypeOf(at) as object | null;
    watch(at, "dispatch");
  }
  const files = Object.keys(cache);
  if (files.length === cached) return;
  cached = files.length;
  for (const file of files) {
    const [, name] = /[\\/]lib[\\/]dispatcher[\\/](dispatcher|pool)-base\.js$/.exec(file) ?? [];
    if (name === undefined) continue;
    const loaded = cache[file]?.exports as { prototype?: object; PoolBase?: { prototype: object } } | undefined;
    if (name === "dispatcher") watch(loaded?.prototype, "dispatch");
    // The queue of a pool that was composed with interceptors earlier is reached only by this method.
    else watch(loaded?.PoolBase?.prototype, symbolOf(loaded?.PoolBase?.prototype, "dispatch"));
  }
}

type Dispatch = (this: unknown, options: unknown, handler: unknown) => boolean;

function watch(prototype: object | null | undefined, method: string | symbol | undefined): void {
  if (prototype == null || method === undefined || watched.has(prototype)) return;
  watched.add(prototype);
  const dispatcher = prototype as Record<string | symbol, Dispatch>;
  const dispatch = dispatcher[method];
  if (typeof dispatch !== "function") return;
  dispatcher[method] = function (options, handler): boolean {
    if (typeof handler === "object" && handler !== null && !callers.has(handler))
      callers.set(handler, { caller: currentCaller() });
    return dispatch.call(this, options, handler);
  };
}

/** Own symbols of undici have no other name. */
function symbolOf(object: object | undefined, description: string): symbol | undefined {
  return Object.getOwnPropertySymbols(object ?? {}).find((symbol) => symbol.description === description);
}

function outgoing({ origin = "", path, method, headers }: UndiciRequest): Parameters<typeof judge>[1] {
  const header = (name: string): string | undefined => headerIn(headers, name);
  // A request for a tunnel through a proxy.
  const url = method === "CONNECT" ? `https://${path}` : /^https?:/.test(path) ? path : `${origin.toString()}${path}`;
  return { method, url, isFetch: true, header };
}

function headerIn(headers: unknown, name: string): string | undefined {
  if (!Array.isArray(headers)) return undefined;
  const all: unknown[] = headers;
  const at = all.findIndex((value, index) => index % 2 === 0 && String(value).toLowerCase() === name);
  return at === -1 ? undefined : String(all[at + 1]);
}
