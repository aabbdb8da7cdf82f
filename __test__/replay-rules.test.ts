import {
  callTool,
  createAgent,
  equipInstruction,
  equipMemory,
  journalCall,
  promptAgent,
  reborn,
  runFrame,
  runWith,
  type AgentSnapshot,
  type Tool,
} from "agent-rewind";
import { dumpSnapshot, parseSnapshot, stringifySnapshot } from "agent-rewind/debugger";
import { describe, expect, it, vi } from "vitest";
import { z } from "zod";

import { sleep } from "./support/deferred.js";
import { result, scriptedModel, textOf, toolCall } from "./support/scripted-model.js";

const Result = z.object({ result: z.string() });

/** Runs `program` and dumps at its end. Returns the handle and a copy parsed from JSON. */
async function recordingOf(
  program: () => Promise<unknown>,
  options: Parameters<typeof runWith>[1] = {},
): Promise<AgentSnapshot[]> {
  const snapshot = await runWith(async () => {
    await program().catch(() => {});
    return dumpSnapshot();
  }, options);
  return [
    snapshot,
    parseSnapshot(stringifySnapshot(snapshot)),
    JSON.parse(stringifySnapshot(snapshot)) as AgentSnapshot,
  ];
}

const step = <T>(name: string, make: () => T | Promise<T>): Promise<T> =>
  journalCall({ kind: "step", name, request: name }, make);
const unreached = (): never => {
  throw new Error("executed again");
};

describe("a replay", () => {
  it("answers three identical prompts with their three answers in order", async () => {
    const answers = ["blue", "green", "red"];
    const model = scriptedModel("voter-model", () => result(answers[model.calls.length - 1] ?? "none"));
    const vote = (): Promise<string[]> =>
      runFrame({ id: "vote", input: {} }, async () => {
        const all: string[] = [];
        for (let round = 0; round < 3; round += 1) {
          const request = { messages: [{ role: "user", content: "best colour?" }], model: { id: model.id } };
          const message = await journalCall({ kind: "prompt", name: model.id, request }, async () => {
            let text = "";
            for await (const event of model.stream([])) if (event.type === "text") text += event.content;
            return { role: "assistant", content: text };
          });
          all.push((JSON.parse(message.content) as { result: string }).result);
        }
        return all;
      });
    for (const snapshot of await recordingOf(vote)) {
      const liveCalls = model.calls.length;
      expect(await runWith(vote, { snapshot })).toEqual(answers);
      expect(model.calls.length).toBe(liveCalls);
    }
  });

  it("executes live the one call beyond the recorded ones", async () => {
    let liveCalls = 0;
    const [snapshot] = await recordingOf(() => step("a", () => ++liveCalls));
    await runWith(
      async () => {
        expect(await step("a", () => ++liveCalls)).toBe(1);
        expect(await step("a", () => ++liveCalls)).toBe(2);
      },
      { snapshot: snapshot as AgentSnapshot },
    );
  });

  it("returns every hit as a fresh copy", async () => {
    const recordings = await recordingOf(() => step("a", () => ({ list: [1] })));
    for (const snapshot of recordings) {
      for (let round = 0; round < 2; round += 1) {
        await runWith(
          async () => {
            const value = await step<{ list: number[] }>("a", unreached);
            expect(value).toEqual({ list: [1] });
            value.list.push(2);
          },
          { snapshot },
        );
      }
    }
  });

  it("restores strings exactly, whatever they look like", async () => {
    const strings = [
      '{"a": 1}',
      "[1.0]",
      "12345678901234567890",
      '" 42 "',
      "",
      "null",
      "\ud83d",
      "\u2028 \u0000 😀",
      "__proto__",
    ];
    const echo: Tool = {
      name: "echo",
      description: "",
      parameters: z.object({ at: z.number() }),
      handler: ({ at }: { at: number }) => strings[at],
    };
    const model = scriptedModel("m", (messages) => {
      const seen = messages.filter(({ role }) => role === "tool").length;
      return seen < strings.length
        ? toolCall(`t${seen}`, "echo", { at: seen })
        : result(JSON.stringify(messages.map(textOf)));
    });
    const agent = createAgent({
      id: "reader",
      model,
      maxTurnSteps: 20,
      handler: async () => {
        equipInstruction("read all");
        const { equipTool } = await import("agent-rewind");
        equipTool(echo);
        return (await promptAgent(Result)).result;
      },
    });
    const live = (await runWith(() => agent())) as string;
    expect(JSON.parse(live)).toEqual(["read all", ...strings.flatMap((text) => ["", text])]);
    for (const snapshot of await recordingOf(() => agent())) {
      const liveCalls = model.calls.length;
      expect(await runWith(() => agent(), { snapshot })).toBe(live);
      expect(model.calls.length).toBe(liveCalls);
    }
  });

  it("restores values that JSON lacks", async () => {
    const value = {
      undefined: undefined,
      date: new Date(0),
      big: 12345678901234567890n,
      nan: Number.NaN,
      infinity: -Infinity,
      zero: -0,
      map: new Map([["k", new Set([1])]]),
      bytes: new Uint8Array([1, 2, 255]),
      url: new URL("https://example.test/a?b"),
      ["__proto__"]: { polluted: true },
    };
    for (const snapshot of await recordingOf(() => step("values", () => value))) {
      const back = await runWith(() => step<typeof value>("values", unreached), { snapshot });
      expect(back).toStrictEqual(value);
      expect(Object.is(back.zero, -0)).toBe(true);
    }
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it("executes again only calls whose output could not be recorded", async () => {
    let liveCalls = 0;
    const program = async (): Promise<void> => {
      await step("plain", () => 1);
      await step("function", () => {
        liveCalls += 1;
        return { run: () => {} };
      });
    };
    for (const snapshot of await recordingOf(program)) {
      const before = liveCalls;
      await runWith(
        async () => {
          await step("plain", unreached);
          await step("function", () => {
            liveCalls += 1;
            return 2;
          });
        },
        { snapshot },
      );
      expect(liveCalls).toBe(before + 1);
      const rows = Object.values(snapshot.root.journal.other?.["step"] ?? {});
      expect(rows.find(({ error }) => error !== undefined)?.error).toMatch(/^\/run: /);
    }
  });

  it("applies memory changes that feed the prompt only once", async () => {
    const model = scriptedModel("m", (messages) => result(textOf(messages[0])));
    const agent = createAgent({
      id: "counter",
      model,
      handler: async () => {
        const [count, setCount] = equipMemory("count", 0);
        setCount(count + 1);
        equipInstruction(`round ${count}`);
        return (await promptAgent(Result)).result;
      },
    });
    for (const snapshot of await recordingOf(() => agent())) {
      const liveCalls = model.calls.length;
      const again = await runWith(
        async () => {
          expect(await agent()).toBe("round 0");
          return dumpSnapshot();
        },
        { snapshot },
      );
      expect(model.calls.length).toBe(liveCalls);
      expect(again.root.children["root/agent:counter:0"]?.memory).toEqual({ count: 1 });
      // The behavior of the original documentation is available as an option.
      await runWith(async () => expect(await agent()).toBe("round 1"), { snapshot, memory: "dump" });
    }
  });

  it("starts an agent without recorded calls with the dumped memory, and always applies edited keys", async () => {
    const seen: unknown[] = [];
    const idle = createAgent({
      id: "idle",
      handler: () => {
        const [count, setCount] = equipMemory("count", 0);
        seen.push(count);
        setCount(count + 1);
      },
    });
    const busy = createAgent({
      id: "busy",
      handler: async () => {
        const [count, setCount] = equipMemory("count", 0);
        const [kept] = equipMemory("kept", "k");
        await step("work", () => 1);
        seen.push([count, kept]);
        setCount(count + 1);
      },
    });
    const program = async (): Promise<void> => {
      await idle();
      await busy();
    };
    const [snapshot] = (await recordingOf(program)) as [AgentSnapshot];
    seen.length = 0;
    await runWith(program, { snapshot });
    expect(seen).toEqual([1, [0, "k"]]);
    seen.length = 0;
    for (const frame of Object.values(snapshot.root.children)) frame.memory["count"] = 50;
    await runWith(program, { snapshot });
    expect(seen).toEqual([50, [50, "k"]]);
  });

  it("starts in the generation that was running at the dump", async () => {
    let liveCalls = 0;
    const agent = createAgent<{ round: number }, unknown>({
      id: "again",
      handler: async ({ round }) => {
        const [log, setLog] = equipMemory<string[]>("log", []);
        const text = await step(`round ${round}`, () => {
          liveCalls += 1;
          return `did ${round}`;
        });
        setLog([...log, text]);
        return round < 2 ? reborn({ round: round + 1 }) : { log: [...log, text] };
      },
    });
    const expected = { log: ["did 0", "did 1", "did 2"] };
    for (const snapshot of await recordingOf(() => agent({ round: 0 }))) {
      const before = liveCalls;
      const again = await runWith(
        async () => {
          expect(await agent({ round: 0 })).toEqual(expected);
          return dumpSnapshot();
        },
        { snapshot },
      );
      expect(liveCalls).toBe(before);
      const frame = again.root.children["root/agent:again:0"];
      expect(frame?.generations?.map(({ id }) => id)).toEqual([0, 1]);
      expect(frame?.generation?.id).toBe(2);
    }
  });

  it("replays a handled failure as itself and retries the failure that ended the run", async () => {
    class QuotaError extends Error {
      override name = "QuotaError";
      code = "QUOTA";
    }
    let failing = true;
    let liveCalls = 0;
    const call = (name: string): Promise<string> =>
      step(name, () => {
        liveCalls += 1;
        if (failing) throw new QuotaError(`no quota for ${name}`, { cause: new TypeError("inner") });
        return "fine";
      });
    const handled = async (): Promise<unknown> => {
      const caught = await call("first").catch((error: unknown) => error);
      await step("next", () => 1);
      return caught;
    };
    for (const snapshot of await recordingOf(handled)) {
      const before = liveCalls;
      failing = false;
      const error = await runWith(handled, { snapshot });
      expect(error).toMatchObject({ name: "QuotaError", message: "no quota for first", code: "QUOTA" });
      expect((error as Error).cause).toBeInstanceOf(TypeError);
      expect(liveCalls).toBe(before);
      expect(await runWith(handled, { snapshot, failures: "retry" })).toBe("fine");
      failing = true;
    }
    const agent = createAgent({ id: "a", handler: () => call("last") });
    for (const snapshot of await recordingOf(() => agent())) {
      failing = false;
      expect(await runWith(() => agent(), { snapshot })).toBe("fine");
      failing = true;
      await expect(runWith(() => agent(), { snapshot, failures: "replay" })).rejects.toMatchObject({
        name: "QuotaError",
      });
    }
  });

  it("passes the memory of an agent's own snapshot to runWith", async () => {
    const agent = createAgent({
      id: "alone",
      handler: async () => {
        equipMemory("k", "v");
        await step("a", () => 1);
        return dumpSnapshot();
      },
    });
    const snapshot = (await agent()) as AgentSnapshot;
    expect(snapshot.root).toMatchObject({ callId: "root/agent:alone:0", agentId: "alone" });
    await runWith(() => expect(equipMemory("k", "other")[0]).toBe("v"), { snapshot });
    const spy = vi.fn();
    const replayer = createAgent({ id: "alone", handler: () => step("a", spy) });
    expect(await runWith(() => replayer(), { snapshot })).toBe(1);
    expect(spy).not.toHaveBeenCalled();
  });

  it("ends races as recorded, also under fake timers", async () => {
    const delays = { slow: 120, fast: 1, middle: 60 };
    const program = async (wait: (name: keyof typeof delays) => Promise<void>): Promise<unknown> => {
      const order: string[] = [];
      const call = (name: keyof typeof delays): Promise<string> =>
        runFrame({ id: name, input: {} }, () => step(name, () => wait(name)).then(() => name)).then((done) => {
          order.push(done);
          return done;
        });
      const calls = (Object.keys(delays) as (keyof typeof delays)[]).map(call);
      const first = await Promise.race(calls);
      await Promise.all(calls);
      return { first, order };
    };
    const live = (): Promise<unknown> => program((name) => sleep(delays[name]));
    const expected = { first: "fast", order: ["fast", "middle", "slow"] };
    for (const snapshot of await recordingOf(live)) {
      expect(await runWith(() => program(unreached), { snapshot })).toEqual(expected);
      vi.useFakeTimers();
      try {
        expect(await runWith(() => program(unreached), { snapshot })).toEqual(expected);
      } finally {
        vi.useRealTimers();
      }
    }
  });

  it("finds parallel sub-agents that start in another order, each with its own memory", async () => {
    const worker = createAgent<{ id: number }, string>({
      id: "worker",
      handler: async ({ id }) => {
        const [mine, setMine] = equipMemory("mine", id);
        setMine(mine);
        return step(`work ${mine}`, () => `done ${mine}`);
      },
    });
    const program = (order: number[]) => async (): Promise<unknown> => {
      const results = new Map<number, string>();
      await Promise.all(order.map(async (id) => results.set(id, await worker({ id }))));
      return [...results].toSorted();
    };
    const expected = [
      [1, "done 1"],
      [2, "done 2"],
      [3, "done 3"],
    ];
    for (const snapshot of await recordingOf(program([1, 2, 3]))) {
      const execute = vi.fn();
      const replay = await runWith(
        async () => {
          const value = await program([3, 1, 2])();
          return { value, dump: dumpSnapshot() };
        },
        { snapshot },
      );
      expect(replay.value).toEqual(expected);
      expect(execute).not.toHaveBeenCalled();
      const memories = Object.values(replay.dump.root.children).map(({ memory }) => memory["mine"]);
      expect(memories).toEqual([3, 1, 2]);
    }
  });

  it("that fails early loses nothing: a dump in the middle keeps the calls not reached yet", async () => {
    const agent = (failAt: number, liveCalls: string[]) =>
      createAgent({
        id: "long",
        handler: async () => {
          for (let at = 0; at < 10; at += 1) {
            if (at === failAt) throw new Error(`failed at ${at}`);
            await step(`part ${at}`, () => {
              liveCalls.push(`part ${at}`);
              return at;
            });
          }
          return "done";
        },
      });
    const dumpOf = (failAt: number, liveCalls: string[], snapshot?: AgentSnapshot): Promise<AgentSnapshot> =>
      runWith(
        async () => {
          await expect(agent(failAt, liveCalls)()).rejects.toThrow(`failed at ${failAt}`);
          return dumpSnapshot();
        },
        snapshot === undefined ? {} : { snapshot },
      );
    const liveCalls: string[] = [];
    let snapshot = await dumpOf(8, liveCalls);
    // Each attempt fails earlier than the one before, and its dump replaces the earlier dump.
    for (const failAt of [5, 2, 0]) {
      snapshot = await dumpOf(failAt, liveCalls, snapshot);
      snapshot = parseSnapshot(stringifySnapshot(snapshot));
    }
    expect(liveCalls).toHaveLength(8);
    expect(await runWith(() => agent(-1, liveCalls)(), { snapshot })).toBe("done");
    expect(liveCalls).toEqual(Array.from({ length: 10 }, (_, at) => `part ${at}`));
  });

  it("rejects a tool output that cannot be restored, like any other failure", async () => {
    const tool: Tool = {
      name: "open",
      description: "",
      parameters: z.object({}),
      handler: () => ({ handle: { close: () => {} } }),
    };
    await runWith(async () => {
      await expect(callTool(tool, {})).rejects.toMatchObject({
        name: "InvalidToolOutputError",
        toolName: "open",
        path: "/handle/close",
      });
      const dump = dumpSnapshot();
      expect(dump.root.calls?.[0]?.error?.name).toBe("InvalidToolOutputError");
    });
  });
});
