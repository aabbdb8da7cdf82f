/**
 * Requests sent again because only part of their body was recorded. A recorded abort that lost a race to one of them is
 * held back until that response is there again. Nothing else waits, because the request may depend on it.
 */
export class ReopenedRequests {
  readonly #reopened = new Set<{ order: number; answer: Promise<void> }>();

  /** @param order the recorded position at which the answer was returned. */
  begin(order: number | null | undefined): { answered: () => void } {
    let resolveAnswer = (): void => {};
    const answer = new Promise<void>((resolve) => (resolveAnswer = resolve));
    const entry = { order: order ?? Number.MAX_SAFE_INTEGER, answer };
    this.#reopened.add(entry);
    return {
      answered: () => {
        this.#reopened.delete(entry);
        resolveAnswer();
      },
    };
  }

  get isEmpty(): boolean {
    return this.#reopened.size === 0;
  }

  /** Resolves when every request that was answered before `order` is answered again. */
  async answeredBefore(order: number | null | undefined): Promise<void> {
    for (;;) {
      const open = [...this.#reopened].find((entry) => entry.order < (order ?? Number.MAX_SAFE_INTEGER));
      if (open === undefined) return;
      await open.answer;
    }
  }
}
