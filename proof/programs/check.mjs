// The properties that every program must have, whatever the schedule.

import { parseSnapshot, restoreSnapshot, stringifySnapshot } from "agent-rewind/debugger";

import { Random } from "../lib/random.mjs";
import { generateProgram } from "./generate.mjs";
import { entriesOf } from "./entries.mjs";
import { comparable, errorNames, firstDifference, same } from "./outcome.mjs";
import { anyPace, runProgram } from "./runs.mjs";

/** The errors that programs throw themselves. */
const OWN_ERRORS = new Set(["StepError", "ProgramError", "AggregateError", "RangeError", "ModelCallError"]);

/** The errors that a read of an answer ends with if the answer was recorded as a loser. */
const LOST_ERRORS = new Set(["StreamCutError", "AbortError"]);
const NO_ERRORS = new Set();

/**
 * @typedef {object} Fault
 * @property {"wrong" | "repeated" | "foreign" | "journals"} kind a replay had another result or more requests; a call
 *   that had ended was executed again; a run ended with an error that is not the program's; schedules of a program
 *   without races left different journals
 * @property {number} schedule
 * @property {string} run the name of the run
 * @property {string} difference the first difference
 */

/** Counts the runs by kind. */
export class Counts {
  programs = 0;
  raceFree = 0;
  recordings = 0;
  calls = 0;
  replays = 0;
  resumes = 0;
  throughJson = 0;
  fromTraces = 0;
  liveOnResume = 0;
  borrowed = 0;
  overtaken = 0;
}

/** Generates the program `number` of a seed. */
export function programOf(seed, number) {
  return generateProgram(new Random(seed, "program", number));
}

/**
 * Records a program under seeded schedules and replays each recording.
 *
 * @param {import("./generate.mjs").Program} program
 * @param {object} options
 * @param {string | number} options.seed
 * @param {number} options.number of the program
 * @param {readonly number[]} options.schedules
 * @param {number} [options.instant] probability that a call of a recording ends as it starts
 * @param {Counts} [options.counts]
 * @returns {Promise<Fault[]>} the violated properties
 */
export async function checkProgram(program, options) {
  const { seed, number, schedules, instant = 0, counts = new Counts() } = options;
  counts.programs += 1;
  if (program.raceFree) counts.raceFree += 1;
  const faults = [];
  let first;
  for (const schedule of schedules) {
    const check = new ScheduleCheck(program, { seed, number, schedule, counts, instant });
    const recording = await check.run();
    faults.push(...check.faults);
    if (!program.raceFree || recording === undefined) continue;
    const entries = entriesOf(recording.end.snapshot);
    first ??= entries;
    if (!same(first, entries))
      faults.push({ kind: "journals", schedule, run: "recording", difference: firstDifference(first, entries) });
  }
  return faults;
}

class ScheduleCheck {
  faults = [];
  #program;
  #counts;
  #schedule;
  #seeds;
  #instant;
  #askers = new Map();

  constructor(program, { seed, number, schedule, counts, instant }) {
    this.#program = program;
    this.#counts = counts;
    this.#schedule = schedule;
    this.#seeds = [seed, number, schedule];
    this.#instant = instant;
  }

  #random(purpose) {
    return new Random(...this.#seeds, purpose);
  }

  #fault(kind, run, difference) {
    this.faults.push({ kind, schedule: this.#schedule, run, difference });
  }

  async run() {
    const counts = this.#counts;
    const sample = this.#random("sample");
    const traced = sample.chance(0.3);
    const recording = await runProgram(this.#program, {
      random: this.#random("recording"),
      pace: { busy: 1, instant: this.#instant },
      moments: 3,
      traced,
    });
    counts.recordings += 1;
    counts.calls += recording.world.liveCalls.length;
    this.#askers = recording.world.askers;
    if (!this.#isOwn("recording", recording)) return undefined;
    const { end, inside, middle } = recording;

    const replayed = await this.#replay("replay", recording, end);
    if (sample.chance(0.2)) await this.#replay("replay of the replay", recording, replayed.end);
    if (sample.chance(0.3)) await this.#chain(recording, sample);
    if (this.#program.raceFree) await this.#replay("replay from inside", recording, inside);
    await this.#resume("resume from the end", recording, sample.pick([inside, end]));
    for (const [index, moment] of middle.entries()) {
      const name = `resume from dump ${index}`;
      const resumed = await this.#resume(name, recording, moment);
      for (const again of resumed.middle) await this.#resume(`${name}, and again`, recording, again);
    }

    if (sample.chance(0.3)) {
      counts.throughJson += 1;
      const moment = sample.pick([end, ...middle]);
      const text = stringifySnapshot(moment.snapshot);
      const snapshot = sample.chance(0.5) ? parseSnapshot(text) : JSON.parse(JSON.stringify(moment.snapshot));
      if (moment === end) await this.#replay("replay through JSON", recording, { ...moment, snapshot });
      else await this.#resume("resume through JSON", recording, { ...moment, snapshot });
    }
    if (traced) await this.#fromTrace(recording, sample);
    return recording;
  }

  /**
   * Replays a chain of dumps, each taken in the middle of the replay before. Each dump also contains the calls that
   * were not reached yet.
   */
  async #chain(recording, sample) {
    let from = recording.end;
    for (let link = 1; link <= 4; link++) {
      const run = await this.#replay(`replay ${link} of a chain`, recording, from, 2);
      const next = sample.pick([run.end, ...run.middle]);
      const snapshot = sample.chance(0.5) ? parseSnapshot(stringifySnapshot(next.snapshot)) : next.snapshot;
      from = { ...recording.end, snapshot };
    }
  }

  async #fromTrace(recording, sample) {
    const { events, end, middle } = recording;
    if (!events.some(({ type }) => type === "agent:start" || type === "call:start" || type === "tool:call:start"))
      return;
    this.#counts.fromTraces += 1;
    const restored = restoreSnapshot(events);
    const lines = restoreSnapshot(events.map((event) => JSON.stringify(event)).join("\n"));
    if (!same(restored.root, lines.root) || !same(restored.warnings, lines.warnings))
      this.#fault("wrong", "restore of lines", firstDifference(restored.root, lines.root) ?? "warnings");
    // The trace of a complete run lacks nothing: every end event has a start event.
    if (restored.warnings !== undefined) this.#fault("wrong", "restore", restored.warnings[0].message);
    await this.#replay("replay from the trace", recording, { ...end, snapshot: restored });
    const moment = sample.pick([end, ...middle]);
    const kept = events.slice(0, moment.events);
    if (!kept.some(({ type }) => type === "call:end" || type === "tool:call:end")) return;
    await this.#resume("resume from a part of the trace", recording, { ...moment, snapshot: restoreSnapshot(kept) });
  }

  /** No call may be live, and everything must be as recorded. */
  async #replay(name, recording, from, moments = 0) {
    this.#counts.replays += 1;
    const random = this.#random(name);
    const run = await runProgram(this.#program, { random, pace: anyPace(random), moments, from, mode: "replay" });
    const expected = comparable(recording.outcome);
    const actual = comparable(run.outcome);
    const { order, liveCalls } = run.world;
    if (!same(actual, expected)) this.#fault("wrong", name, `outcome${firstDifference(expected, actual)}`);
    else if (!same(order, recording.world.order))
      this.#fault("wrong", name, `order${firstDifference(recording.world.order, order)}`);
    if (this.#checkAddresses(name, run, recording.borrowed) > 0) this.#fault("wrong", name, "borrowed an answer");
    if (liveCalls.length > 0) this.#fault("repeated", name, `executed ${liveCalls[0]} again`);
    this.#counts.overtaken += run.report?.overtaken ?? 0;
    return run;
  }

  /**
   * Calls that had ended must not be executed again, except failures that nothing shows as handled. The report names
   * those.
   */
  async #resume(name, recording, from) {
    this.#counts.resumes += 1;
    const random = this.#random(name);
    const moments = random.chance(0.3) ? 1 : 0;
    const pace = anyPace(random);
    const run = await runProgram(this.#program, { random, pace, moments, from, mode: "resume" });
    this.#counts.liveOnResume += run.world.liveCalls.length;
    const lent = this.#lentIn(run, from.lent);
    for (const [answer, frame] of run.world.askers) this.#askers.set(answer, frame);
    this.#checkAddresses(name, run, from.borrowed, from.lent);
    const repeated = run.world.liveCalls.filter((call) => from.finished.has(call));
    const unproven = run.report?.unprovenFailures.length ?? 0;
    if (repeated.length > unproven) this.#fault("repeated", name, `executed ${repeated[unproven]} again`);
    if (this.#isOwn(name, run) && this.#program.raceFree) {
      const expected = comparable(recording.outcome);
      const actual = comparable(run.outcome);
      if (!same(actual, expected)) this.#fault("wrong", name, `outcome${firstDifference(expected, actual)}`);
    }
    // Races between calls that ended as they started can end differently on replay.
    run.instant = from.instant === true || pace.instant > 0;
    run.borrowed = [...(from.borrowed ?? []), ...run.world.misdirected];
    for (const moment of run.middle) Object.assign(moment, { instant: run.instant, borrowed: run.borrowed, lent });
    if (!run.instant) await this.#replay(`replay of the ${name}`, run, run.end);
    return run;
  }

  /**
   * The answers that frames may have borrowed in a run. From then on they are among the frame's own entries, even those
   * that the program did not use, such as the answer of a request that lost a race: another order of events may use
   * them.
   *
   * @param {Map<string, Set<string>>} [before] the borrowed answers of the run that this one started from
   * @returns {Map<string, Set<string>>} by keys of frames, the calls whose answers existed
   */
  #lentIn({ world, report }, before = new Map()) {
    const borrowers = new Set();
    for (const { callId, recording } of report?.frames ?? []) if (recording === "lent") borrowers.add(callId);
    if (borrowers.size === 0) return before;
    const lent = new Map(before);
    const known = new Set(this.#askers.keys());
    for (const { key, callId } of world.frames.values()) if (borrowers.has(callId)) lent.set(key, known);
    return lent;
  }

  /**
   * Checks that every answer reached the call that it was made for. The exception is a frame whose props differ from
   * those of the recorded frame in its position: it borrows the answers of that frame. Returns the number of borrowed
   * answers, which is 0 in a replay of the same program. A borrowed answer is not used up: if the frame that owns it
   * comes, it still receives it. Therefore no ended call is executed again, even if races end differently than
   * recorded.
   *
   * @param {import("./world.mjs").Misdirected[]} [recorded] the answers that the replayed run had borrowed and now owns
   * @param {Map<string, Set<string>>} [lent] further answers that may have been borrowed and that another order of
   * events
   *   may use
   */
  #checkAddresses(name, { world, report }, recorded = [], lent = new Map()) {
    let borrowed = 0;
    const known = new Set(recorded.map(({ frame, addressee, text }) => `${frame.key} ${addressee} ${text}`));
    for (const { frame, addressee, text } of world.misdirected) {
      if (known.has(`${frame.key} ${addressee} ${text}`)) continue;
      const [, owner] = text.match(/for ([0-9a-f]{8})/) ?? [];
      const lender = this.#askers.get(owner);
      const borrows = report?.frames.some(({ callId, recording }) => callId === frame.callId && recording === "lent");
      const hadBorrowed = lender?.key !== frame.key && lent.get(frame.key)?.has(owner) === true;
      if (lender !== undefined && (borrows || hadBorrowed)) borrowed += 1;
      else
        this.#fault(
          "wrong",
          name,
          `${frame.key} (${frame.callId}), ${addressee} got ${text} of ${lender?.key} (${lender?.callId})`,
        );
    }
    this.#counts.borrowed += borrowed;
    return borrowed;
  }

  #isOwn(name, { outcome: { error } }) {
    // If a winner is requested again because its body was incomplete, the race can be won by a request that was
    // cancelled or aborted in the recording.
    const lost = name.startsWith("resume") && !this.#program.raceFree ? LOST_ERRORS : NO_ERRORS;
    const foreign = errorNames(error).find((each) => !OWN_ERRORS.has(each) && !lost.has(each));
    if (foreign === undefined) return true;
    this.#fault("foreign", name, `ended with ${error.stack}`);
    return false;
  }
}
