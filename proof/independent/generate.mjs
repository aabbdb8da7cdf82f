// Draws programs. A program is a tree of steps, plain data; print.mjs makes JavaScript of it.

import { Random } from "../lib/random.mjs";
import { scenes } from "./scenes.mjs";
import { FAILURES } from "./world.mjs";

/**
 * @typedef {{ op: string, [field: string]: any }} Step
 * @typedef {{ number: number, awaits: number, named: boolean, abrupt: boolean, steps: Step[], returned?: { from: number, as: string } }} Program
 */

/** @returns {Program} the program with this number; the same for the same seed */
export function programOf(seed, number) {
  const random = new Random(seed, "program", number);
  const draw = new Draw(random);
  // Half of all clients await before they reach the wrapper.
  const awaits = number % 2 === 0 ? 0 : random.between(1, 4);
  const steps = [];
  const count = random.between(1, 4);
  for (let index = 0; index < count; index++) steps.push(...draw.scene(Draw.root));
  const fatal = random.chance(0.14);
  if (fatal) steps.push(draw.fatal(Draw.root));
  const program = { number, awaits, named: random.chance(0.7), abrupt: fatal && random.chance(0.5), steps };
  if (!program.abrupt && random.chance(0.12))
    program.returned = { from: random.below(steps.length), as: random.pick(["generator", "stream"]) };
  return program;
}

/** Draws steps for a place in a program. */
export class Draw {
  /**
   * What a place allows. `depth`: levels of nesting that are left. `late`: work may outlive it. `frames`: frames may
   * start. `sleep`: timers of its own cannot change a race. `fail`: somebody handles failures.
   */
  static root = { depth: 3, late: true, frames: true, sleep: true, fail: false };

  #unique = 0;
  /** Calls that are left. */
  left = 16;

  constructor(random) {
    this.random = random;
  }

  /** What a call asks: often the same as others, or something of its own, or about the last answer. */
  what({ content = 0.12, dependent = 0.3 } = {}) {
    const { random } = this;
    const what = { q: random.chance(0.55) ? random.pick(["x", "y"]) : `u${(this.#unique += 1)}` };
    if (random.chance(content)) what.with = this.content();
    if (random.chance(dependent)) what.prev = true;
    return what;
  }

  content() {
    const kinds = ["human", "bot", "nested", "money", "bytes", "floats", "view", "map", "set", "date", "url", "params"];
    return [
      this.random.pick([...kinds, "headers", "regexp", "error", "big", "undefined"]),
      this.random.pick(["a", "b"]),
    ];
  }

  get ms() {
    return this.random.between(1, 30);
  }

  /** A call of any kind. */
  call(place, fields = {}) {
    this.left -= 1;
    const { random } = this;
    const via = fields.via ?? random.weighted({ call: 5, tool: 2, http: 4, tries: 1, stream: 1 });
    const plan = { ms: this.ms };
    const fail = fields.fail ?? (place.fail && random.chance(0.25) ? "always" : undefined);
    if (fail !== undefined) plan.fail = fail;
    if (plan.fail !== undefined && via === "http" && random.chance(0.4)) plan.net = true;
    if (plan.fail !== undefined && via !== "http" && via !== "stream" && random.chance(0.4))
      plan.throws = random.pick(Object.keys(FAILURES));
    const what = fields.what ?? this.what(via === "http" || via === "stream" ? { content: 0 } : {});
    if (via === "call" && fail === undefined && random.chance(0.08))
      plan.gives = random.pick(["bytes", "map", "set", "date", "url", "big", "undefined"]);
    if (via === "http" && random.chance(0.1)) plan.body = random.pick(["bytes"]);
    if (via === "tries" || (via === "http" && random.chance(0.25))) {
      plan.tries = Array.from({ length: random.between(2, 3) }, () => this.ms);
      plan.pause = random.between(1, 5);
      delete plan.ms;
      if (fail !== undefined) plan.gives = "up";
      delete plan.fail;
      delete plan.throws;
      delete plan.net;
    }
    if (via === "stream") Object.assign(plan, { pieces: random.between(1, 4), each: random.between(1, 4) });
    if (via === "stream" && fail === undefined && random.chance(0.3)) plan.read = random.between(1, plan.pieces);
    return { op: via, what, plan, ...(fields.inner && { inner: fields.inner }) };
  }

  /** One to `most` steps. */
  steps(place, most = 2) {
    const steps = [];
    const count = this.random.between(1, most);
    for (let index = 0; index < count; index++) steps.push(...this.scene({ ...place, depth: place.depth - 1 }));
    return steps;
  }

  /** Steps that show one shape, or a plain call. */
  scene(place) {
    if (place.depth <= 0 || this.left <= 0) return [this.call(place)];
    const table = Object.fromEntries(
      Object.entries(scenes).map(([name, { weight, needs = [] }]) => [
        name,
        needs.every((need) => place[need]) ? weight : 0,
      ]),
    );
    return scenes[this.random.weighted(table)].draw(this, place);
  }

  /** The failure that ends the run. Tried again, it succeeds. */
  fatal(place) {
    const { random } = this;
    const failing = this.call(place, { via: random.pick(["call", "tool", "http", "stream"]), fail: "once" });
    if (failing.plan.gives === "up") Object.assign(failing, { op: "call", plan: { ms: this.ms, fail: "once" } });
    const wrap = random.pick(["plain", "frame", "all", "inside"]);
    if (wrap === "frame")
      return { op: "frame", id: "last", input: { q: `u${(this.#unique += 1)}` }, lives: [[failing]] };
    if (wrap === "all") {
      const other = this.steps({ ...place, depth: 1, late: false }, 2);
      return { op: "par", how: "all", branches: random.chance(0.5) ? [[failing], other] : [other, [failing]] };
    }
    if (wrap === "inside") return this.call(place, { via: "call", inner: [failing] });
    return failing;
  }

  own() {
    return `u${(this.#unique += 1)}`;
  }
}
