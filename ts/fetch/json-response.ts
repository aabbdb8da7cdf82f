// A response with a JSON body. Most programs call `json()` or `text()`. The body's stream costs more than the rest of a
// replayed call, so it is created only for programs that read the body in another way.

import { watchUnread } from "../integration/index.js";

export interface JsonBody {
  /** The caller of `json()` gets this object itself, so nothing else may refer to it. */
  readonly json: unknown;
  /** Aborts the body until it is read. */
  readonly signal: AbortSignal | undefined;
  readonly open: () => ReadableStream<Uint8Array>;
  /** Resolves when the reader may see the end of the body. */
  readonly ended?: (() => Promise<void>) | undefined;
  /** Called when the program can no longer read the body. The stream of `open` calls it itself. */
  readonly dropped?: (() => void) | undefined;
}

/** The properties of a response that its constructor does not set. */
export type Origin = Pick<Response, "url" | "redirected">;

export function jsonResponse(init: ResponseInit, body: JsonBody, origin: Origin): Response {
  // Looked up on each call: Node loads fetch when Response is first used, and a program may replace the global.
  if (made?.base !== Response) made = { base: Response, derived: classUpon(Response) };
  const { derived } = made;
  return derived === undefined ? withOrigin(new Response(body.open(), init), origin) : new derived(init, body, origin);
}

type JsonResponseClass = new (init: ResponseInit, body: JsonBody, origin: Origin) => Response;
let made: { readonly base: typeof Response; readonly derived: JsonResponseClass | undefined } | undefined;

/** Overridden as accessors. TypeScript declares them as plain properties of the base class. */
type Overridden = "url" | "redirected" | "body" | "bodyUsed" | "text" | "json" | "clone";

/** `undefined` if the class is not built like Node's: then the body cannot be created later. */
function classUpon(plain: typeof Response): JsonResponseClass | undefined {
  if (Object.getOwnPropertyDescriptor(plain.prototype, "body")?.get === undefined) return undefined;
  const Base = plain as unknown as new (body: null, init: ResponseInit) => Omit<Response, Overridden>;

  class JsonResponse extends Base {
    readonly #body: JsonBody;
    readonly #origin: Origin;
    #isRead: boolean = false;
    #opened: Response | undefined;
    /** Stops watching for a body that the program can no longer read. */
    #unwatch: () => void = () => {};

    constructor(init: ResponseInit, body: JsonBody, origin: Origin) {
      super(null, init);
      this.#body = body;
      this.#origin = origin;
      const { signal, dropped } = body;
      // An abort has no effect until the body is read.
      if (dropped !== undefined) this.#unwatch = watchUnread(this, { signal, dropped });
    }

    get url(): string {
      return this.#origin.url;
    }

    get redirected(): boolean {
      return this.#origin.redirected;
    }

    get body(): Response["body"] {
      return this.opened().body;
    }

    get bodyUsed(): boolean {
      return this.#opened?.bodyUsed ?? this.#isRead;
    }

    text(): Promise<string> {
      return this.#isUntouched() ? this.#take().then((json) => JSON.stringify(json)) : this.opened().text();
    }

    json(): Promise<unknown> {
      return this.#isUntouched() ? this.#take() : this.opened().json();
    }

    clone(): Response {
      return withOrigin(this.opened().clone(), this.#origin);
    }

    #isUntouched(): boolean {
      return this.#opened === undefined && !this.#isRead;
    }

    #take(): Promise<unknown> {
      const { signal, ended, json } = this.#body;
      this.#isRead = true;
      this.#unwatch();
      if (signal?.aborted === true) return Promise.reject(signal.reason as Error);
      return ended === undefined ? Promise.resolve(json) : ended().then(() => json);
    }

    /** The same response with a real stream. A body that was read stays read. */
    opened(): Response {
      if (this.#opened === undefined) {
        this.#unwatch();
        const { status, statusText, headers } = this;
        this.#opened = new plain(this.#body.open(), { status, statusText, headers });
        if (this.#isRead) this.#opened.text().catch(() => {});
      }
      return this.#opened;
    }
  }

  // Code that calls `new response.constructor(…)` passes the arguments of a plain Response.
  Object.defineProperty(JsonResponse.prototype, "constructor", { value: plain, configurable: true, writable: true });
  // All other methods, also those that later versions of Node add, read the stream.
  for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(plain.prototype))) {
    if (typeof value !== "function" || Object.hasOwn(JsonResponse.prototype, name)) continue;
    const method = value as (this: Response, ...args: unknown[]) => unknown;
    Object.defineProperty(JsonResponse.prototype, name, {
      value(this: JsonResponse, ...args: unknown[]): unknown {
        return method.apply(this.opened(), args);
      },
      configurable: true,
      writable: true,
    });
  }
  return JsonResponse;
}

/** The constructor of Response cannot set a URL. */
export function withOrigin(response: Response, { url, redirected }: Origin): Response {
  const clone = (): Response => withOrigin(Response.prototype.clone.call(response), { url, redirected });
  return Object.defineProperties(response, {
    url: { value: url, configurable: true },
    redirected: { value: redirected, configurable: true },
    clone: { value: clone, configurable: true },
  });
}
