// What a program does besides calls: it runs in threads, sees values, and handles failures. All of that is written into
// the log of the world.

import { AsyncLocalStorage } from "node:async_hooks";

import { describe, show } from "./world.mjs";

/** The error of a client for an answer with an error status. */
export class HttpError extends Error {
  name = "HttpError";
  constructor(response, text) {
    super(`${response.status} ${text}`);
    this.status = response.status;
    this.headers = response.headers;
  }
}

/** The failure that the outside gave, also if somebody wrapped it, with its fields. */
export function failureText(error) {
  for (let one = error, depth = 0; one instanceof Error && depth < 6; one = one.cause, depth++) {
    if (one.name === "AbortError") return "AbortError";
    if (isOutside(one)) return describe(one);
  }
  return `${error?.name}: ${error?.message}`;
}

export const isOutside = (error) => error.name === "HttpError" || /^\S+ failed$/.test(error.message);

/** The place of the program that asks. */
const asking = new AsyncLocalStorage();

/** One program that runs: its threads, and what it sees. */
export class Threads {
  /** Threads of the program that have not ended. */
  #open = 0;
  #waiting = [];
  /** The place of each call that has begun, by its callId. */
  sites = new Map();
  /** The places at which each error was seen. */
  #origins = new Map();

  /**
   * @param {import("./world.mjs").World} world
   * @param {number} awaits how often a client awaits before it reaches the wrapper
   */
  constructor(world, awaits) {
    this.world = world;
    this.awaits = awaits;
  }

  // What the program does besides calls.

  enter() {
    this.#open += 1;
  }

  leave() {
    this.#open -= 1;
    if (this.#open === 0) for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** Resolves when all threads have ended. */
  drained() {
    if (this.#open === 0) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** The stream that the program returns. */
  returned(as, generator) {
    if (as === "generator") return generator;
    return new ReadableStream(
      {
        async pull(controller) {
          const { done, value } = await generator.next();
          if (done) controller.close();
          else controller.enqueue(value);
        },
      },
      { highWaterMark: 0 },
    );
  }

  /** The program handles these failures here. */
  caught(site, ...errors) {
    const origins = errors.flatMap((error) => this.originsOf(error));
    this.world.note("caught", site, { origins });
    return null;
  }

  originsOf(error) {
    if (!(error instanceof Error)) return [];
    const inner = [error.cause, ...(error.errors ?? [])].flatMap((one) => this.originsOf(one));
    return [...(this.#origins.get(error) ?? []), ...inner];
  }

  /** The results of allSettled, whose failures are handled with that. */
  settled(site, results) {
    const failed = results.filter(({ status }) => status === "rejected").map(({ reason }) => reason);
    if (failed.length > 0) this.caught(site, ...failed);
    return results.map(({ value, reason }) => (reason === undefined ? value : failureText(reason)));
  }

  /** An answer as a text, to be part of a later request. */
  tell(value) {
    return show(value);
  }

  sleep(ms) {
    return this.world.sleep(ms);
  }

  saw(site, value) {
    this.world.note("saw", site, { text: show(value) });
    return value;
  }

  failed(site, error) {
    this.world.note("failed", site, { text: failureText(error) });
    if (error instanceof Error) this.#origins.set(error, [...(this.#origins.get(error) ?? []), site]);
    return error;
  }

  /** @param {string} via the kind of the call: requests of one kind answer each other if they are equal */
  start(site, what, via) {
    this.world.note("start", site, { text: JSON.stringify(what), via });
  }

  /** Runs the code that asks for a place, so that its callIds are known. */
  asksAt(site, ask) {
    return asking.run(site, ask);
  }

  /** Notes that the package journals a call with this callId, for the place that asks now. */
  began(callId, site = asking.getStore()) {
    if (site !== undefined) this.sites.set(callId, site);
  }

  /** What a client awaits before it reaches the wrapper. */
  async prepare() {
    for (let round = 0; round < this.awaits; round++) await Promise.resolve();
  }

  /** The outside refuses the first requests of a call, or all. */
  refusals(site, { tries, gives, fail }, attempt) {
    const fails = gives === "up" || this.world.timesAsked(site) < tries.length - 1;
    return {
      ms: tries[attempt],
      fail: fails ? "always" : fail,
      final: !fails || attempt === tries.length - 1,
      attempt,
    };
  }
}
