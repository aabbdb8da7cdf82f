import { setMaxListeners } from "node:events";

import { AbortError, isAbortError } from "../../errors/index.js";

/** The abort signal of a frame. It follows the signals of the frame above and of the caller until the frame ends. */
export class Cancellation {
  readonly #controller = new AbortController();
  readonly #unlinks: (() => void)[] = [];

  constructor(...followed: (AbortSignal | undefined)[]) {
    // Many sub-agents and calls may listen at the same time. Without this, Node warns of a leak.
    // Not 0: on Node 20, getMaxListeners, which clients call, throws for a signal without a limit.
    setMaxListeners(Infinity, this.#controller.signal);
    for (const signal of followed) this.#follow(signal);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  abort(reason: unknown): void {
    this.#controller.abort(reason);
  }

  /** Stops following other signals: the signal of an ended frame never changes. */
  unlink(): void {
    for (const unlink of this.#unlinks.splice(0)) unlink();
  }

  /** The error to throw once the signal is aborted. */
  error(): AbortError {
    const reason: unknown = this.signal.reason;
    return isOwnAbortError(reason) ? reason : new AbortError(reason);
  }

  #follow(signal: AbortSignal | undefined): void {
    if (signal === undefined) return;
    if (signal.aborted) {
      this.#controller.abort(signal.reason);
      return;
    }
    const abort = (): void => this.#controller.abort(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    this.#unlinks.push(() => signal.removeEventListener("abort", abort));
  }
}

function isOwnAbortError(value: unknown): value is AbortError {
  return isAbortError(value) && (value as { code?: unknown }).code === "ERR_REWIND_ABORTED";
}
