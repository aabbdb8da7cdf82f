import {
  captureContext,
  createAgent,
  equipInstruction,
  equipMemory,
  getContext,
  promptAgent,
  runWith,
} from "agent-rewind";
import { dumpSnapshot } from "agent-rewind/debugger";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { result, scriptedModel } from "../support/scripted-model.js";

/** The memory of the current frame, as in a dump. */
function dumped(): Record<string, unknown> {
  let frame = dumpSnapshot().root;
  const { callId } = getContext() ?? {};
  for (;;) {
    if (frame.callId === callId) return frame.memory;
    const next = Object.values(frame.children).find((child) => callId?.startsWith(child.callId));
    if (next === undefined) throw new Error(`no frame ${callId}`);
    frame = next;
  }
}

/** Runs a function in an agent and in the frame of runWith. */
function everywhere(what: string, checkMemory: () => unknown): void {
  it(`${what}, in an agent`, async () => {
    const checkInAgent = createAgent({ id: "a", handler: () => checkMemory() as Promise<unknown> });
    await checkInAgent();
    await runWith(() => checkInAgent());
  });
  it(`${what}, in the frame of runWith`, async () => {
    const checkInRun = (): Promise<unknown> => runWith(checkMemory);
    await checkInRun();
  });
}

describe("equipMemory", () => {
  everywhere("keeps its initial value until it is set", () => {
    const [first, set] = equipMemory("k", { n: 1 });
    expect(first).toEqual({ n: 1 });
    expect(equipMemory("k", { n: 2 })[0]).toEqual({ n: 1 });
    set({ n: 3 });
    expect(first).toEqual({ n: 1 });
    expect(equipMemory("k", { n: 2 })[0]).toEqual({ n: 3 });
    expect(dumped()).toEqual({ k: { n: 3 } });
  });

  everywhere("sets a value by a function of the latest value", async () => {
    const [, set] = equipMemory("n", 0);
    await Promise.all([1, 2, 3].map(async (each) => set((n) => n + each)));
    equipMemory("n", 0)[1]((n) => n * 2);
    expect(equipMemory("n", 0)[0]).toBe(12);
  });

  everywhere("returns and accepts copies", () => {
    const initial = { list: [1] };
    const [read, set] = equipMemory("k", initial);
    initial.list.push(2);
    read.list.push(3);
    expect(equipMemory("k", initial)[0]).toEqual({ list: [1] });
    const next = { list: [4] };
    set(next);
    next.list.push(5);
    expect(equipMemory("k", initial)[0]).toEqual({ list: [4] });
    let kept: { list: number[] } | undefined;
    set((previous) => {
      previous.list.push(6);
      kept = previous;
      return previous;
    });
    kept?.list.push(7);
    const { memory } = captureContext();
    (memory.get("k") as { list: number[] }).list.push(8);
    memory.set("other", 1);
    expect([...captureContext().memory]).toEqual([["k", { list: [4, 6] }]]);
    const snapshot = dumped();
    (snapshot["k"] as { list: number[] }).list.push(9);
    expect(dumped()).toEqual({ k: { list: [4, 6] } });
  });

  everywhere("stores any JSON under any key", () => {
    const values = {
      "": null,
      a: false,
      "0": 0,
      "a/b.c~d": "",
      __proto__x: [[], {}],
      "\ud83d": "\ud83d",
      nested: { deep: [{ x: 1.5e300 }] },
    };
    for (const [key, value] of Object.entries(values)) expect(equipMemory<unknown>(key, value)[0]).toEqual(value);
    equipMemory("__proto__", { polluted: true });
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    expect(equipMemory("__proto__", 0)[0]).toEqual({ polluted: true });
    expect(Object.keys(dumped()).toSorted()).toEqual([...Object.keys(values), "__proto__"].toSorted());
  });

  describe.each<[string, unknown, RegExp]>([
    ["undefined", undefined, /the value cannot be kept: undefined/],
    ["a member that is undefined", { a: [{ b: undefined }] }, /\/a\/0\/b cannot be kept: undefined/],
    ["a function in an array", [() => {}], /\/0 cannot be kept: function/],
    ["a date", { when: new Date(0) }, /\/when cannot be kept: date/],
    ["NaN", { n: Number.NaN }, /\/n cannot be kept: number/],
    ["a BigInt", 1n, /the value cannot be kept: bigint/],
    ["a map", { m: new Map() }, /\/m cannot be kept: map/],
    ["a class instance", { e: new Error("x") }, /\/e cannot be kept: instance of Error/],
    ["a symbol", Symbol("s"), /the value cannot be kept: symbol/],
  ])("rejects %s with a TypeError that names the key and the path", (_what, value, message) => {
    everywhere("as the initial value and later, and keeps its value", () => {
      expect(() => equipMemory<unknown>("new", value)).toThrow(TypeError);
      expect(() => equipMemory<unknown>("new", value)).toThrow(message);
      expect(() => equipMemory<unknown>("new", value)).toThrow('equipMemory("new")');
      const [, set] = equipMemory<unknown>("kept", 1);
      // A function would be called to compute the next value.
      expect(() => set(() => value)).toThrow(message);
      if (typeof value !== "function") expect(() => set(value)).toThrow(TypeError);
      expect(dumped()).toEqual({ kept: 1 });
    });
  });

  it("rejects keys that are not strings", async () => {
    for (const key of [undefined, 1, null, Symbol("s")]) {
      await runWith(() => {
        expect(() => equipMemory(key as never, 1)).toThrow(TypeError);
        expect(dumped()).toEqual({});
      });
    }
  });

  it("rejects circular references and endless nesting", async () => {
    const loop: Record<string, unknown> = {};
    loop["self"] = loop;
    let deep: unknown = 1;
    for (let level = 0; level < 2_000; level += 1) deep = [deep];
    await runWith(() => {
      expect(() => equipMemory("loop", loop)).toThrow(
        /\/self cannot be kept: reference to an object that it is part of/,
      );
      expect(() => equipMemory("deep", deep)).toThrow(/nested deeper than 1,000 levels/);
    });
  });

  it("keeps memory per call of an agent: another call of the same agent has its own", async () => {
    const agent = createAgent<{ n: number }, number>({
      id: "a",
      handler: ({ n }) => {
        const [seen, set] = equipMemory("seen", 0);
        set(n);
        return seen;
      },
    });
    await runWith(async () => {
      equipMemory("seen", 100);
      expect([
        await agent({ n: 1 }),
        await agent({ n: 1 }),
        ...(await Promise.all([agent({ n: 3 }), agent({ n: 4 })])),
      ]).toEqual([0, 0, 0, 0]);
      const { memory, children } = dumpSnapshot().root;
      expect([memory, ...Object.values(children).map((frame) => frame.memory)]).toEqual(
        [100, 1, 1, 3, 4].map((seen) => ({ seen })),
      );
    });
  });

  it("allows changes after the prompt", async () => {
    const agent = createAgent({
      id: "a",
      model: scriptedModel("m", () => result("answer")),
      handler: async () => {
        const [, set] = equipMemory("answer", "none");
        equipInstruction("go");
        set((await promptAgent(z.object({ result: z.string() }))).result);
        equipMemory("new", 1);
        return dumped();
      },
    });
    expect(await agent()).toEqual({ answer: "answer", new: 1 });
  });

  it("does not record a change after the agent has ended", async () => {
    let setLater: (value: number) => void = () => {};
    const agent = createAgent({
      id: "a",
      handler: () => {
        [, setLater] = equipMemory("n", 1);
      },
    });
    await runWith(async () => {
      await agent();
      setLater(2);
      expect(Object.values(dumpSnapshot().root.children)[0]?.memory).toEqual({ n: 1 });
    });
  });

  it("keeps memory when snapshots are off", async () => {
    await runWith(
      () => {
        equipMemory("n", 1)[1](2);
        expect(equipMemory("n", 0)[0]).toBe(2);
      },
      { enableSnapshot: false },
    );
  });
});
