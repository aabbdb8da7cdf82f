// Clocks that exclude the time in which this thread was ready to run but had no processor. On a busy machine, that is
// most of the noise. Only Linux reports it. Elsewhere, `now` is the wall clock and `busy` is unknown.

import { openSync, readSync } from "node:fs";

const buffer = Buffer.alloc(128);
const file = open();

/** Milliseconds. A reading takes some microseconds, so use it for work of a millisecond or more. */
export function now() {
  for (;;) {
    const before = waited();
    const time = performance.now();
    // Exact unless the thread had to wait between the two readings.
    if (waited() === before) return time - before;
  }
}

/** Milliseconds that this thread has spent on a processor. */
export function busy() {
  return file === undefined ? undefined : schedulerStatistics()[0] / 1e6;
}

function waited() {
  return file === undefined ? 0 : schedulerStatistics()[1] / 1e6;
}

/** Nanoseconds on a processor, and nanoseconds of waiting for one. */
function schedulerStatistics() {
  const length = readSync(file, buffer, 0, buffer.length, 0);
  return buffer.toString("latin1", 0, length).split(" ").map(Number);
}

function open() {
  try {
    return openSync("/proc/thread-self/schedstat", "r");
  } catch {
    return undefined;
  }
}
