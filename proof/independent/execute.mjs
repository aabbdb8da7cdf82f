// Executes a program once, and keeps everything that a later run can start from.

import vm from "node:vm";

import { captureContext, createEventBus, runWith } from "agent-rewind";
import { dumpSnapshot } from "agent-rewind/debugger";

import { Clients } from "./clients.mjs";
import { print } from "./print.mjs";
import { failureText } from "./threads.mjs";
import { show, World } from "./world.mjs";

/**
 * A program with what the outside knows of it, over all its runs.
 *
 * @typedef {object} Subject
 * @property {import("./generate.mjs").Program} program
 * @property {(w: Clients) => (t: string) => Promise<unknown>} compiled
 * @property {Map<string, number>} asked how often each place asked
 * @property {Map<string, Set<string>>} given the outcomes that the outside gave to each place
 *
 * @typedef {object} Executed
 * @property {{ kind: string, path: string, text?: string, origins?: string[] }[]} log
 * @property {{ value?: string, error?: string, origins?: string[], hangs?: true }} end of the run
 * @property {Map<string, number>} answeredAt the length of the log when the outside last answered each place
 * @property {any[]} events
 * @property {number[]} eventsAt the length of the log before each event
 * @property {{ snapshot: any, at: number }[]} dumps one at each entry of the log that was chosen
 * @property {any} last the dump at the end
 * @property {number} endAt the length of the log at the end of the run
 * @property {Set<string>} unproven places of failed calls that the report names as executed again without proof
 * @property {Set<string>} repeated those of them whose failure the program had handled, as the judge finds
 * @property {string[]} unhandled
 */

/** @returns {Subject} */
export function subjectOf(program) {
  return { ...compiled(program), asked: new Map(), given: new Map() };
}

/** The program as a function. */
export function compiled(program) {
  const source = `return ${print(program)}`;
  return { program, compiled: vm.compileFunction(source, ["w"], { filename: `/programs/${program.number}.mjs` }) };
}

const isStream = (value) => typeof value?.[Symbol.asyncIterator] === "function";

async function read(stream) {
  const parts = [];
  for await (const part of stream) parts.push(part);
  return parts;
}

const unhandled = [];
process.on("unhandledRejection", (error) => unhandled.push(failureText(error)));

/**
 * @param {Subject} subject
 * @param {string} label starts every answer of this run
 * @param {Record<string, unknown>} options of runWith
 * @param {{ dumps?: boolean, bus?: any }} keep
 * @returns {Promise<Executed>}
 */
export async function execute(subject, label, options = {}, { dumps: keepDumps = false, bus } = {}) {
  const world = new World(label, subject.asked, subject.given);
  const w = new Clients(world, subject.program.awaits);
  const events = [];
  const eventsAt = [];
  const own = createEventBus();
  own.subscribe("*", (event) => {
    if (event.type === "call:start") w.began(event.callId);
    events.push(event);
    eventsAt.push(world.log.length);
    bus?.emit(event);
  });
  const dumps = [];
  let last;
  let endAt = Infinity;
  let report;
  unhandled.length = 0;
  const main = subject.compiled(w);
  const run = runWith(
    async () => {
      const context = captureContext();
      if (keepDumps) world.onNote = () => dumps.push({ snapshot: dumpSnapshot({ context }), at: world.log.length });
      const keepLast = async (dumpOptions) => {
        // A failure ends some programs while other threads are active.
        if (dumpOptions === undefined || !subject.program.abrupt) await w.drained();
        world.onNote = undefined;
        endAt = world.log.length;
        last = dumpSnapshot(dumpOptions);
      };
      try {
        const value = await main("");
        if (!isStream(value)) await keepLast();
        return value;
      } catch (error) {
        await keepLast({});
        throw error;
      }
    },
    {
      enableSnapshot: true,
      eventBus: own,
      onReport: (given) => (report = given),
      onEnd() {
        if (last !== undefined) return;
        // The function of the run returned a stream, which has ended now.
        world.onNote = undefined;
        endAt = world.log.length;
        last = dumpSnapshot();
      },
      ...options,
    },
  );
  const settled = run
    .then(async (value) => ({ value: show(isStream(value) ? await read(value) : value) }))
    .catch((error) => ({ error: failureText(error), origins: w.originsOf(error), name: error?.name }));
  const ended = await world.serve(settled);
  const end = ended ? await settled : { hangs: true };
  await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setImmediate(resolve));
  return {
    log: world.log,
    answeredAt: world.answeredAt,
    end,
    events,
    eventsAt,
    dumps,
    last,
    endAt: Math.min(endAt, world.log.length),
    unproven: new Set(report?.unprovenFailures.map((callId) => w.sites.get(callId))),
    repeated: new Set(),
    unhandled: unhandled.splice(0),
  };
}
