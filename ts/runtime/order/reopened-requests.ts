/**
 * Requests that a resumed run makes again because their bodies were on their way. What had lost a race against one of
 * them, and was aborted for that, is not to end it before the winner is there again. Nothing else waits: it may be what
 * the request waits for.
 */
export class AskedAgain {
  readonly #asked = new Set<{ place: number; answer: Promise<void> }>();

  /** @param place where the answer had been handed out. */
  begin(place: number | null | undefined): { answered: () => void } {
    let settle = (): void => {};
    const answer = new Promise<void>((resolve) => (settle = resolve));
    const entry = { place: place ?? Number.MAX_SAFE_INTEGER, answer };
    this.#asked.add(entry);
    return {
      answered: () => {
        this.#asked.delete(entry);
        settle();
      },
    };
  }

  get isEmpty(): boolean {
    return this.#asked.size === 0;
  }

  /** Resolves when all that had been answered before `place` is again. */
  async answeredBefore(place: number | null | undefined): Promise<void> {
    for (;;) {
      const open = [...this.#asked].find((entry) => entry.place < (place ?? Number.MAX_SAFE_INTEGER));
      if (open === undefined) return;
      await open.answer;
    }
  }
}
