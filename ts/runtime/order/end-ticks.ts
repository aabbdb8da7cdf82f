// Read at load, so that fake timers that a test installs later do not change what is recorded.
const { nextTick } = process;

/**
 * Tells which calls end in the same tick, one right after the other: no other code than promise callbacks ran between
 * their ends, so the program may have seen them in another order.
 */
export class EndTicks {
  #open = 0;
  #hasEnded = false;
  #isScheduled = false;
  readonly #endTick = (): void => {
    this.#hasEnded = false;
    this.#isScheduled = false;
  };

  /** Notes the start of a call. */
  start(): void {
    this.#open += 1;
    this.#hasEnded = false;
  }

  /** Notes the outcome of an open call. True if it came right after another one in the same tick. */
  end(): boolean {
    const isSame = this.#hasEnded;
    // A call that starts later does not end right after this one. Nothing is scheduled for it, because the first tick
    // object of a process makes its promises slower where hooks track them, as in Node 20.
    if (this.#open < 2) return isSame;
    this.#hasEnded = true;
    if (!this.#isScheduled) {
      this.#isScheduled = true;
      // Called when the callbacks of all settled promises have run.
      nextTick(this.#endTick);
    }
    return isSame;
  }

  /** Notes that a call is not open any more. */
  close(): void {
    this.#open -= 1;
  }
}
