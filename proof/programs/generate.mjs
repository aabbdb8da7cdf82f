// Random agent programs as trees of plain data, which can be printed, shrunk and executed.

/** The maximum nesting of agents. */
const MAX_DEPTH = 4;
const MAX_NESTING = 9;

const NAMES = ["search", "fetch", "rank"];
const AGENTS = ["worker", "critic", "planner"];

/**
 * @typedef {object} Program
 * @property {boolean} raceFree true if every schedule of the calls sends the same requests and has the same result
 * @property {Node[]} body
 *
 * @typedef {{ op: string, id: number, [field: string]: any }} Node a statement of a program
 */

/**
 * @param {import("../lib/random.mjs").Random} random
 * @returns {Program}
 */
export function generateProgram(random) {
  const raceFree = random.chance(0.35);
  const maker = new Maker(random, random.between(5, random.chance(0.2) ? 45 : 20));
  const place = {
    raceFree,
    depth: 0,
    nesting: 0,
    parallel: false,
    looped: false,
    pure: false,
    frame: { prompts: 0, writes: false },
  };
  const body = [];
  while (maker.budget > 0) body.push(...maker.block(place));
  return { raceFree, body: maker.anchored(body, place) };
}

class Maker {
  budget;
  #random;
  #ids = 0;

  constructor(random, budget) {
    this.#random = random;
    this.budget = budget;
  }

  block(place) {
    const nodes = [];
    const length = this.#random.between(1, 3);
    do nodes.push(this.#node(place));
    while (nodes.length < length && this.budget > 0);
    return nodes;
  }

  /**
   * Starts the body of a frame with a call if the frame writes its memory or is reborn. A frame without recorded calls
   * is not replayed but restored in its last state.
   */
  anchored(body, { frame }, reborns = 0) {
    if (reborns === 0 && !frame.writes) return body;
    const call = {
      op: "call",
      id: this.#ids++,
      via: "journal",
      name: "begin",
      same: false,
      reads: [],
      fails: 0,
      heedsAbort: true,
    };
    return [call, ...body];
  }

  #node(place) {
    const { raceFree, nesting, depth, looped, pure, parallel, frame } = place;
    const deeper = nesting < MAX_NESTING && this.budget > 0;
    const op = this.#random.weighted({
      call: 12,
      stream: 5,
      contest: raceFree ? 0 : 1.5,
      push: pure ? 0 : 4,
      memory: raceFree && parallel ? 0 : 2,
      ticks: 0.7,
      throw: 0.4,
      prompt: frame.prompts > 0 && !looped ? 6 : 0,
      agent: deeper && depth < MAX_DEPTH ? 7 : 0,
      parallel: deeper ? 7 : 0,
      fan: deeper ? 1.2 : 0,
      fork: deeper && !raceFree ? 0.8 : 0,
      retry: deeper ? 1.5 : 0,
      repeat: deeper ? 2 : 0,
      catch: deeper ? 2.5 : 0,
      wrap: deeper ? 0.7 : 0,
      choose: deeper ? 1 : 0,
    });
    const node = { op, id: this.#ids++ };
    return Object.assign(node, this[`_${op}`]({ ...place, nesting: nesting + 1 }));
  }

  _call(place) {
    this.budget -= 1;
    const random = this.#random;
    return {
      via: random.chance(0.4) ? "tool" : "journal",
      name: random.pick(NAMES),
      // Sends a request that others send too. In the same frame, these are occurrences of one request.
      same: random.chance(0.2) && !(place.raceFree && place.parallel),
      reads: this.#reads(place),
      ...this.#failing(place),
      heedsAbort: random.chance(0.5),
    };
  }

  _stream(place) {
    this.budget -= 1;
    const random = this.#random;
    const deeper = place.nesting <= MAX_NESTING && this.budget > 0;
    const use = random.weighted({ whole: 5, part: 2, never: 2, later: deeper ? 2 : 0, abort: deeper ? 2 : 0 });
    const extra = { part: { count: random.between(0, 3) } };
    if (use === "later") extra.later = { body: this.block(place) };
    // A race decides if an answer comes before its abort.
    const when = place.raceFree ? "body" : random.pick(["head", "body"]);
    if (use === "abort")
      extra.abort = {
        body: random.chance(0.6) ? this.block(place) : [],
        when,
        ...(random.chance(0.3) ? { reason: "enough" } : {}),
      };
    const request = this.#request(place);
    // A pushed piece may arrive before the abort, and disappear after the stream failed.
    if (place.raceFree && (use === "abort" || request.failure === "body")) request.pushed = false;
    return { use, ...request, ...extra[use] };
  }

  _contest(place) {
    const random = this.#random;
    const streams = Array.from({ length: random.between(2, 3) }, () => {
      this.budget -= 1;
      return { op: "stream", id: this.#ids++, ...this.#request(place) };
    });
    return {
      how: random.pick(["race", "race", "any"]),
      losers: random.pick(["cancel", "abort", "leave"]),
      waits: random.chance(0.6),
      streams,
      body: random.chance(0.3) ? this.block(place) : [],
    };
  }

  /** A request whose answer comes in pieces. */
  #request(place) {
    const random = this.#random;
    const same = random.chance(0.15) && !(place.raceFree && place.parallel);
    const shape = random.weighted({ json: 5, text: 3, empty: 0.5, none: 0.5 });
    const failing = this.#failing(place);
    if (failing.fails !== 0 && random.chance(0.6)) failing.failure = random.pick(["status", "body"]);
    return {
      name: random.pick(NAMES),
      same,
      reads: this.#reads(place),
      shape,
      how: random.pick(["text", "chunks", ...(shape === "json" && !same ? ["json", "json"] : [])]),
      chunks: random.between(1, 3),
      pushed: random.chance(0.5),
      ...failing,
    };
  }

  _push() {
    return {};
  }

  _memory({ frame }) {
    frame.writes = true;
    return { key: this.#random.pick(["a", "b"]), write: this.#random.chance(0.7) };
  }

  _ticks() {
    return { count: this.#random.between(1, 12) };
  }

  _throw() {
    return {};
  }

  _prompt(place) {
    this.budget -= 2;
    place.frame.prompts -= 1;
    const random = this.#random;
    return {
      reads: this.#reads(place),
      tools: random.pick([0, 0, 1, 2, 3]),
      toolFails: random.chance(0.2),
      wrongAnswers: random.chance(0.2) ? random.between(1, 2) : 0,
      ...this.#failing(place),
      heedsAbort: random.chance(0.5),
    };
  }

  _agent(place) {
    this.budget -= 1;
    const random = this.#random;
    const reborns = random.chance(0.15) ? random.between(1, 2) : 0;
    const plain = random.chance(0.3);
    const inside = {
      ...place,
      depth: place.depth + 1,
      parallel: false,
      looped: false,
      // A replay does not repeat the changes that an earlier generation made outside itself.
      pure: place.pure || reborns > 0,
      frame: { prompts: plain ? 0 : 1, writes: false },
    };
    return {
      agentId: random.pick(AGENTS),
      reads: this.#reads(place),
      frame: plain,
      reborns,
      body: this.anchored(this.block(inside), inside, reborns),
    };
  }

  _parallel(place) {
    const how = place.raceFree
      ? this.#random.pick(["all", "all", "allSettled"])
      : this.#random.weighted({ all: 5, race: 3, any: 2, allSettled: 2 });
    return { how, branches: this.#branches(place) };
  }

  _fan(place) {
    return { call: { op: "call", id: this.#ids++, ...this._call(place), fails: 0 }, branches: this.#branches(place) };
  }

  #branches(place) {
    const inside = { ...place, parallel: true };
    return Array.from({ length: this.#random.between(2, 4) }, () => {
      const body = this.block(inside);
      // A race decides how far siblings are when one of them fails.
      return place.raceFree ? [{ op: "catch", id: this.#ids++, body, fallback: [] }] : body;
    });
  }

  _fork(place) {
    return { body: this.block({ ...place, parallel: true }) };
  }

  _retry(place) {
    return { times: this.#random.between(1, 3), body: this.block({ ...place, looped: true }) };
  }

  _repeat(place) {
    return { times: this.#random.between(2, 3), body: this.block({ ...place, looped: true }) };
  }

  _catch(place) {
    const fallback = this.#random.chance(0.5) ? this.block(place) : [];
    return { body: this.block(place), fallback };
  }

  _wrap(place) {
    return { body: this.block(place) };
  }

  _choose(place) {
    return { yes: this.block(place), no: this.block(place) };
  }

  /** The variables that a request contains in addition to constants. */
  #reads({ raceFree, parallel, pure }) {
    const random = this.#random;
    const reads = [];
    if (random.chance(0.5)) reads.push("local");
    if (!raceFree && !pure && random.chance(0.35)) reads.push("shared");
    if (!(raceFree && parallel) && random.chance(0.25)) reads.push("memory");
    return reads;
  }

  #failing() {
    const random = this.#random;
    if (random.chance(0.75)) return { fails: 0 };
    return {
      // The first times, or always.
      fails: random.chance(0.6) ? random.between(1, 2) : -1,
      failure: random.pick(["error", "error", "coded", "caused", "value"]),
    };
  }
}
