// Wall-clock time in microseconds.

/** Beyond this the two clocks have drifted apart (the machine slept, or its clock was set). */
const MAX_DRIFT_MS = 5;

let anchor = { wall: Date.now(), steady: performance.now() };

/** The time in UTC, as `2026-11-29T17:51:48.011766Z`. */
export function utcTimestamp(): string {
  const wall = Date.now();
  const steady = performance.now();
  let milliseconds = anchor.wall + (steady - anchor.steady);
  if (Math.abs(milliseconds - wall) > MAX_DRIFT_MS) {
    anchor = { wall, steady };
    milliseconds = wall;
  }
  const whole = Math.floor(milliseconds);
  const micros = Math.floor((milliseconds - whole) * 1000);
  return `${new Date(whole).toISOString().slice(0, -1)}${String(micros).padStart(3, "0")}Z`;
}
