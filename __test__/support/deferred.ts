/** A promise that the test settles. */
export interface Deferred<T> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
  reject(error: unknown): void;
}

export function deferred<T = void>(): Deferred<T> {
  let resolve!: (value: T) => void;
  let reject!: (error: unknown) => void;
  const promise = new Promise<T>((...settle) => ([resolve, reject] = settle));
  return { promise, resolve, reject };
}

const sleepers: { at: number; wake: () => void }[] = [];
let now = 0;
// Read at load, so that fake timers do not stop the clock.
const { setImmediate: nextMacrotask } = globalThis;
/** More than a replay needs to release the answers that are ready, one per macrotask. */
const ROUNDS = 50;

/**
 * Sleeps on a clock of its own, which goes on to the next waking when everything else that is ready has run. So the order
 * of all wakings depends on the given milliseconds only, also on a machine that stalls. The clock does not wait for
 * servers, processes and timers.
 */
export function sleep(milliseconds: number): Promise<void> {
  return new Promise((wake) => {
    const at = now + milliseconds;
    const index = sleepers.findIndex((sleeper) => sleeper.at > at);
    sleepers.splice(index < 0 ? sleepers.length : index, 0, { at, wake });
    if (sleepers.length === 1) wakeAfter(ROUNDS);
  });
}

function wakeAfter(rounds: number): void {
  if (rounds > 0) {
    nextMacrotask(() => wakeAfter(rounds - 1));
    return;
  }
  const [next] = sleepers.splice(0, 1);
  if (next === undefined) return;
  now = next.at;
  next.wake();
  if (sleepers.length > 0) wakeAfter(ROUNDS);
}

/** Lets everything that is ready run. */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Waits until something is true, however long it takes. */
export async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await turn();
}
