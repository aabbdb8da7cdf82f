// A response with a body of JSON. Nearly all are read whole: the stream of the body, which costs more than all else of a
// replayed call, is made only for who reads it in another way.

import { rejected, watchUnread } from "../integration/index.js";

export interface JsonBody {
  /** A value of its own, which is given away. */
  readonly json: unknown;
  /** Aborts the body as long as it is not read. */
  readonly signal: AbortSignal | undefined;
  readonly open: () => ReadableStream<Uint8Array>;
  /** Resolves when the end may be shown. */
  readonly ended?: (() => Promise<void>) | undefined;
  /** Called when nobody can read the body any more; the stream that was opened calls it by itself. */
  readonly dropped?: (() => void) | undefined;
}

/** Where a response came from. */
export type Origin = Pick<Response, "url" | "redirected">;

export function jsonResponse(init: ResponseInit, body: JsonBody, origin: Origin): Response {
  // Node loads all of fetch when Response is first named, and a program may put another one in its place.
  if (made?.base !== Response) made = { base: Response, derived: classUpon(Response) };
  const { derived } = made;
  return derived === undefined ? withOrigin(new Response(body.open(), init), origin) : new derived(init, body, origin);
}

type JsonResponseClass = new (init: ResponseInit, body: JsonBody, origin: Origin) => Response;
let made: { readonly base: typeof Response; readonly derived: JsonResponseClass | undefined } | undefined;

/** Members of a response that are given here, which TypeScript takes for plain properties. */
type Overridden = "url" | "redirected" | "body" | "bodyUsed" | "text" | "json" | "clone";

/** `undefined` where the body cannot be made later: what reads it may lie anywhere in a class that is not as Node's. */
function classUpon(plain: typeof Response): JsonResponseClass | undefined {
  if (Object.getOwnPropertyDescriptor(plain.prototype, "body")?.get === undefined) return undefined;
  const Base = plain as unknown as new (body: null, init: ResponseInit) => Omit<Response, Overridden>;

  class JsonResponse extends Base {
    readonly #body: JsonBody;
    readonly #origin: Origin;
    #isRead: boolean = false;
    #opened: Response | undefined;
    /** Ends what tells that nobody can read the body any more. */
    #unwatch: () => void = () => {};

    constructor(init: ResponseInit, body: JsonBody, origin: Origin) {
      super(null, init);
      this.#body = body;
      this.#origin = origin;
      const { signal, dropped } = body;
      // An abort shows when the body is read.
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
      if (signal?.aborted === true) return rejected(signal.reason);
      return ended === undefined ? Promise.resolve(json) : ended().then(() => json);
    }

    /** The same response with a stream; what was read stays read. */
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

  // Who makes another response by it gives it what a plain one takes.
  Object.defineProperty(JsonResponse.prototype, "constructor", { value: plain, configurable: true, writable: true });
  // Whatever else can be done with a response, in this version of Node or a later one, reads the stream.
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

/** A response that is constructed has no URL. */
export function withOrigin(response: Response, { url, redirected }: Origin): Response {
  const clone = (): Response => withOrigin(Response.prototype.clone.call(response), { url, redirected });
  return Object.defineProperties(response, {
    url: { value: url, configurable: true },
    redirected: { value: redirected, configurable: true },
    clone: { value: clone, configurable: true },
  });
}
