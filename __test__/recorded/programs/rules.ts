// Programs whose replay depends on a flag: the old rule gives another outcome than the new one.
import { callTool, runFrame } from "agent-rewind";
import { rewindFetch } from "agent-rewind/fetch";
import { z } from "zod";

import { deferred, turn } from "../../support/deferred.js";
import { plain, type Program, type World } from "../program.js";

/** Answers that never repeat, for equal requests. */
function counter(world: World): () => Promise<unknown> {
  let count = 0;
  return () => world.call("next", () => (count += 1));
}

/** The request inside a call is asked again outside of it. */
const innerCalls: Program = {
  name: "inner-calls",
  flag: 2,
  async run(world) {
    const next = counter(world);
    const step = await world.call("step", async () => [await next(), await next()]);
    const tool = {
      name: "count",
      description: "Counts",
      parameters: z.object({}),
      handler: async () => {
        world.made.push("count");
        return { inside: await runFrame({ id: "inner", input: {} }, next) };
      },
    };
    const own = await next();
    world.middle();
    const counted = await callTool(tool, {});
    const frame = await runFrame({ id: "inner", input: {} }, next);
    return { step, own, counted, frame, last: await next() };
  },
};

/** A client that sends a request again while its answer is 429, and reports the number of each attempt. */
async function ask(fetch: typeof globalThis.fetch): Promise<string> {
  for (let attempt = 0; ; attempt++) {
    const response = await fetch("http://model.test/ask", { headers: { "x-stainless-retry-count": String(attempt) } });
    const text = await response.text();
    if (response.status !== 429) return text;
  }
}

/** Two branches send equal requests. The first one fails after both were sent, and is sent again. */
const ownAttempts: Program = {
  name: "own-attempts",
  flag: 3,
  async run(world) {
    const bothSent = deferred();
    const retried = deferred();
    let failures = 0;
    const flaky = rewindFetch(async () => {
      world.made.push("flaky");
      if (failures++ > 0) return new Response("the first");
      await bothSent.promise;
      return new Response("busy", { status: 429 });
    });
    const slow = rewindFetch(async () => {
      world.made.push("slow");
      bothSent.resolve();
      await retried.promise;
      return new Response("the second");
    });
    async function first(): Promise<string> {
      return await ask(flaky).finally(retried.resolve);
    }
    async function second(): Promise<string> {
      return await ask(slow).finally(bothSent.resolve);
    }
    const answers = await Promise.all([first(), second()]);
    world.middle();
    return [...answers, await world.call("last", () => "end")];
  },
};

/** The promise, some microtasks later. */
async function later<T>(promise: Promise<T>, steps: number): Promise<T> {
  return steps === 0 ? promise : later((async () => await promise)(), steps - 1);
}

/** The call that ends first has the longest way to the race. */
const sharedTicks: Program = {
  name: "shared-ticks",
  flag: 4,
  async run(world) {
    const opened = deferred();
    const step = (name: string): Promise<string> => world.call(name, () => opened.promise.then(() => name));
    const race = Promise.race([later(step("far"), 5), later(step("near"), 2)]);
    await turn();
    opened.resolve();
    const winner = await race;
    world.middle();
    return [winner, await world.call("last", () => winner)];
  },
};

/** Another branch starts a call after the failure that ends the run. The failure is repaired before it is resumed. */
const seenFailures: Program = {
  name: "seen-failures",
  flag: 6,
  async run(world) {
    const failed = deferred();
    async function flaky(): Promise<string> {
      try {
        return await world.call("flaky", () => {
          if (!world.fixed) throw new RangeError("upstream 503");
          return "repaired";
        });
      } finally {
        failed.resolve();
        await turn();
        await turn();
      }
    }
    async function other(): Promise<string> {
      const first = await world.call("first", () => "one");
      await failed.promise;
      return first + (await world.call("second", () => " two"));
    }
    await world.call("before", () => 1);
    world.middle();
    const ends = await Promise.all([flaky(), other()]);
    return [...ends, await world.call("last", () => "end")];
  },
};

export const rulePrograms: readonly Program[] = [innerCalls, ownAttempts, sharedTicks, seenFailures].map((program) => ({
  ...program,
  run: async (world) => plain(await program.run(world)),
}));
