import { LeaseLostError } from "../errors/index.js";

/** Renewals of a lease during its time: several may fail without losing it. */
const RENEWALS = 4;

/**
 * The lease of a run, renewed by a timer. It ends by the monotonic clock of this process, which counts from before the
 * request that renewed it: so it never outlives the lease in the store, whatever the clocks say.
 */
export class Lease {
  readonly #id: string;
  readonly #milliseconds: number;
  readonly #renew: () => Promise<boolean>;
  readonly #lost = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #endsAt: number;
  #isRenewing = false;
  #failure: unknown;

  /** `askedAt`: `performance.now()` before the store was asked for the lease. */
  constructor(id: string, milliseconds: number, askedAt: number, renew: () => Promise<boolean>) {
    this.#id = id;
    this.#milliseconds = milliseconds;
    this.#renew = renew;
    this.#endsAt = askedAt + milliseconds;
    this.#timer = setInterval(() => this.#tick(), Math.max(1, milliseconds / RENEWALS));
    this.#timer.unref();
  }

  /** Aborts with a LeaseLostError. */
  get signal(): AbortSignal {
    return this.#lost.signal;
  }

  /** @throws LeaseLostError */
  check(): void {
    if (performance.now() >= this.#endsAt) this.lose("it could not be renewed in time", this.#failure);
    this.signal.throwIfAborted();
  }

  lose(why: string, cause?: unknown): void {
    clearInterval(this.#timer);
    this.#lost.abort(new LeaseLostError(this.#id, why, cause === undefined ? {} : { cause }));
  }

  /** The store could not be reached, which is the reason if the lease ends. */
  failed(error: unknown): void {
    this.#failure = error;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #tick(): void {
    try {
      this.check();
    } catch {
      return;
    }
    if (this.#isRenewing) return;
    this.#isRenewing = true;
    void this.#renewNow().finally(() => (this.#isRenewing = false));
  }

  async #renewNow(): Promise<void> {
    const askedAt = performance.now();
    try {
      if (await this.#renew()) this.#endsAt = askedAt + this.#milliseconds;
      else this.lose("another process has taken the run over");
    } catch (error) {
      this.failed(error);
    }
  }
}
