const watched = new FinalizationRegistry((collected: () => void) => collected());

export interface Unread {
  readonly signal: AbortSignal | undefined;
  /** Called when the signal is aborted, before `dropped`. Must not refer to what is watched. */
  readonly aborted?: () => void;
  /** Called once, when nobody can read it any more. */
  readonly dropped?: (() => void) | undefined;
}

/**
 * Watches something that somebody may read: its signal may be aborted, or the program may drop it. Leaves nothing on a
 * signal that outlives it.
 * @returns what ends the watch, when it is read.
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
