// Times pieces of work in alternation, so that other load on the machine slows all of them alike.

import { now } from "./clock.mjs";
import { collectGarbage } from "./memory.mjs";

/** Milliseconds of a warm-up, and of a sample of quick work. */
const WARM_UP = 100;
const BATCH = 4;

/**
 * A piece of work. A plain function is treated as its `run`.
 *
 * @typedef {object} Work
 * @property {() => unknown} run the timed function; may return a promise
 * @property {() => unknown} [before] runs before each sample, untimed; then a sample is one `run`
 * @property {number} [units] the number of calls, turns or steps in one `run`; times are per unit
 */

/**
 * Milliseconds per unit. Ratios are calculated from minima, because other load on the machine can only add time.
 *
 * @typedef {{ min: number, median: number, samples: number }} Timing
 */

/**
 * Times works by name. See `measureAll`.
 *
 * @template {string} Name
 * @param {Record<Name, Work | (() => unknown)>} works
 * @param {Parameters<typeof measureAll>[1]} [options]
 * @returns {Promise<Record<Name, Timing>>}
 */
export async function measure(works, options) {
  const names = Object.keys(works);
  const timings = await measureAll(Object.values(works), options);
  return Object.fromEntries(names.map((name, index) => [name, timings[index]]));
}

/**
 * Warms up, then takes samples of all works in alternation until the time is used up.
 *
 * @param {(Work | (() => unknown))[]} works
 * @param {{ seconds?: number, atLeast?: number, atMost?: number }} [options] the time for all of them,
 *   and limits for the number of samples of each
 * @returns {Promise<Timing[]>}
 */
export async function measureAll(works, { seconds = 1, atLeast = 5, atMost = 200 } = {}) {
  const entrants = [];
  for (const work of works) entrants.push(await warmUp(typeof work === "function" ? { run: work } : work));
  const end = performance.now() + seconds * 1000;
  for (let round = 0; round < atMost && (round < atLeast || performance.now() < end); round++) {
    for (const entrant of entrants) entrant.times.push(await sample(entrant));
  }
  return entrants.map(({ times }) => summary(times));
}

/** Runs the work until it is compiled, and measures how often it fits into a sample. */
async function warmUp({ run, before, units = 1 }) {
  const entrant = { run, before, units, repeats: 1, times: [] };
  let best = Infinity;
  const end = performance.now() + WARM_UP;
  do {
    best = Math.min(best, await sample({ ...entrant, units: 1 }));
  } while (performance.now() < end);
  if (before === undefined) entrant.repeats = Math.max(1, Math.ceil(BATCH / best));
  return entrant;
}

/** Milliseconds per unit. Collects the garbage of other works first, so that this work does not pay for it. */
async function sample({ run, before, units, repeats }) {
  await before?.();
  await collectGarbage();
  const start = now();
  for (let repeat = 0; repeat < repeats; repeat++) {
    const result = run();
    if (result instanceof Promise) await result;
  }
  return (now() - start) / (repeats * units);
}

function summary(times) {
  const sorted = times.toSorted((left, right) => left - right);
  return { min: sorted[0], median: sorted[sorted.length >> 1], samples: sorted.length };
}
