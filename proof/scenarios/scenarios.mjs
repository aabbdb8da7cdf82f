// Programs whose replay is error-prone. Each is built on a world and returns a result.

import { equipMemory, getUsageStats, isAbortError, reborn } from "agent-rewind";
import { asking, callTool, createAgent, toolAnswers } from "./world.mjs";

const settled = (promises) =>
  Promise.allSettled(promises).then((all) =>
    all.map(({ value, reason }) => value ?? `${reason.name}: ${reason.message}`),
  );

/** name → (world) → () => Promise<result> */
export const scenarios = {
  "one turn": (world) => {
    const agent = asking(
      "solo",
      world.model("m", () => "hello"),
    );
    return () => agent({ text: "hi" });
  },

  "tool loop": (world) => {
    const search = world.tool("search", ({ q }) => ({ q, hits: [1, 2] }));
    const model = world.model("m", (messages) => {
      const answers = toolAnswers(messages);
      if (answers === 0) return { tool: "search", input: { q: "a" } };
      if (answers === 1)
        return [
          { tool: "search", input: { q: "b" } },
          { tool: "search", input: { q: "a" } },
        ];
      return `after ${answers}`;
    });
    const agent = asking("looper", model, [search]);
    return () => agent({ text: "go" });
  },

  "nested three deep": (world) => {
    const leaf = asking(
      "leaf",
      world.model("m", (messages) => `leaf of ${messages.length}`),
    );
    const middle = createAgent({
      id: "middle",
      handler: async () => [await world.step("before"), await leaf({ text: "x" }), await world.step("after")],
    });
    const top = createAgent({ id: "top", handler: async () => [await middle(), await world.step("end")] });
    return () => top();
  },

  "five in parallel, each with memory": (world) => {
    const shard = createAgent({
      id: "shard",
      handler: async ({ index }) => {
        const [mine, setMine] = equipMemory("mine", index);
        const first = await world.step(`first ${mine}`);
        setMine(mine + 100);
        return [first, await world.step(`second ${mine}`)];
      },
    });
    const parent = createAgent({
      id: "parent",
      handler: async () => [
        await Promise.all([0, 1, 2, 3, 4].map((index) => shard({ index }))),
        await world.step("merge"),
      ],
    });
    return () => parent();
  },

  "sub-agents whose start order flips": (world) => {
    const part = createAgent({
      id: "part",
      handler: async ({ index }) => {
        const [seen] = equipMemory("seen", index);
        return world.step(`part ${seen}`);
      },
    });
    const parent = createAgent({
      id: "parent",
      handler: async () => {
        const results = [];
        const order = world.ask("round") % 2 === 1 ? [0, 1, 2, 3] : [3, 1, 0, 2];
        await Promise.all(
          order.map(async (index, position) => {
            for (let turn = 0; turn < position * 2; turn += 1) await new Promise(setImmediate);
            results[index] = await part({ index });
          }),
        );
        return results;
      },
    });
    return () => parent();
  },

  "same tool, same input, other answers": (world) => {
    const dice = world.tool("dice", (_input, count) => `roll ${count}`);
    const agent = createAgent({
      id: "player",
      handler: async () => [await callTool(dice, {}), await callTool(dice, {}), await callTool(dice, {})],
    });
    return () => agent();
  },

  "same prompt three times": (world) => {
    const model = world.model("m", () => `vote ${world.ask("vote")}`);
    const voter = asking("voter", model);
    const parent = createAgent({
      id: "parent",
      handler: async () => [
        await voter({ text: "colour?" }),
        await voter({ text: "colour?" }),
        await voter({ text: "colour?" }),
      ],
    });
    return () => parent();
  },

  "strings that look like JSON": (world) => {
    const strings = ['{"a": 1}', "[1.0]", "12345678901234567890", '" 42 "'];
    const read = world.tool("read", ({ at }) => strings[at]);
    const model = world.model("m", (messages) => {
      const answers = toolAnswers(messages);
      return answers < strings.length
        ? { tool: "read", input: { at: answers } }
        : messages.map(({ content }) => (typeof content === "string" ? content : "")).join(";");
    });
    const agent = asking("reader", model, [read]);
    return () => agent({ text: "read" });
  },

  "two ids with their own sub-agents": (world) => {
    const make = (id) => {
      const child = createAgent({ id: `${id}-child`, handler: () => world.step(`${id} child`) });
      return createAgent({ id, handler: async () => [await child(), await world.step(`${id} own`)] });
    };
    const [left, right] = [make("left"), make("right")];
    return async () => Promise.all([left(), right(), left()]);
  },

  "several root agents, and calls at the root": (world) => {
    const agent = createAgent({ id: "rooted", handler: ({ index }) => world.step(`rooted ${index}`) });
    return async () => [
      await world.step("first"),
      await agent({ index: 1 }),
      await world.step("between"),
      await Promise.all([agent({ index: 2 }), agent({ index: 1 })]),
    ];
  },

  "a child fails, and it is handled": (world) => {
    const fragile = createAgent({
      id: "fragile",
      handler: async () => {
        const [, setProgress] = equipMemory("progress", 0);
        await world.step("works");
        setProgress(50);
        await world.step("breaks", () => {
          throw new TypeError("boom", { cause: new Error("disk full") });
        });
      },
    });
    const parent = createAgent({
      id: "parent",
      handler: async () => {
        const why = await fragile().catch(
          (error) => `${error.name}: ${error.message} (${String(error.cause?.message)})`,
        );
        return [why, await world.step(`recover from ${String(why)}`)];
      },
    });
    return () => parent();
  },

  "a tool fails, and the model goes on": (world) => {
    const flaky = world.tool("flaky", ({ q }) => {
      if (q === 0) throw new RangeError("upstream 503");
      return { q };
    });
    const model = world.model("m", (messages) =>
      toolAnswers(messages) < 2
        ? { tool: "flaky", input: { q: toolAnswers(messages) } }
        : messages.map(({ content }) => content).join(";"),
    );
    const agent = asking("hardy", model, [flaky]);
    return () => agent({ text: "go" });
  },

  "a transient failure, handled by a second try": (world) => {
    const call = () =>
      world.step("unstable", () => {
        if (world.ask("unstable") === 1) throw new Error("transient");
        return "fine";
      });
    const agent = createAgent({
      id: "retrier",
      handler: async () => [await call().catch((error) => error.message), await call(), await world.step("end")],
    });
    return () => agent();
  },

  "failures in allSettled, any and race": (world) => {
    const fail = (name) => world.step(name, () => Promise.reject(new Error(`no ${name}`)));
    const agent = createAgent({
      id: "racer",
      handler: async () => {
        const all = await settled([fail("a"), world.step("b"), fail("c")]);
        const any = await Promise.any([fail("d"), world.step("e"), world.step("f")]);
        const calls = [world.step("g"), world.step("h"), world.step("i")];
        const race = await Promise.race(calls);
        await settled(calls);
        return { all, any, race, end: await world.step("end") };
      },
    });
    return () => agent();
  },

  "three generations, each with a sub-agent": (world) => {
    const helper = createAgent({ id: "helper", handler: ({ round }) => world.step(`help ${round}`) });
    const agent = createAgent({
      id: "again",
      handler: async ({ round }) => {
        const [log, setLog] = equipMemory("log", []);
        const help = await helper({ round });
        const text = await world.step(`round ${round} after ${log.length}`);
        setLog([...log, help, text]);
        return round < 2 ? reborn({ round: round + 1 }) : [...log, help, text];
      },
    });
    return () => agent({ round: 0 });
  },

  "memory that feeds the prompts": (world) => {
    const agent = createAgent({
      id: "counter",
      handler: async () => {
        const results = [];
        for (let round = 0; round < 3; round += 1) {
          const [count, setCount] = equipMemory("count", 0);
          results.push(await world.step(`count ${count}`));
          setCount(count + 1);
        }
        return results;
      },
    });
    return () => agent();
  },

  "values that are more than JSON": (world) => {
    const agent = createAgent({
      id: "typed",
      handler: async () => {
        const value = await world.step("value", () => ({
          at: new Date(0),
          big: 10n ** 20n,
          set: new Set([1]),
          map: new Map([["k", undefined]]),
          none: undefined,
          bytes: new Uint8Array([1, 2]),
          nan: NaN,
        }));
        return [
          value,
          await world.step(
            `${value.at.getTime()} ${value.big} ${value.set.size} ${value.map.size} ${"none" in value} ${value.bytes[1]} ${value.nan}`,
          ),
        ];
      },
    });
    return () => agent();
  },

  "an abort half way": (world) => {
    const agent = createAgent({
      id: "patient",
      handler: async () => {
        const done = await world.step("first");
        const error = await world
          .step("second", () => Promise.reject(new DOMException("enough", "AbortError")))
          .catch((caught) => caught);
        return [done, isAbortError(error), await world.step("third")];
      },
    });
    return () => agent();
  },

  "a budget that was used": (world) => {
    const agent = createAgent({
      id: "spender",
      handler: async () => {
        const child = asking(
          "child",
          world.model("m", () => "spent"),
        );
        const results = [];
        for (let round = 0; round < 3; round += 1) results.push(await child({ text: `round ${round}` }));
        // The number that a branch of a handler would see. It may differ if a call is executed again after its usage
        // was counted.
        world.tokens = getUsageStats().aggregate.totalTokens;
        return results;
      },
    });
    return () => agent();
  },

  "parallel writes into one list": (world) => {
    const agent = createAgent({
      id: "list",
      handler: async () => {
        const list = [];
        await Promise.all(["x", "yy", "zzz", "wwww"].map(async (name) => list.push(await world.step(name))));
        return [list, await world.step(list.join())];
      },
    });
    return () => agent();
  },

  "forty turns": (world) => {
    const next = world.tool("next", ({ at }) => at + 1);
    const model = world.model("m", (messages) =>
      toolAnswers(messages) < 40 ? { tool: "next", input: { at: toolAnswers(messages) } } : `done ${messages.length}`,
    );
    const agent = asking("marathon", model, [next]);
    return () => agent({ text: "run" });
  },
};
