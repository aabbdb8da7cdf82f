// The world that programs call: nothing ends before the schedule says so.

import { digest } from "../lib/random.mjs";

// Taken at load, as the package does.
const macrotask = setImmediate;
const nextMacrotask = () => new Promise((resolve) => macrotask(resolve));

/** Macrotasks in which nothing happens, after which a program is taken for stuck. */
const STUCK = 3000;

/** An error of the simulated world. */
export class StepError extends Error {
  name = "StepError";
}

/** The program waits for what will never come. */
export class StuckError extends Error {
  name = "StuckError";
}

/**
 * @typedef {object} Pace how a world answers
 * @property {number} busy probability that a call ends in a macrotask
 * @property {number} instant probability that a call ends as it starts
 */

/** Answers calls in an order that its random numbers draw, one a macrotask, and remembers what was made. */
export class World {
  /** Names of the calls that were made, in order. */
  made = [];
  /** What the program did, in order. */
  order = [];
  /** Answers that came to a call, and were made for another. */
  misdirected = [];
  /** All frames that were started, by what they are. */
  frames = new Map();
  /** In which frame an answer was asked for, by what answers say. */
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
   * @param {import("../lib/random.mjs").Random} options.random draws the order of ends
   * @param {boolean} options.pure answers depend on the request alone, not on how many were given before
   * @param {Pace} [options.pace]
   * @param {() => void} [options.onMoment] called between what happens
   */
  constructor({ random, pure, pace = { busy: 1, instant: 0 }, onMoment = () => {} }) {
    this.#random = random;
    this.#pure = pure;
    this.#pace = pace;
    this.#onMoment = onMoment;
  }

  /** A call arrives. */
  make(frame, { name, count }, { fails = 0, failure, heedsAbort, answer, addressee = digest(name) }, signal) {
    this.made.push(name);
    this.askers.set(addressee, frame);
    const content = `answer ${this.#pure ? digest(name) : this.#answers++} for ${addressee}`;
    const failing = fails < 0 || count < fails;
    const settle = () => {
      if (failing && !LATE_FAILURES.has(failure)) throw failureOf(failure, content);
      return answer === undefined ? shaped(content) : answer(content, failing);
    };
    return this.#settles(settle, heedsAbort ? signal : undefined);
  }

  /** Something comes that was made before. */
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

  /** The program gets an answer, or a failure. */
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
    // What an agent's left-over code starts is no frame of a run.
    if (!frame.closed) this.frames.set(frame.key, frame);
  }

  /** The program sees how a call ended. */
  sees(frame, { name }, ok) {
    const at = this.#clock++;
    if (frame.closed) return;
    this.#ends.set(name, { frame, at, ok });
    this.#onMoment();
  }

  /** The program sees how a sub-agent ended. */
  ends(frame, state) {
    frame.state = state;
    frame.endedAt = this.#clock++;
  }

  /** Notes something that the program did. */
  note(frame, text) {
    if (frame.ordered && !frame.closed) this.order.push(`${frame.key} ${text}`);
  }

  /**
   * Calls that must not be made again, with their frames: those that have ended, but for failures that a resumed run
   * tries again.
   *
   * @param {Map<string, import("./frame.mjs").Frame>} [before] those of the recording that this run began with: what the
   *   run has not come to yet must not be lost
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

  /** Whether a recorded frame has not ended in this run, nor what it is in. */
  #mayComeTo(frame) {
    for (let at = frame; at !== undefined; at = at.parent) {
      const current = this.frames.get(at.key);
      if (current !== undefined) return !current.closed;
    }
    return true;
  }

  /** Lets time pass until the program has ended. @returns how it ended. */
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

/** Whether resuming makes a failed call again: the failure was the last thing in its frame, and so on up the tree. */
function mayBeRetried({ frame, at }) {
  for (let current = frame, end = at; current !== undefined; current = current.parent) {
    if (current.state === "completed") return false;
    if (!current.isOver && current.lastStart > end) return false;
    // What is over ended after all that has started by now, though the program has not seen it.
    end = current.endedAt ?? (current.isOver ? Infinity : end);
  }
  return true;
}

/** Of answers whose heads come all the same. */
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

/** Answers of many kinds, JSON and not. */
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
