// Read at load, so that fake timers of a test do not stop a replay.
const { setTimeout: later, clearTimeout: forget } = globalThis;

/** Resolves after this number of milliseconds. Rejects with the signal's reason if it aborts first. */
export function delay(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  if (milliseconds <= 0) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      forget(timer);
      reject(signal?.reason as Error);
    };
    const timer = later(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, milliseconds);
    signal?.addEventListener("abort", abort, { once: true });
  });
}
