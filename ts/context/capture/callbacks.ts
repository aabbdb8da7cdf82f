// Callbacks for boundaries. Observing a request must not change it.

import { AsyncLocalStorage } from "node:async_hooks";

import { isThenable } from "../../values/thenable.js";
import type { BoundaryCapture } from "./boundary.js";
import { warn } from "../../errors/printable.js";

/**
 * Receives a capture. Called before the request is sent, once per attempt. A returned promise is awaited only if the
 * callback was registered as blocking.
 */
export type CaptureCallback = (data: BoundaryCapture) => unknown;

export interface CallbackOptions {
  /**
   * The request waits for the callback. If the callback throws, the request is not sent and the call fails with that
   * error. `captureLlmBoundary` waits only for the synchronous part of a callback.
   * @default false
   */
  blocking?: boolean;
}

/** Receives an error that a callback threw, or the reason for which its promise was rejected. */
export type OnCallbackError = (error: unknown, data: BoundaryCapture | undefined) => void;

/** Maximum number of captures queued for an asynchronous callback that is still running. Further ones are dropped. */
export const MAX_WAITING = 1_000;

/** The registrations whose callbacks are running here. A callback is not called for boundaries that it causes itself. */
const inside = new AsyncLocalStorage<ReadonlySet<Registration>>();

class Registration {
  readonly blocking: boolean;
  readonly #callback: CaptureCallback;
  readonly #onError: OnCallbackError;
  readonly #waiting: BoundaryCapture[] = [];
  #working: Promise<void> | undefined;
  #dropped = 0;
  #ended = false;

  constructor(callback: CaptureCallback, blocking: boolean, onError: OnCallbackError) {
    this.#callback = callback;
    this.blocking = blocking;
    this.#onError = onError;
  }

  get isCausing(): boolean {
    return inside.getStore()?.has(this) === true;
  }

  /** Calls the callback, or queues the capture until the callback has finished with earlier ones. */
  notify(data: BoundaryCapture): void {
    if (this.#ended) return;
    if (this.#working === undefined) {
      this.#start(data);
    } else if (this.#waiting.length < MAX_WAITING) {
      this.#waiting.push(data);
    } else {
      this.#dropped += 1;
      if (this.#dropped === 1) {
        const error = new RangeError(
          `A capture callback is still running while ${MAX_WAITING} captures wait for it. Further captures are not passed to it.`,
        );
        this.#onError(error, data);
      }
    }
  }

  /** Stops the delivery of captures, including queued ones. */
  end(): void {
    this.#ended = true;
    this.#waiting.length = 0;
  }

  /** Resolves when no capture is being handled or queued. */
  async idle(): Promise<void> {
    while (this.#working !== undefined) await this.#working;
  }

  #start(data: BoundaryCapture): void {
    let result: unknown;
    try {
      result = this.call(data);
    } catch (error) {
      this.#onError(error, data);
      return;
    }
    if (isThenable(result)) this.#working = this.#work(result, data);
  }

  async #work(first: PromiseLike<unknown>, data: BoundaryCapture): Promise<void> {
    let [result, of]: [unknown, BoundaryCapture] = [first, data];
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
        result = this.call(next);
      } catch (error) {
        result = undefined;
        this.#onError(error, next);
      }
    }
    this.#dropped = 0;
    this.#working = undefined;
  }

  call(data: BoundaryCapture): unknown {
    const outer = inside.getStore();
    return inside.run(new Set([...(outer ?? []), this]), () => this.#callback(data));
  }
}

/** The callbacks of a manager. */
export class CaptureCallbacks {
  readonly #registrations = new Set<Registration>();
  readonly #warned = new WeakSet<object>();
  readonly #onError: OnCallbackError | undefined;

  constructor(onError: OnCallbackError | undefined) {
    this.#onError = onError;
  }

  get size(): number {
    return this.#registrations.size;
  }

  /** Returns a function that removes the registration. */
  register(callback: CaptureCallback, { blocking = false }: CallbackOptions): () => void {
    const registration = new Registration(callback, blocking, (error, data) => this.#fail(error, data, registration));
    this.#registrations.add(registration);
    return () => {
      this.#registrations.delete(registration);
      registration.end();
    };
  }

  /**
   * Calls all callbacks, the blocking ones first: if one of them stops the request, the others are not called. Returns a
   * promise if a callback has to be awaited.
   * @throws the error of a blocking callback.
   */
  notify(data: BoundaryCapture): Promise<void> | undefined {
    // Callbacks registered during this loop start with the next boundary.
    const called = [...this.#registrations].filter((registration) => !registration.isCausing);
    const blocking = called.filter((registration) => registration.blocking);
    for (const [index, registration] of blocking.entries()) {
      const result = registration.call(data);
      if (isThenable(result)) return this.#notifyAfter(result, blocking.slice(index + 1), called, data);
    }
    for (const registration of called) if (!registration.blocking) registration.notify(data);
    return undefined;
  }

  async #notifyAfter(
    first: PromiseLike<unknown>,
    blocking: readonly Registration[],
    called: readonly Registration[],
    data: BoundaryCapture,
  ): Promise<void> {
    await first;
    for (const registration of blocking) await registration.call(data);
    for (const registration of called) if (!registration.blocking) registration.notify(data);
  }

  /** Resolves when all asynchronous callbacks have finished. */
  async idle(): Promise<void> {
    await Promise.all([...this.#registrations].map((registration) => registration.idle()));
  }

  /** Reports an error that did not come from a callback. */
  report(error: unknown): void {
    this.#fail(error, undefined, undefined);
  }

  #fail(error: unknown, data: BoundaryCapture | undefined, registration: Registration | undefined): void {
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

  /** Warns once per callback. */
  #warn(error: unknown, registration: Registration | undefined): void {
    const key = registration ?? this;
    if (this.#warned.has(key)) return;
    this.#warned.add(key);
    const what = registration === undefined ? "capturing a boundary" : "a capture callback";
    warn(`${what} failed. The run continues; further errors of this kind are not shown.`, error);
  }
}
