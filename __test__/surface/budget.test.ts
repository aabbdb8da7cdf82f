import {
  createAgent,
  equipBudget,
  equipInstruction,
  getAbortHandle,
  getContext,
  getUsageStats,
  promptAgent,
  reborn,
  recordToolUsage,
  runWith,
  type BudgetUpdate,
  type ModelAdapter,
  type ToolUsage,
} from "agent-rewind";
import { dumpSnapshot } from "agent-rewind/debugger";
import { afterEach, beforeEach, describe, expect, it, vi, type MockInstance } from "vitest";
import { z } from "zod";

import { recorder } from "../support/recorder.js";
import { result, scriptedModel } from "../support/scripted-model.js";

const Result = z.object({ result: z.string() });
const search = (quantity = 1, details?: Record<string, unknown>): ToolUsage => ({
  name: "search",
  costs: { cents: 2 * quantity },
  quantity,
  unit: "request",
  ...(details === undefined ? {} : { details }),
});

let warn: MockInstance<typeof console.warn>;
beforeEach(() => {
  warn = vi.spyOn(console, "warn").mockImplementation(() => {});
});
afterEach(() => warn.mockRestore());

describe("equipBudget", () => {
  const writer = createAgent<{ text: string }>({
    id: "writer",
    model: scriptedModel("m", () => result("ok")),
    handler: ({ text }) => {
      equipInstruction(text);
      return promptAgent(Result);
    },
  });

  it("reports every use in the frame and under it, with the frame's own figures", async () => {
    const inner: BudgetUpdate[] = [];
    const outer: BudgetUpdate[] = [];
    const parent = createAgent({
      id: "parent",
      handler: async () => {
        equipBudget({ onUpdate: (update) => inner.push(update) });
        recordToolUsage(search());
        await writer({ text: "a" });
      },
    });
    await runWith(async () => {
      equipBudget({ onUpdate: (update) => outer.push(update) });
      await parent();
      // The parent agent has ended, so a use of its sibling does not count for it.
      await writer({ text: "b" });
    });
    expect(
      inner.map(({ delta, own, aggregate }) => [delta.callCount, own.totalTokens, aggregate.totalTokens, own.costs]),
    ).toEqual([
      [0, 0, 0, { cents: 2 }],
      [1, 0, 17, { cents: 2 }],
    ]);
    expect(inner[1]).toMatchObject({
      delta: { promptTokens: 10, completionTokens: 7, totalTokens: 17, items: [{ type: "model", name: "m" }] },
      own: { callCount: 0, items: [{ type: "tool", name: "search" }] },
      aggregate: { callCount: 1, items: [{ type: "tool" }, { type: "model" }] },
    });
    expect(outer.map(({ own, aggregate }) => [own.callCount, aggregate.callCount])).toEqual([
      [0, 0],
      [0, 1],
      [0, 2],
    ]);
  });

  it("runs its callback in the context where it was equipped, and can stop its agent there", async () => {
    const reason = new Error("too expensive");
    const spender = createAgent({
      id: "spender",
      handler: () => {
        recordToolUsage(search(3));
        return "spent";
      },
    });
    const saver = createAgent({
      id: "saver",
      handler: async () => {
        equipBudget({
          onUpdate: ({ aggregate }) => {
            expect(getContext()?.agentId).toBe("saver");
            if ((aggregate.costs["cents"] ?? 0) > 4) getAbortHandle().abort(reason);
          },
        });
        await spender();
      },
    });
    await runWith(async () => {
      await expect(saver()).rejects.toMatchObject({ name: "AbortError", reason });
      expect(getContext()?.signal.aborted).toBe(false);
    });
    expect(warn).not.toHaveBeenCalled();
  });

  it.each([
    [
      "throws",
      () => {
        throw new Error("broken");
      },
    ],
    ["rejects", () => Promise.reject(new Error("broken"))],
  ])("warns once when the callback %s, and changes nothing for the agent", async (_how, onUpdate) => {
    const agent = createAgent({
      id: "a",
      handler: () => {
        equipBudget({ onUpdate });
        for (let use = 0; use < 3; use += 1) recordToolUsage(search());
        return getUsageStats().own.costs;
      },
    });
    expect(await agent()).toEqual({ cents: 6 });
    await new Promise((resolve) => setImmediate(resolve));
    expect(warn).toHaveBeenCalledOnce();
    expect(warn.mock.calls[0]).toEqual([
      expect.stringContaining("equipBudget"),
      expect.objectContaining({ message: "broken" }),
    ]);
  });

  it("does not report usage that the callback itself causes", async () => {
    const updates: number[] = [];
    await runWith(() => {
      equipBudget({
        onUpdate: ({ own }) => {
          updates.push(own.items.length);
          recordToolUsage({ name: "metering", costs: { cents: 1 }, quantity: 1, unit: "call" });
        },
      });
      recordToolUsage(search());
      recordToolUsage(search());
      expect(getUsageStats().own.costs).toEqual({ cents: 6 });
    });
    expect(updates).toEqual([1, 2]);
  });

  it("lasts for one generation: equipped in each generation, it reports each use once", async () => {
    const updates: unknown[] = [];
    const agent = createAgent<{ round: number }>({
      id: "a",
      handler: ({ round }) => {
        equipBudget({ onUpdate: ({ own }) => updates.push(own.costs["cents"]) });
        recordToolUsage(search());
        return round < 3 ? reborn({ round: round + 1 }) : "done";
      },
    });
    await agent({ round: 1 });
    expect(updates).toEqual([2, 4, 6]);
  });

  it("does not report replayed calls, which use nothing", async () => {
    const updates: BudgetUpdate[] = [];
    const program = async (): Promise<unknown> => {
      equipBudget({ onUpdate: (update) => updates.push(update) });
      await writer({ text: "a" });
      return dumpSnapshot();
    };
    const snapshot = (await runWith(program)) as ReturnType<typeof dumpSnapshot>;
    expect(updates).toHaveLength(1);
    await runWith(
      async () => {
        // The usage before the dump counts from the start.
        expect(getUsageStats().aggregate.totalTokens).toBe(17);
        await program();
        expect(getUsageStats().aggregate.totalTokens).toBe(17);
      },
      { snapshot },
    );
    expect(updates).toHaveLength(1);
  });

  it("passes each callback its own copy of the delta", async () => {
    const deltas: unknown[] = [];
    await runWith(() => {
      equipBudget({
        onUpdate: ({ delta }) => {
          delta.costs["cents"] = 0;
        },
      });
      equipBudget({ onUpdate: ({ delta }) => deltas.push(delta.costs) });
      recordToolUsage(search());
    });
    expect(deltas).toEqual([{ cents: 2 }]);
  });

  it("requires a callback", async () => {
    await runWith(() => {
      expect(() => equipBudget({} as never)).toThrow("equipBudget: options.onUpdate must be a function");
    });
  });
});

describe("recordToolUsage", () => {
  it("counts uses with the same name, unit and details as one item", async () => {
    const { own } = await runWith(() => {
      recordToolUsage(search(1, { engine: "a", region: "eu" }));
      recordToolUsage(search(2, { region: "eu", engine: "a" }));
      recordToolUsage(search(1, { engine: "b" }));
      recordToolUsage(search());
      recordToolUsage({ ...search(), unit: "page" });
      recordToolUsage({ ...search(), name: "fetch" });
      return getUsageStats();
    });
    expect(own).toEqual({
      costs: { cents: 14 },
      promptTokens: 0,
      completionTokens: 0,
      totalTokens: 0,
      callCount: 0,
      items: [
        {
          type: "tool",
          name: "search",
          unit: "request",
          costs: { cents: 6 },
          quantity: 3,
          details: { engine: "a", region: "eu" },
        },
        { type: "tool", name: "search", unit: "request", costs: { cents: 2 }, quantity: 1, details: { engine: "b" } },
        { type: "tool", name: "search", unit: "request", costs: { cents: 2 }, quantity: 1 },
        { type: "tool", name: "search", unit: "page", costs: { cents: 2 }, quantity: 1 },
        { type: "tool", name: "fetch", unit: "request", costs: { cents: 2 }, quantity: 1 },
      ],
    });
  });

  it("is in the budget of the frame, in the aggregates above it, in the dump and in the trace", async () => {
    const sink = recorder();
    const crawler = createAgent({ id: "crawler", handler: () => recordToolUsage(search(2)) });
    const snapshot = await runWith(
      async () => {
        await crawler();
        return dumpSnapshot();
      },
      { eventBus: sink },
    );
    const usage = { costs: { cents: 4 }, items: [{ type: "tool", name: "search", quantity: 2 }] };
    const { root } = snapshot;
    expect(root.budgetState).toMatchObject({ own: { costs: {}, items: [] }, aggregate: usage });
    expect(root.children["root/agent:crawler:0"]?.budgetState).toMatchObject({ own: usage, aggregate: usage });
    const generation = sink.of("generation:start")[0];
    expect(sink.of("budget:update")).toMatchObject([
      {
        agentId: "crawler",
        trace: { parentSpanId: generation?.trace.spanId },
        identifiers: ["tool:search:request"],
        delta: usage,
        own: usage,
        aggregate: usage,
      },
    ]);
  });

  it("keeps earlier events unchanged when more is used", async () => {
    const sink = recorder();
    await runWith(
      () => {
        for (let use = 0; use < 3; use += 1) recordToolUsage(search(1, { use }));
      },
      { eventBus: sink },
    );
    expect(sink.of("budget:update").map(({ own }) => own.items.length)).toEqual([1, 2, 3]);
    expect(sink.of("budget:update").map(({ own }) => JSON.parse(JSON.stringify(own)).items.length)).toEqual([1, 2, 3]);
  });

  it("keeps many items apart", async () => {
    const { own } = await runWith(() => {
      for (let use = 0; use < 3000; use += 1) recordToolUsage(search(1, { url: `https://example.test/${use % 1500}` }));
      return getUsageStats();
    });
    expect(own.items).toHaveLength(1500);
    expect(new Set(own.items.map((item) => item.type === "tool" && item.quantity))).toEqual(new Set([2]));
    expect(own.costs).toEqual({ cents: 6000 });
  });

  it.each([
    ["name", { ...search(), name: "" }],
    ["unit", { ...search(), unit: undefined }],
    ["quantity", search(Number.NaN)],
    ["costs", { ...search(), costs: null }],
    ["costs.cents", { ...search(), costs: { cents: Number.POSITIVE_INFINITY } }],
    ["details", search(1, ["x"] as never)],
    ["details.page", search(1, { page: () => 1 })],
  ])("rejects a wrong %s by its name and counts nothing", async (path, usage) => {
    await runWith(() => {
      expect(() => recordToolUsage(usage as ToolUsage)).toThrow(`recordToolUsage: usage.${path} must be`);
      expect(getUsageStats().own.items).toEqual([]);
    });
  });

  it("requires a run or an agent", () => {
    expect(() => recordToolUsage(search())).toThrow(
      expect.objectContaining({ name: "ContextNotFoundError", apiName: "recordToolUsage" }),
    );
  });
});

describe("a model's usage", () => {
  function modelWith(parts: Partial<ModelAdapter>, usage: object): ModelAdapter {
    return {
      id: "m",
      async *stream() {
        yield { type: "text", content: '{"result":"ok"}' };
        yield { type: "usage", usage: usage as never };
      },
      ...parts,
    };
  }

  const usageOf = (model: ModelAdapter): Promise<ReturnType<typeof getUsageStats>["own"]> => {
    const agent = createAgent({
      id: "a",
      model,
      handler: async () => {
        expect(await promptAgent(Result)).toEqual({ result: "ok" });
        return getUsageStats().own;
      },
    });
    return agent();
  };

  const tokens = { promptTokens: 3, completionTokens: 2, totalTokens: 5 };

  it("is costed once, also without a finish event", async () => {
    const calculateCost = vi.fn(() => ({ cents: 4 }));
    const sink = recorder();
    const model = modelWith({ calculateCost }, { ...tokens, details: { cached: 1, note: "free" } });
    const own = await runWith(() => usageOf(model), { eventBus: sink });
    expect(own).toMatchObject({
      costs: { cents: 4 },
      totalTokens: 5,
      details: { cached: 1 },
      items: [{ costs: { cents: 4 } }],
    });
    expect(calculateCost).toHaveBeenCalledExactlyOnceWith({ ...tokens, details: { cached: 1, note: "free" } });
    expect(sink.of("model:call:end")).toMatchObject([{ success: true, costs: { cents: 4 }, usage: tokens }]);
    expect(sink.of("budget:update")[0]?.trace.parentSpanId).toBe(sink.of("model:call:end")[0]?.trace.spanId);
  });

  it("that cannot be costed does not lose the answer", async () => {
    const model = modelWith(
      {
        calculateCost: () => {
          throw new Error("no price");
        },
      },
      tokens,
    );
    expect(await usageOf(model)).toMatchObject({ costs: {}, totalTokens: 5, callCount: 1 });
    expect(await usageOf(model)).toMatchObject({ costs: {}, callCount: 1 });
    expect(warn).toHaveBeenCalledOnce();
    expect(warn.mock.calls[0]?.[0]).toContain('calculateCost of the model "m"');
  });

  it("that is not a number counts as nothing", async () => {
    const model = modelWith(
      { calculateCost: () => ({ cents: Number.NaN, credits: 1 }) },
      { totalTokens: null, promptTokens: 3 },
    );
    expect(await usageOf(model)).toMatchObject({
      costs: { credits: 1 },
      promptTokens: 3,
      totalTokens: 0,
      callCount: 1,
    });
  });
});
