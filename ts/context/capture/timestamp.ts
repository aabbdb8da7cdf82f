// Wall-clock time in microseconds.

/** A larger difference means that the two clocks drifted apart: the machine slept, or its clock was set. */
const MAX_DRIFT_MS = 5;

let anchor = { wall: Date.now(), steady: performance.now() };

/** Microseconds since 1970. */
export function microsecondsNow(): number {
  const wall = Date.now();
  const steady = performance.now();
  let milliseconds = anchor.wall + (steady - anchor.steady);
  if (Math.abs(milliseconds - wall) > MAX_DRIFT_MS) {
    anchor = { wall, steady };
    milliseconds = wall;
  }
  return Math.floor(milliseconds * 1000);
}

/** Formats a time in UTC, such as `2026-11-29T17:51:48.011766Z`. */
export function utcText(microseconds: number): string {
  const date = new Date(Math.floor(microseconds / 1000));
  return `${date.toISOString().slice(0, -1)}${String(microseconds % 1000).padStart(3, "0")}Z`;
}
