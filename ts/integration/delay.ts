// Taken at load: fake timers that a test installs later must not stop a replay.
const { setTimeout: later, clearTimeout: forget } = globalThis;

/** Resolves after so many milliseconds; rejects with the signal's reason if it aborts before. */
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
