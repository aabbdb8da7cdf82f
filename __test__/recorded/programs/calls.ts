// Programs of journaled calls: values, failures, equal requests, rules, chains of resumed runs.
import { journalCall, runFrame } from "agent-rewind";
import { forkSnapshot } from "agent-rewind/debugger";

import { failure, plain, sleep, type Program } from "../program.js";

const values: Program = {
  name: "values",
  async run(world) {
    const given = await world.call("values", () => ({
      date: new Date(86_400_000),
      bigint: 12_345_678_901_234_567_890n,
      numbers: [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -0, 1e21, 5e-324],
      missing: undefined,
      map: new Map<unknown, unknown>([
        ["key", { nested: new Set([1, "two"]) }],
        [3, new Date(0)],
      ]),
      bytes: new Uint8Array([0, 1, 254, 255]),
      buffer: Buffer.from("bytes"),
      url: new URL("https://example.com/a?b=c"),
      text: "line\nbreak, \u{1F30D}, \uD800 alone, \u0000",
    }));
    world.middle();
    const key = JSON.parse('{"__proto__":{"polluted":true},"a/b":{"~":[1]}}') as object;
    const keys = await world.call("keys", () => key, { when: new Date(5), count: 7n });
    const nothing = await world.call("nothing", () => undefined);
    const long = await world.call("long", () => new Uint8Array(2_000).fill(7));
    return { given, keys: JSON.stringify(keys), nothing, long: long.length };
  },
};

/** Results that cannot be recorded: their calls go live on replay. */
const tombstones: Program = {
  name: "tombstones",
  goesLive: true,
  async run(world) {
    const before = await world.call("before", () => 1);
    const made = await world.call("function", () => ({ list: [{ callback: () => 1 }] }));
    world.middle();
    return { before, type: typeof made.list[0]?.callback, after: await world.call("after", () => 2) };
  },
};

class Query {
  constructor(readonly topic: string) {}
}

/** Replay flag 1 decides if a request is answered that has content which its hash does not cover. */
const inexactRequests: Program = {
  name: "inexact-requests",
  goesLive: true,
  async run(world) {
    const exact = await world.call("exact", () => 1, { topic: "moths" });
    const moths = await world.call("query", () => "moths", { query: new Query("moths") });
    world.middle();
    const bees = await world.call("query", () => "bees", { query: new Query("bees"), onProgress: () => {} });
    return { exact, moths, bees, after: await world.call("after", () => 2) };
  },
};

const upstream = (): never => {
  throw Object.assign(new RangeError("upstream 503", { cause: new TypeError("socket closed") }), {
    code: "E_503",
    retryAt: new Date(1_000),
    stack: "RangeError: upstream 503\n    at upstream (file:///app/program.mjs:1:1)",
  });
};

const handledFailures: Program = {
  name: "handled-failures",
  async run(world) {
    const seen: unknown[] = [];
    const note = async (name: string, answer: () => unknown): Promise<void> =>
      void seen.push(await world.call(name, answer).catch(failure));
    await note("first", upstream);
    await note("second", () => "well");
    world.middle();
    await note("several", () => {
      throw new AggregateError([new Error("one"), new SyntaxError("two")], "both failed");
    });
    await note("text", () => {
      // oxlint-disable-next-line typescript/only-throw-error -- programs throw such values
      throw "only a text";
    });
    seen.push(await runFrame({ id: "child", input: { n: 1 } }, () => world.call("in child", upstream)).catch(failure));
    seen.push(await world.call("last", () => "end"));
    return seen;
  },
};

/** Its failure ends the run, and is repaired before the run is resumed. */
const unhandledFailure: Program = {
  name: "unhandled-failure",
  async run(world) {
    const first = await world.call("first", () => "one");
    world.middle();
    const second = await runFrame({ id: "child", input: {} }, async () => {
      const before = await world.call("before", () => "two");
      return [before, await world.call("flaky", () => (world.fixed ? "three" : upstream()))];
    });
    return [first, second, await world.call("last", () => "four")];
  },
};

const equalRequests: Program = {
  name: "equal-requests",
  async run(world) {
    let count = 0;
    const roll = (): Promise<number> => world.call("roll", () => (count += 1));
    const own = [await roll(), await roll()];
    const children = await Promise.all(
      [0, 1].map((number) =>
        runFrame({ id: "roller", input: { equal: true } }, async () => {
          await sleep(number * 5);
          return [await roll(), await roll()];
        }),
      ),
    );
    world.middle();
    return { own, children, last: await roll() };
  },
  edit: (snapshot) => forkSnapshot(snapshot, { at: "root/step:roll:0", output: "forked" }),
};

/** Its calls end in another order than they start. */
const race: Program = {
  name: "race",
  async run(world) {
    const ends: string[] = [];
    const step = (name: string, wait: number): Promise<unknown> =>
      world.call(name, async () => (await sleep(wait), name)).then((value) => ends.push(value));
    const slow = step("slow", 40);
    const all = [slow, step("middle", 20), step("fast", 1)];
    await Promise.race(all);
    world.middle();
    await Promise.all(all);
    return ends;
  },
};

/** Each run of the chain fails later, and asks for something that the run before it did not ask for. */
const chain: Program = {
  name: "chain",
  resumes: 3,
  async run(world) {
    const answers: unknown[] = [];
    for (let number = 0; number < 4; number++) {
      answers.push(await runFrame({ id: "step", input: { number } }, () => world.call(`work ${number}`, () => number)));
      if (number === 0) answers.push(await world.call(`run ${world.attempt}`, () => world.attempt));
      if (number === Math.min(world.attempt, 2)) world.middle();
    }
    return answers;
  },
};

/** Resumed when everything was recorded: the dump in the middle contains what the resumed run has not reached. */
const carriedOver: Program = {
  name: "carried-over",
  resumes: 1,
  resumesEnd: true,
  async run(world) {
    const first = await world.call("first", () => 1);
    if (world.attempt === 1) await world.call("new", () => "new");
    world.middle();
    const child = await runFrame({ id: "child", input: { late: true } }, () => world.call("inner", () => new Date(3)));
    const failed = await world.call("broken", upstream).catch(failure);
    return [first, child, failed, await world.call("last", () => 4)];
  },
};

/** The date and the id of a request change from run to run. */
const normalized: Program = {
  name: "normalized",
  options: () => ({
    normalize: [
      { id: "dates", pattern: /\d{4}-\d\d-\d\d/ },
      { id: "request-ids", pointer: "/request/requestId" },
    ],
  }),
  async run(world) {
    const today = world.isRecorded ? "2027-03-04" : "2026-01-02";
    const report = await world.call("report", () => "recorded", { text: `Report for ${today}`, requestId: today });
    world.middle();
    return [report, await runFrame({ id: "dated", input: { today } }, () => world.call("inner", () => 1, { today }))];
  },
};

// In two parts, so that no scanner takes it for a real key.
const token = ["ghp", "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6"].join("_");

const redacted: Program = {
  name: "redacted",
  options: () => ({
    redact: {
      key: "a key of the corpus",
      rules: [{ id: "employee", pattern: /\bE-\d{5}\b/ }],
      without: ["card-number"],
    },
  }),
  async run(world) {
    const request = { headers: { authorization: `Bearer ${token}` }, path: "/me" };
    const user = await journalCall({ kind: "http", name: "me", request }, () => {
      world.made.push("me");
      return { id: "E-12345", session: token, card: "4111 1111 1111 1111" };
    });
    world.middle();
    const failed = await world
      .call("denied", () => {
        throw new Error(`token ${token} is not valid`);
      })
      .catch(({ name }: Error) => name);
    return { type: typeof user.session, card: user.card, failed, last: await world.call("last", () => 1) };
  },
};

const redactedByDefault: Program = {
  name: "redacted-by-default",
  options: () => ({ redact: true }),
  async run(world) {
    const user = await world.call("me", () => ({ session: token }), { token });
    world.middle();
    return [typeof user.session, await world.call("last", () => 1, { session: user.session })];
  },
};

const requestsNotKept: Program = {
  name: "requests-not-kept",
  options: () => ({ requests: false }),
  async run(world) {
    const first = await world.call("first", () => "one", { text: "asked" });
    world.middle();
    return [first, await world.call("second", () => "two", { text: first })];
  },
};

export const callPrograms: readonly Program[] = [
  values,
  tombstones,
  inexactRequests,
  handledFailures,
  unhandledFailure,
  equalRequests,
  race,
  chain,
  carriedOver,
  normalized,
  redacted,
  redactedByDefault,
  requestsNotKept,
].map((program) => ({ ...program, run: async (world) => plain(await program.run(world)) }));
