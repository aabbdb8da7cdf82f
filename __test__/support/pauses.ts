import { vi } from "vitest";

/** Runs a program whose pauses end at once. Returns its result, and the milliseconds of each pause. */
export async function withoutWaiting<R>(program: () => Promise<R>): Promise<{ result: R; pauses: number[] }> {
  const pauses: number[] = [];
  const { setTimeout: later } = globalThis;
  const spy = vi.spyOn(globalThis, "setTimeout").mockImplementation(((run: () => void, ms: number, ...rest: []) => {
    // The other timers are those of connections, and the timeouts of requests, of ten minutes.
    const isPause = /sleep|delay|retry/i.test(new Error("stack").stack ?? "") && ms !== 600_000;
    if (isPause) pauses.push(Math.round(ms));
    return later(run, isPause ? 0 : ms, ...rest);
  }) as typeof setTimeout);
  try {
    return { result: await program(), pauses };
  } finally {
    spy.mockRestore();
  }
}
