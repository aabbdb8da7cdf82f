// Records programs and runs them again from their recordings.

import { captureContext, runWith } from "agent-rewind";
import { dumpSnapshot } from "agent-rewind/debugger";

import { execute } from "./execute.mjs";
import { World } from "./world.mjs";

/**
 * @typedef {object} Moment a point of a run
 * @property {import("agent-rewind").AgentSnapshot} snapshot
 * @property {Map<string, import("./frame.mjs").Frame>} finished calls that must not be executed again
 * @property {number} events the number of events emitted so far
 *
 * @typedef {object} Recording
 * @property {{ value?: any, error?: any }} outcome
 * @property {World} world
 * @property {Moment[]} middle random points
 * @property {Moment} inside the end of the program, inside the run
 * @property {Moment} end after the end of the run
 * @property {import("agent-rewind").TraceEvent[]} events
 * @property {import("agent-rewind").ReplayReport} report
 */

/**
 * Runs a program, with or without a recording, and dumps it at its end and at random points.
 *
 * @param {import("./generate.mjs").Program} program
 * @param {object} options
 * @param {import("../lib/random.mjs").Random} options.random
 * @param {import("./world.mjs").Pace} [options.pace]
 * @param {number} [options.moments] the number of random points
 * @param {boolean} [options.traced] collects the events
 * @param {Moment} [options.from] the recording to run from
 * @param {"replay" | "resume"} [options.mode]
 * @returns {Promise<Recording>}
 */
export async function runProgram(program, { random, pace, moments = 0, traced = false, from, mode }) {
  const events = [];
  const middle = [];
  let context;
  let seen = 0;
  let report;
  let inside;
  const moment = () => ({
    snapshot: dumpSnapshot({ context }),
    finished: world.finished(from?.finished),
    events: events.length,
  });
  const world = new World({
    random,
    pure: program.raceFree,
    pace,
    // Selects `moments` of all points with equal probability (reservoir sampling).
    onMoment() {
      if (moments === 0) return;
      const at = seen < moments ? seen : random.below(seen + 1);
      seen += 1;
      if (at < moments) middle[at] = moment();
    },
  });
  const main = async () => {
    context = captureContext();
    try {
      return await execute(program, world);
    } finally {
      inside = moment();
    }
  };
  const options = {
    enableSnapshot: true,
    maxDepth: 20,
    onReport: (given) => (report = given),
    ...(traced ? { eventBus: { emit: (event) => events.push(event) } } : {}),
    ...(from === undefined ? {} : { snapshot: from.snapshot, mode }),
  };
  const outcome = await world.drive(runWith(main, options));
  // Code left running may have sent further requests between the dump inside and the end.
  return { outcome, world, middle, inside, end: moment(), events, report };
}

/** The pace of a world whose latencies differ from those of the recording. */
export function anyPace(random) {
  return { busy: random.pick([0.15, 0.5, 1]), instant: random.pick([0, 0, 0.5, 1]) };
}
