// Times pieces of work in turns, so that whatever else the machine does slows them all alike.

import { now } from "./clock.mjs";
import { collectGarbage } from "./memory.mjs";

/** Milliseconds that a warm-up, and a sample of quick work, take. */
const WARM_UP = 100;
const BATCH = 4;

/**
 * A piece of work; a function alone is its `run`.
 *
 * @typedef {object} Work
 * @property {() => unknown} run what is timed; may give a promise
 * @property {() => unknown} [before] runs before each sample, untimed; then a sample is one `run`
 * @property {number} [units] how many calls, turns or steps one `run` is; times are given for one
 */

/**
 * Milliseconds of one unit. Ratios are made of minima: on a machine that does other things too, noise
 * only adds.
 *
 * @typedef {{ min: number, median: number, samples: number }} Timing
 */

/**
 * Times works by name: see `measureAll`.
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
 * Warms up, then takes samples of all works in turns until the time is used up.
 *
 * @param {(Work | (() => unknown))[]} works
 * @param {{ seconds?: number, atLeast?: number, atMost?: number }} [options] the time for all of them,
 *   and bounds on the samples of each
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

/** Runs the work until it is compiled, and finds out how often it fits into a sample. */
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

/** Milliseconds of one unit. What others left behind is collected first, and not paid for here. */
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
