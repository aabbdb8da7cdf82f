import { currentTick } from "./ticks.js";

/**
 * Tells which calls end in the same tick, one right after the other: no other code than promise callbacks ran between
 * their ends, so the program may have seen them in another order.
 */
export class EndTicks {
  #open = 0;
  #last: number | undefined;

  /** Notes the start of a call. */
  start(): void {
    this.#open += 1;
    this.#last = undefined;
  }

  /** Notes the outcome of an open call. True if it came right after another one in the same tick. */
  end(): boolean {
    // A call that starts later does not end right after this one. Nothing is counted for it, because the first tick
    // object of a process makes its promises slower where hooks track them, as in Node 20.
    if (this.#last === undefined && this.#open < 2) return false;
    const tick = currentTick();
    const isSame = this.#last === tick;
    if (this.#open > 1) this.#last = tick;
    return isSame;
  }

  /** Notes that a call is not open any more. */
  close(): void {
    this.#open -= 1;
  }
}
