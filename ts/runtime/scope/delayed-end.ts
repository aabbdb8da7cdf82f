/** The end of a frame in the journal. It waits while calls of the frame, or of frames below, receive their answers. */
export class DelayedEnd {
  readonly #pendingEnds: Set<() => void>;
  #holds = 0;
  #pending: (() => void) | undefined;

  /** `pendingEnds`: the waiting ends of all frames of a run. */
  constructor(pendingEnds: Set<() => void>) {
    this.#pendingEnds = pendingEnds;
  }

  get isHeld(): boolean {
    return this.#holds > 0;
  }

  /** Delays the end until the returned function is called. */
  hold(): () => void {
    this.#holds += 1;
    let isHolding = true;
    return () => {
      if (!isHolding) return;
      isHolding = false;
      this.#holds -= 1;
      if (this.#holds === 0) this.#pending?.();
    };
  }

  /** Calls `end` when nothing delays it, or at the end of the run. */
  wait(end: () => void): void {
    const pending = (): void => {
      if (this.#pendingEnds.delete(pending)) end();
    };
    this.#pending = pending;
    this.#pendingEnds.add(pending);
  }
}
