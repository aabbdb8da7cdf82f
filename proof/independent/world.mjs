// The outside of a program: what it answers, when, and a log of everything that the program did and saw.

import { inspect } from "node:util";

/** A value as a text that shows its types. Equal texts are equal values. */
export function show(value) {
  return typeof value === "string" ? value : inspect(value, { depth: 20, sorted: true, breakLength: Infinity });
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Turns of the event loop without activity after which the program waits for the outside. */
const QUIET_TURNS = 4;
/** A run hangs after this many turns and milliseconds without activity. A busy machine takes longer for the turns. */
const HANG_TURNS = 200;
const HANG_MS = 1500;

/** The failures that the outside gives. */
export class WorldError extends Error {
  name = "WorldError";
}

/** Failures with more than a name and a message. */
export const FAILURES = {
  plain: (message) => new WorldError(message),
  type: (message) => new TypeError(message),
  fields: (message) => Object.assign(new Error(message), { status: 503, at: new Date(5), list: [undefined, 7n] }),
  system: (message) => Object.assign(new Error(message), { code: "ECONNRESET", errno: -104, syscall: "read" }),
  cause: (message) => new Error(message, { cause: new RangeError("too far") }),
  aggregate: (message) => new AggregateError([new TypeError("one"), new Error("two")], message),
  dom: (message) => new DOMException(message, "TimeoutError"),
};

/** An error as a text: everything of it that a program may look at. */
export function describe(error) {
  const own = Object.entries(error).filter(([key]) => key !== "name" && key !== "headers");
  const parts = [`${error.name}: ${error.message}`];
  if (own.length > 0) parts.push(show(Object.fromEntries(own)));
  if (error instanceof DOMException) parts.push(`DOMException ${error.code}`);
  if (error.cause instanceof Error) parts.push(`cause ${describe(error.cause)}`);
  if (error instanceof AggregateError) parts.push(`errors ${error.errors.map(describe).join(", ")}`);
  return parts.join("; ");
}

/**
 * Answers requests at virtual times. Every answer is different, so an answer to another request is visible. Two answers
 * come in the same turn of the event loop only if their plans name the same `turn`.
 */
export class World {
  /** @type {{ kind: string, path: string, text?: string, origins?: string[] }[]} */
  log = [];
  /** The length of the log when the outside last answered each place. @type {Map<string, number>} */
  answeredAt = new Map();
  /** Called after each entry of the log. @type {(() => void) | undefined} */
  onNote;
  #label;
  #asked;
  #given;
  #now = 0;
  #answers = 0;
  #timers = 0;
  #pending = [];
  #activity = 0;
  #stopped = false;

  /**
   * @param {string} label starts every answer of this run
   * @param {Map<string, number>} asked how often each path was asked in this run and those before it
   * @param {Map<string, Set<string>>} given all outcomes of each path, by this run and those before it
   */
  constructor(label, asked, given) {
    this.#label = label;
    this.#asked = asked;
    this.#given = given;
  }

  note(kind, path, fields) {
    this.#activity += 1;
    this.log.push({ kind, path, ...fields });
    this.onNote?.();
  }

  /** Remembers that the outside gave this outcome to this place of the program. */
  give(path, outcome) {
    this.answeredAt.set(path, this.log.length);
    const set = this.#given.get(path) ?? new Set();
    this.#given.set(path, set.add(outcome));
  }

  /**
   * A request reaches the outside.
   *
   * @param {string} path the place of the request in the program
   * @param {{ ms?: number, turn?: string, fail?: "always" | "once" | "no", throws?: string, final?: boolean, as?: string, attempt?: number }} plan
   *   `ms: 0` answers at once; without `final` the program does not see this outcome; `as` is the
   *   place that sees it, if it is another
   * @returns {Promise<string>} resolves to the answer, or rejects
   */
  ask(path, plan) {
    const times = this.timesAsked(path);
    this.#asked.set(path, times + 1);
    const fails = plan.fail === "always" || (plan.fail === "once" && times === 0);
    const answer = `${this.#label}-${(this.#answers += 1)}`;
    this.note("ask", path, { text: answer, attempt: plan.attempt });
    return this.#later(plan, () => {
      const error = fails ? FAILURES[plan.throws ?? "plain"](`${answer} failed`) : undefined;
      if (plan.final !== false) this.give(plan.as ?? path, fails ? describe(error) : answer);
      if (fails) throw error;
      return answer;
    });
  }

  /** How often a place asked, in this run and those before it. */
  timesAsked(path) {
    return this.#asked.get(path) ?? 0;
  }

  /** A timer of the program. */
  sleep(ms) {
    return this.#later({ ms }, () => undefined);
  }

  #later({ ms = 1, turn: tag }, outcome) {
    if (ms === 0) return new Promise((resolve) => resolve(outcome()));
    return new Promise((resolve, reject) => {
      const fire = () => {
        try {
          resolve(outcome());
        } catch (error) {
          reject(error);
        }
      };
      this.#pending.push({ due: this.#now + ms, at: (this.#timers += 1), tag, fire });
    });
  }

  /** Lets the outside answer until `promise` settles. Returns false if nothing more happens. */
  async serve(promise) {
    const state = { done: false };
    const finish = () => (state.done = true);
    promise.then(finish, finish);
    let last = Date.now();
    let seen = -1;
    let quiet = 0;
    while (!state.done && !this.#stopped) {
      await turn();
      if (this.#activity !== seen) {
        seen = this.#activity;
        quiet = 0;
        last = Date.now();
      } else quiet += 1;
      if (quiet >= QUIET_TURNS && this.#pending.length > 0) {
        this.#fireNext();
        this.#activity += 1;
      } else if (quiet > HANG_TURNS && Date.now() - last > HANG_MS) return false;
    }
    return true;
  }

  /** Ends the run here, as a kill does: nothing is answered any more. */
  stop() {
    this.#stopped = true;
  }

  #fireNext() {
    const first = this.#pending.reduce((a, b) => (b.due < a.due || (b.due === a.due && b.at < a.at) ? b : a));
    const group = this.#pending.filter((one) => one === first || (first.tag !== undefined && one.tag === first.tag));
    this.#pending = this.#pending.filter((one) => !group.includes(one));
    this.#now = Math.max(this.#now, first.due);
    for (const { fire } of group) fire();
  }
}
