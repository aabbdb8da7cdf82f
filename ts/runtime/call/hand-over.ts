/** Passes an answer to the program and drops its own reference, so that the answer can be collected. */
export class HandOver<Answer> {
  isMade: boolean = false;
  /** Resolves when the call has been journaled. */
  settled: Promise<void> = Promise.resolve();
  readonly #given: Promise<void>;
  #resolve!: () => void;
  #reject!: (error: unknown) => void;
  #answer: { value: Answer } | undefined;

  constructor() {
    this.#given = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  give(value: Answer): void {
    this.#answer = { value };
    this.#resolve();
  }

  giveSettled(value: Answer): void {
    void this.settled.then(() => this.give(value));
  }

  fail(error: unknown): void {
    this.#reject(error);
  }

  /** @param handOut called when the program receives the answer or, without an argument, the error. */
  take(handOut: (answer?: Answer) => void): Promise<Answer> {
    return this.#given.then(
      () => {
        const { value } = this.#answer as { value: Answer };
        this.#answer = undefined;
        handOut(value);
        return value;
      },
      (error: unknown) => {
        handOut();
        throw error;
      },
    );
  }
}
