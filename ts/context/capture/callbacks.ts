// Who is told of a boundary. Watching must not change what is watched.

import { AsyncLocalStorage } from "node:async_hooks";

import type { SnapshotHookData } from "./boundary.js";

/**
 * Takes a snapshot. It is called before the request leaves, once for each attempt. What it returns is not waited for,
 * unless it was registered as blocking.
 */
export type SnapshotCallback = (data: SnapshotHookData) => unknown;

export interface CallbackOptions {
  /**
   * The request waits for the callback, and is not sent if it throws: the call fails with its error. What
   * `captureLlmBoundary` captures waits only for what a callback does at once.
   * @default false
   */
  blocking?: boolean;
}

/** Takes what a callback threw, or its promise was rejected with. */
export type OnCallbackError = (error: unknown, data: SnapshotHookData | undefined) => void;

/** So many snapshots wait for an asynchronous callback that is still at work; what comes then is not told to it. */
export const MAX_WAITING = 1_000;

/** Which registrations the code runs in: a callback is not told of what it causes itself. */
const inside = new AsyncLocalStorage<ReadonlySet<Registration>>();

class Registration {
  readonly blocking: boolean;
  readonly #callback: SnapshotCallback;
  readonly #onError: OnCallbackError;
  readonly #waiting: SnapshotHookData[] = [];
  #working: Promise<void> | undefined;
  #dropped = 0;
  #ended = false;

  constructor(callback: SnapshotCallback, blocking: boolean, onError: OnCallbackError) {
    this.#callback = callback;
    this.blocking = blocking;
    this.#onError = onError;
  }

  get isCausing(): boolean {
    return inside.getStore()?.has(this) === true;
  }

  /** Calls a callback whose errors stop the request. */
  demand(data: SnapshotHookData): unknown {
    return this.#invoke(data);
  }

  /** Tells the callback, or has the snapshot wait until it is done with those before. */
  tell(data: SnapshotHookData): void {
    if (this.#ended) return;
    if (this.#working === undefined) {
      this.#start(data);
    } else if (this.#waiting.length < MAX_WAITING) {
      this.#waiting.push(data);
    } else {
      this.#dropped += 1;
      if (this.#dropped === 1) {
        const error = new RangeError(
          `A snapshot callback has not come to an end while ${MAX_WAITING} snapshots wait for it: it is not told of further ones.`,
        );
        this.#onError(error, data);
      }
    }
  }

  /** What is told is over with it. */
  end(): void {
    this.#ended = true;
    this.#waiting.length = 0;
  }

  /** Until nothing waits any more. */
  async idle(): Promise<void> {
    while (this.#working !== undefined) await this.#working;
  }

  #start(data: SnapshotHookData): void {
    let result: unknown;
    try {
      result = this.#invoke(data);
    } catch (error) {
      this.#onError(error, data);
      return;
    }
    if (isThenable(result)) this.#working = this.#work(result, data);
  }

  async #work(first: PromiseLike<unknown>, data: SnapshotHookData): Promise<void> {
    let [result, of]: [unknown, SnapshotHookData] = [first, data];
    for (;;) {
      try {
        await result;
      } catch (error) {
        this.#onError(error, of);
      }
      const next = this.#waiting.shift();
      if (next === undefined || this.#ended) break;
      of = next;
      try {
        result = this.#invoke(next);
      } catch (error) {
        result = undefined;
        this.#onError(error, next);
      }
    }
    this.#dropped = 0;
    this.#working = undefined;
  }

  #invoke(data: SnapshotHookData): unknown {
    const outer = inside.getStore();
    return inside.run(new Set([...(outer ?? []), this]), () => this.#callback(data));
  }
}

/** The callbacks of a manager. */
export class SnapshotCallbacks {
  readonly #registrations = new Set<Registration>();
  readonly #warned = new WeakSet<object>();
  readonly #onError: OnCallbackError | undefined;

  constructor(onError: OnCallbackError | undefined) {
    this.#onError = onError;
  }

  get size(): number {
    return this.#registrations.size;
  }

  /** Gives the undoing. */
  register(callback: SnapshotCallback, { blocking = false }: CallbackOptions): () => void {
    const registration = new Registration(callback, blocking, (error, data) => this.#fail(error, data, registration));
    this.#registrations.add(registration);
    return () => {
      this.#registrations.delete(registration);
      registration.end();
    };
  }

  /**
   * Tells all callbacks, the blocking ones first: whom they stop, nobody else hears of. Gives a promise if one of them
   * has to be waited for. @throws what a blocking one throws.
   */
  tell(data: SnapshotHookData): Promise<void> | undefined {
    // Those registered meanwhile begin with the next boundary.
    const told = [...this.#registrations].filter((registration) => !registration.isCausing);
    const demanded = told.filter(({ blocking }) => blocking);
    for (const [index, registration] of demanded.entries()) {
      const result = registration.demand(data);
      if (isThenable(result)) return this.#tellAfter(result, demanded.slice(index + 1), told, data);
    }
    for (const registration of told) if (!registration.blocking) registration.tell(data);
    return undefined;
  }

  async #tellAfter(
    first: PromiseLike<unknown>,
    demanded: readonly Registration[],
    told: readonly Registration[],
    data: SnapshotHookData,
  ): Promise<void> {
    await first;
    for (const registration of demanded) await registration.demand(data);
    for (const registration of told) if (!registration.blocking) registration.tell(data);
  }

  /** Until all asynchronous callbacks have come to an end. */
  async idle(): Promise<void> {
    await Promise.all([...this.#registrations].map((registration) => registration.idle()));
  }

  /** Reports an error that no callback of the manager's made. */
  report(error: unknown): void {
    this.#fail(error, undefined, undefined);
  }

  #fail(error: unknown, data: SnapshotHookData | undefined, registration: Registration | undefined): void {
    if (this.#onError !== undefined) {
      try {
        this.#onError(error, data);
      } catch (further) {
        this.#warn(further, undefined);
      }
      return;
    }
    this.#warn(error, registration);
  }

  /** Once for each callback. */
  #warn(error: unknown, registration: Registration | undefined): void {
    const key = registration ?? this;
    if (this.#warned.has(key)) return;
    this.#warned.add(key);
    const what = registration === undefined ? "capturing a boundary" : "a snapshot callback";
    console.warn(`agent-rewind: ${what} failed; the run goes on, its further errors are not shown.`, error);
  }
}

export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}
