// Clocks that leave out the time in which this thread was ready to run but had no processor: on a
// machine that does other things too, that is most of the noise. Only Linux tells; elsewhere `now` is
// the wall clock, and `busy` unknown.

import { openSync, readSync } from "node:fs";

const buffer = Buffer.alloc(128);
const file = open();

/** Milliseconds. Asking takes some microseconds, so it is for work of a millisecond or more. */
export function now() {
  for (;;) {
    const before = waited();
    const time = performance.now();
    // Unless the thread had to wait just in between.
    if (waited() === before) return time - before;
  }
}

/** Milliseconds for which this thread has used a processor. */
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
