import {
  createAgent,
  equipInstruction,
  equipMemory,
  promptAgent,
  runFrame,
  runWith,
  type AgentFrameSnapshot,
  type AgentSnapshot,
  type ErrorInfo,
} from "agent-rewind";
import { forkSnapshot, type ForkChange } from "agent-rewind/debugger";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import {
  at,
  callsIn,
  forkError,
  forks,
  frameOf,
  parsed,
  record,
  replayed,
  type Program,
  type Step,
} from "./support/fork.js";
import { result, scriptedModel, textOf } from "./support/scripted-model.js";
import { recorded } from "./support/traces.js";

describe("forkSnapshot: output", () => {
  const steered: Program<string> = async (step) => {
    const choice = await step("choose", () => "left");
    return step(`go ${choice}`);
  };

  it("steers the run", async () => {
    const source = await record(steered);
    for (const fork of forks(source, { at: at("choose"), output: "right" })) {
      expect(await replayed(steered, fork)).toEqual({ result: "go right!", liveCalls: ["go right"] });
    }
    for (const fork of forks(source, { at: at("choose"), output: "left" })) {
      expect(await replayed(steered, fork)).toEqual({ result: "go left!", liveCalls: [] });
    }
  });

  it("replaces one occurrence, whether or not it is the last", async () => {
    const program: Program<number[]> = async (step) => [
      await step("n", () => 0),
      await step("n", () => 1),
      await step("n", () => 2),
    ];
    const source = await record(program);
    for (const occurrence of [0, 1, 2]) {
      for (const fork of forks(source, { at: at("n", occurrence), output: 50 })) {
        expect(await replayed(program, fork)).toEqual({ result: [0, 1, 2].with(occurrence, 50), liveCalls: [] });
      }
    }
    const { contentHash = "" } = parsed(source).root.calls?.[0] ?? {};
    const [fork] = forks(source, [
      { at: { contentHash }, output: 51 },
      { at: { contentHash, occurrence: 0, frame: "root", kind: "step" }, output: 49 },
    ]) as [AgentSnapshot];
    expect((await replayed(program, fork)).result).toEqual([49, 1, 51]);
  });

  it.each([
    ["undefined", undefined],
    ["a Date", new Date(5)],
    ["a BigInt in a Map", new Map([["n", 12345678901234567890n]])],
    [
      "bytes, NaN and a URL",
      { bytes: new Uint8Array([1, 255]), nan: Number.NaN, url: new URL("https://example.test/") },
    ],
    ["a key __proto__", JSON.parse('{"__proto__":{"polluted":true}}')],
    ["null", null],
  ])("can be %s", async (_what, output) => {
    const program: Program = (step) => step("value", () => new Set([1]) as unknown);
    for (const fork of forks(await record(program), { at: at("value"), output })) {
      const back = await replayed(program, fork);
      expect(back).toStrictEqual({ result: output, liveCalls: [] });
    }
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it("replaces a failure, a value that could not be recorded, and a missing output", async () => {
    const program: Program = async (step) => {
      const failed = await step<unknown>("failing", () => Promise.reject(new Error("no"))).catch(() => "caught");
      const value = await step<unknown>("function", () => () => {});
      void step<unknown>("hanging", () => new Promise(() => {}));
      return [failed, typeof value];
    };
    const source = await record(program);
    const changes = ["failing", "function", "hanging"].map((name): ForkChange => ({ at: at(name), output: name }));
    for (const fork of forks(source, changes)) {
      expect(await replayed(program, fork)).toEqual({ result: ["failing", "string"], liveCalls: [] });
      expect(callsIn(fork.root).filter((call) => call.error ?? call.tombstone)).toEqual([]);
    }
  });

  it("of a prompt is the assistant message", async () => {
    const model = scriptedModel("m", (messages) => result(`<${textOf(messages[0])}>`));
    const agent = createAgent<{ topic: string }, string>({
      id: "writer",
      model,
      handler: async ({ topic }) => {
        equipInstruction(topic);
        return (await promptAgent(z.object({ result: z.string() }))).result;
      },
    });
    const program: Program<string> = async () => agent({ topic: await agent({ topic: "one" }) });
    const source = await record(program);
    const prompt = "root/agent:writer:0/prompt:m:0";
    for (const fork of forks(source, { at: prompt, output: { role: "assistant", content: '{"result":"two"}' } })) {
      const before = model.calls.length;
      expect((await replayed(program, fork)).result).toBe("<two>");
      expect(model.calls.length).toBe(before + 1);
    }
    expect(forkError(source, { at: prompt, output: "two" })).toMatchObject({ path: "changes.output", at: prompt });
    expect(forkError(source, { at: prompt, output: "two" }).message).toContain('{ role: "assistant", content: "…" }');
  });

  it("combined with drop keeps the call and removes everything after it", async () => {
    const program: Program<string[]> = async (step) => [await step("a"), await step("b"), await step("c")];
    const source = await record(program);
    const expected = { result: ["a!", "other", "c!"], liveCalls: ["c"] };
    for (const fork of forks(source, { at: at("b"), drop: true, output: "other" }))
      expect(await replayed(program, fork)).toEqual(expected);
    for (const fork of forks(source, [
      { at: at("b"), output: "other" },
      { at: at("b"), drop: true },
    ])) {
      expect(await replayed(program, fork)).toEqual(expected);
    }
  });

  it("applies to calls in completed frames, also when their results are reused", async () => {
    const inner = (name: string, step: Step): Promise<string> =>
      runFrame({ id: name, input: {} }, () => step(`in ${name}`));
    const program: Program<string[]> = async (step) => [await inner("x", step), await inner("y", step)];
    const source = await record(program);
    for (const fork of forks(source, { at: "root/agent:x:0/step:in x:0", output: "other" })) {
      for (const completedFrames of ["rerun", "reuse"] as const) {
        expect(await replayed(program, fork, { completedFrames })).toEqual({
          result: ["other", "in y!"],
          liveCalls: [],
        });
      }
    }
    for (const fork of forks(source, { at: "root/agent:y:0", output: new Date(3) })) {
      expect((await replayed(program, fork, { completedFrames: "reuse" })).result).toEqual(["in x!", new Date(3)]);
      expect((await replayed(program, fork)).result).toEqual(["in x!", "in y!"]);
    }
  });
});

describe("forkSnapshot: error", () => {
  const program: Program<unknown> = async (step) => {
    await step("a");
    return step("b").catch((error: unknown) => error);
  };

  it("makes a call fail, also the last one", async () => {
    class QuotaError extends Error {
      override name = "QuotaError";
      code = "QUOTA";
    }
    const source = await record(program);
    for (const fork of forks(source, {
      at: at("b"),
      error: new QuotaError("none left", { cause: new TypeError("inner") }),
    })) {
      const { result: error, liveCalls } = await replayed(program, fork);
      expect(error).toMatchObject({
        name: "QuotaError",
        message: "none left",
        code: "QUOTA",
        cause: { name: "TypeError" },
      });
      expect(liveCalls).toEqual([]);
      expect(Object.values(fork.root.journal.other ?? {}).flatMap((rows) => Object.keys(rows))).toHaveLength(1);
      expect((await replayed(program, fork, { failures: "retry" })).liveCalls).toEqual(["b"]);
    }
    const info: ErrorInfo = { name: "TypeError", message: "by hand" };
    for (const fork of forks(source, { at: at("b"), error: info })) {
      expect((await replayed(program, fork)).result).toBeInstanceOf(TypeError);
    }
    for (const fork of forks(source, { at: at("a"), error: info })) {
      await expect(replayed(program, fork)).rejects.toThrow("by hand");
    }
  });

  it("of a sub-agent is thrown when its result is reused", async () => {
    const careful: Program<unknown> = (step) =>
      runFrame({ id: "x", input: {} }, () => step("a")).catch((error: unknown) => error);
    for (const fork of forks(await record(careful), { at: "root/agent:x:0", error: new RangeError("no x") })) {
      expect((await replayed(careful, fork, { completedFrames: "reuse" })).result).toEqual(new RangeError("no x"));
      expect(await replayed(careful, fork)).toEqual({ result: "a!", liveCalls: [] });
    }
  });
});

describe("forkSnapshot: memory", () => {
  const busy: Program<unknown[]> = async (step) =>
    runFrame({ id: "busy", input: {} }, async () => {
      const [count, setCount] = equipMemory("count", 0);
      const [kept] = equipMemory("kept", "k");
      await step("work");
      setCount(count + 1);
      return [count, kept];
    });
  const frame = "root/agent:busy:0";

  it.each([
    ["changed", { count: 40 }, [40, "k"]],
    ["changed to what it is at the end", { count: 1 }, [1, "k"]],
    ["changed to what it was at the start", { count: 0 }, [0, "k"]],
    ["taken out", { kept: undefined }, [0, "fresh"]],
    ["both", { count: 7, kept: "other" }, [7, "other"]],
  ])(
    "%s wins over the recorded value, at the start of the frame and as the current value",
    async (_what, memory, expected) => {
      const again: Program<unknown[]> = (step) =>
        runFrame({ id: "busy", input: {} }, async () => {
          const [count] = equipMemory("count", 0);
          const [kept] = equipMemory("kept", "fresh");
          await step("work");
          return [count, kept];
        });
      for (const fork of forks(await record(busy), { at: frame, memory })) {
        expect(await replayed(again, fork)).toEqual({ result: expected, liveCalls: [] });
        expect((await replayed(again, fork, { memory: "start" })).result).toEqual(expected);
        const [count] = "count" in memory ? expected : [1];
        expect((await replayed(again, fork, { memory: "dump" })).result).toEqual([count, expected[1]]);
        // The change also survives in a fork of the fork with other changes.
        for (const second of [forkSnapshot(fork, []), forkSnapshot(fork, { at: `${frame}/step:work:0`, drop: true })]) {
          expect((await replayed(again, second)).result).toEqual(expected);
        }
      }
    },
  );

  it("adds keys of any name to a frame without memory", async () => {
    const plain: Program = (step) =>
      runFrame({ id: "plain", input: {} }, async () => {
        await step("work");
        return [equipMemory<unknown>("added", "initial")[0], equipMemory<unknown>("__proto__", "initial")[0]];
      });
    const memory = JSON.parse('{"added":{"list":[1]},"__proto__":{"polluted":true}}') as Record<string, unknown>;
    const source = await record((step) => runFrame({ id: "plain", input: {} }, () => step("work")));
    for (const fork of forks(source, { at: "root/agent:plain:0", memory })) {
      const { result: seen, liveCalls } = await replayed(plain, fork);
      expect(JSON.stringify(seen)).toBe('[{"list":[1]},{"polluted":true}]');
      expect(liveCalls).toEqual([]);
    }
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it("changes the memory that the root and frames of old dumps read", async () => {
    const read = (): Promise<unknown> => runWith(() => equipMemory("k", "initial")[0], { snapshot });
    let snapshot = forkSnapshot(await record(async () => equipMemory("k", "v")), { at: "root", memory: { k: "root" } });
    expect(await read()).toBe("root");
    const [old] = Object.values(recorded("f-reborn-3").dump("mid").root.children) as [AgentFrameSnapshot];
    snapshot = forkSnapshot(recorded("f-reborn-3").dump("mid"), {
      at: old.callId,
      memory: { attempts: 9, log: undefined },
    });
    expect(frameOf(snapshot, old.callId).memory).toEqual({ attempts: 9 });
  });

  it("returns to the memory at the start only in frames that lost calls", async () => {
    const counting = (name: string, step: Step): Promise<number> =>
      runFrame({ id: name, input: {} }, async () => {
        const [count, setCount] = equipMemory("count", 0);
        await step(`${name}1`);
        setCount(count + 1);
        await step(`${name}2`);
        return count;
      });
    const program: Program = async (step) => [await counting("x", step), await counting("y", step)];
    const source = await record(program);
    for (const fork of forks(source, { at: "root/agent:y:0/step:y2:0", drop: true })) {
      expect(frameOf(fork, "root/agent:x:0").memory).toEqual({ count: 1 });
      expect(frameOf(fork, "root/agent:y:0").memory).toEqual({ count: 0 });
    }
    // All recorded calls of the frame are removed, so it starts with its original memory.
    for (const fork of forks(source, { at: "root/agent:y:0/step:y1:0", drop: true })) {
      expect(await replayed(program, fork)).toEqual({ result: [0, 0], liveCalls: ["y1", "y2"] });
    }
  });

  it("combined with drop is the memory that the sub-agent starts with", async () => {
    for (const fork of forks(await record(busy), { at: frame, drop: true, memory: { count: 5 } })) {
      expect(await replayed(busy, fork)).toEqual({ result: [5, "k"], liveCalls: ["work"] });
    }
  });

  it("is rejected for anything but frames", async () => {
    const error = forkError(await record(busy), { at: `${frame}/step:work:0`, memory: { count: 1 } });
    expect(error).toMatchObject({ path: "changes.memory", known: [frame] });
    expect(error.message).toContain(JSON.stringify(frame));
  });
});
