// The world that programs call. Nothing ends before the schedule says so.

import { digest } from "../lib/random.mjs";

// Taken at load, as the package does.
const macrotask = setImmediate;
const nextMacrotask = () => new Promise((resolve) => macrotask(resolve));

/** After this number of macrotasks without an event, a program is considered stuck. */
const STUCK = 3000;

/** An error of the simulated world. */
export class StepError extends Error {
  name = "StepError";
}

/** The program waits for an event that will never happen. */
export class StuckError extends Error {
  name = "StuckError";
}

/**
 * @typedef {object} Pace the latencies of a world
 * @property {number} busy probability that a call ends in a macrotask
 * @property {number} instant probability that a call ends as it starts
 */

/** Answers calls in a random order, one per macrotask, and remembers the live calls. */
export class World {
  /** The names of the live calls, in order. */
  liveCalls = [];
  /** The actions of the program, in order. */
  order = [];
  /** Answers that reached another call than the one that they were made for. */
  misdirected = [];
  /** All started frames, by their identity. */
  frames = new Map();
  /** The frame in which an answer was requested, by the owner that the answer names. */
  askers = new Map();
  #random;
  #pure;
  #pace;
  #onMoment;
  #pending = [];
  #answers = 0;
  #clock = 0;
  /** Ends that the program has seen, by the names of calls. */
  #ends = new Map();

  /**
   * @param {object} options
   * @param {import("../lib/random.mjs").Random} options.random determines the order of ends
   * @param {boolean} options.pure if true, answers depend only on the request, not on the number of earlier answers
   * @param {Pace} [options.pace]
   * @param {() => void} [options.onMoment] called between events
   */
  constructor({ random, pure, pace = { busy: 1, instant: 0 }, onMoment = () => {} }) {
    this.#random = random;
    this.#pure = pure;
    this.#pace = pace;
    this.#onMoment = onMoment;
  }

  /** A call arrives. */
  make(frame, { name, count }, { fails = 0, failure, heedsAbort, answer, addressee = digest(name) }, signal) {
    this.liveCalls.push(name);
    this.askers.set(addressee, frame);
    const content = `answer ${this.#pure ? digest(name) : this.#answers++} for ${addressee}`;
    const failing = fails < 0 || count < fails;
    const settle = () => {
      if (failing && !LATE_FAILURES.has(failure)) throw failureOf(failure, content);
      return answer === undefined ? shaped(content) : answer(content, failing);
    };
    return this.#settles(settle, heedsAbort ? signal : undefined);
  }

  /** The result of an earlier call arrives. */
  comes() {
    return this.#settles(() => {});
  }

  #settles(settle, signal) {
    if (this.#random.chance(this.#pace.instant)) return settle();
    return new Promise((resolve, reject) => {
      const abort = () => {
        this.#pending = this.#pending.filter((other) => other !== end);
        reject(signal.reason);
      };
      const end = () => {
        signal?.removeEventListener("abort", abort);
        try {
          resolve(settle());
        } catch (error) {
          reject(error);
        }
      };
      this.#pending.push(end);
      signal?.addEventListener("abort", abort);
    });
  }

  /** The program receives an answer or a failure. */
  receives(frame, addressee, text) {
    if (!text.includes(`for ${addressee}`)) this.misdirected.push({ frame, addressee, text });
  }

  /** A call starts in a frame. */
  starts({ frame, closed }) {
    if (!closed) frame.lastStart = this.#clock++;
  }

  /** A sub-agent starts. */
  opens(frame) {
    if (frame.parent !== undefined) this.starts(frame.parent);
    // A frame started by code that an agent left running does not belong to the run.
    if (!frame.closed) this.frames.set(frame.key, frame);
  }

  /** The program sees the outcome of a call. */
  sees(frame, { name }, ok) {
    const at = this.#clock++;
    if (frame.closed) return;
    this.#ends.set(name, { frame, at, ok });
    this.#onMoment();
  }

  /** The program sees the outcome of a sub-agent. */
  ends(frame, state) {
    frame.state = state;
    frame.endedAt = this.#clock++;
  }

  /** Records an action of the program. */
  note(frame, text) {
    if (frame.ordered && !frame.closed) this.order.push(`${frame.key} ${text}`);
  }

  /**
   * The calls that must not be executed again, with their frames: those that have ended, except failures that a resumed
   * run retries.
   *
   * @param {Map<string, import("./frame.mjs").Frame>} [before] those of the recording that this run started from: calls
   *   that the run has not reached yet must not be lost
   */
  finished(before) {
    const calls = new Map();
    for (const [name, frame] of before ?? [])
      if (!this.#ends.has(name) && this.#mayComeTo(frame)) calls.set(name, frame);
    for (const [name, end] of this.#ends) {
      if (end.ok || before?.has(name) || !mayBeRetried(end)) calls.set(name, end.frame);
    }
    return calls;
  }

  /** True if a recorded frame and the frames around it have not ended in this run. */
  #mayComeTo(frame) {
    for (let at = frame; at !== undefined; at = at.parent) {
      const current = this.frames.get(at.key);
      if (current !== undefined) return !current.closed;
    }
    return true;
  }

  /** Advances time until the program has ended. @returns its outcome. */
  async drive(program) {
    let outcome;
    program.then(
      (value) => (outcome = { value }),
      (error) => (outcome = { error }),
    );
    // The program that runs meanwhile sets it.
    // oxlint-disable-next-line no-unmodified-loop-condition
    for (let idle = 0; outcome === undefined; idle++) {
      await nextMacrotask();
      if (outcome !== undefined) break;
      this.#onMoment();
      if (this.#pending.length > 0 && this.#random.chance(this.#pace.busy)) {
        const [end] = this.#pending.splice(this.#random.below(this.#pending.length), 1);
        end();
        idle = 0;
      }
      if (idle > STUCK)
        return { error: new StuckError(`nothing happens, and the program has not ended; last: ${this.order.at(-1)}`) };
    }
    return outcome;
  }
}

/** True if a resumed run retries a failed call: the failure was the last event in its frame, and so on up the tree. */
function mayBeRetried({ frame, at }) {
  for (let current = frame, end = at; current !== undefined; current = current.parent) {
    if (current.state === "completed") return false;
    if (!current.isOver && current.lastStart > end) return false;
    // A frame that is over has ended after everything that started so far, even if the program has not seen it.
    end = current.endedAt ?? (current.isOver ? Infinity : end);
  }
  return true;
}

/** Failures of responses whose heads still arrive. */
const LATE_FAILURES = new Set(["status", "body"]);

export function failureOf(kind, content) {
  const message = `no ${content}`;
  switch (kind) {
    case "coded":
      return Object.assign(new StepError(message), { code: "E_BUSY", status: 503 });
    case "caused":
      return new StepError(message, { cause: new RangeError("too far") });
    case "value":
      return { problem: message };
    default:
      return new StepError(message);
  }
}

/** Answers of many types, JSON and not. */
function shaped(content) {
  switch (digest(content).charCodeAt(7) % 7) {
    case 0:
      return content;
    case 1:
      return { content, list: [1, null, { deep: true }], missing: undefined };
    case 2:
      return [content, new Date(1_700_000_000_000)];
    case 3:
      return new Map([[content, new Set([1n, -0])]]);
    case 4:
      return { content, bytes: new TextEncoder().encode(content), not: Number.NaN };
    case 5:
      return { content, __proto__x: 1, text: '\u2028 \ud83d\ude00 \\" \u0000' };
    default:
      return { content, number: content.length / 3 };
  }
}
