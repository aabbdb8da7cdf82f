const watched = new FinalizationRegistry((collected: () => void) => collected());

export interface Unread {
  readonly signal: AbortSignal | undefined;
  /** Called when the signal aborts, before `dropped`. Must not refer to the watched object. */
  readonly aborted?: () => void;
  /** Called once, when the program can no longer read the object. */
  readonly dropped?: (() => void) | undefined;
}

/**
 * Watches an object with an unread answer, such as a response or a stream, until its signal aborts or the program drops
 * it. Leaves no listener on a signal that lives longer.
 * @returns a function that ends the watch. Call it when the answer is read.
 */
export function watchUnread(target: object, { signal, aborted, dropped }: Unread): () => void {
  const token = {};
  const abort = (): void => {
    aborted?.();
    watched.unregister(token);
    dropped?.();
  };
  const unlink = (): void => signal?.removeEventListener("abort", abort);
  const collected = (): void => {
    unlink();
    dropped?.();
  };
  if (signal?.aborted === true) {
    abort();
    return () => {};
  }
  signal?.addEventListener("abort", abort, { once: true });
  watched.register(target, collected, token);
  return () => {
    watched.unregister(token);
    unlink();
  };
}
