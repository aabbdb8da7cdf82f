// A clock that stands still while this thread waits for a processor: on a machine that has other
// things to do, that wait is most of the noise. Where the system doesn't tell, it is the wall clock.

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

function open() {
  try {
    return openSync("/proc/thread-self/schedstat", "r");
  } catch {
    return undefined;
  }
}

/** Milliseconds for which this thread was ready to run and did not. */
function waited() {
  if (file === undefined) return 0;
  const length = readSync(file, buffer, 0, buffer.length, 0);
  return Number(buffer.toString("latin1", 0, length).split(" ")[1]) / 1e6;
}
