type Mark = () => void;

/** Maps errors, by identity, to the journal entries of a frame that failed with them. */
export class ErrorOrigins {
  #byError = new WeakMap<object, Mark[]>();
  /** A primitive has no identity: an equal one may have been thrown and handled before. So the last entry counts. */
  #byValue = new Map<unknown, Mark>();

  remember(error: unknown, mark: Mark): void {
    if (!isObject(error)) {
      this.#byValue.set(error, mark);
      return;
    }
    const marks = this.#byError.get(error);
    if (marks === undefined) this.#byError.set(error, [mark]);
    else marks.push(mark);
  }

  /** Marks the entries that failed with this error, or with one of its causes. */
  mark(error: unknown): void {
    for (const cause of causes(error)) {
      const marks = isObject(cause) ? this.#byError.get(cause) : [this.#byValue.get(cause)];
      for (const mark of marks ?? []) mark?.();
    }
  }

  forget(): void {
    this.#byError = new WeakMap();
    this.#byValue.clear();
  }
}

const MAX_CAUSES = 32;

function causes(error: unknown): unknown[] {
  const chain: unknown[] = [];
  for (let at = error; !chain.includes(at) && chain.length < MAX_CAUSES;) {
    chain.push(at);
    if (!isObject(at)) break;
    const { errors, cause } = at as { errors?: unknown; cause?: unknown };
    if (Array.isArray(errors)) chain.push(...(errors as unknown[]));
    if (cause === undefined) break;
    at = cause;
  }
  return chain;
}

function isObject(value: unknown): value is object {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}
