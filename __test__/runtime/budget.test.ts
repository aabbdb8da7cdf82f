import {
  callTool,
  createAgent,
  equipInstruction,
  getUsageStats,
  journalCall,
  promptAgent,
  recordToolUsage,
  runWith,
  type AgentFrameSnapshot,
  type AgentSnapshot,
  type BudgetState,
  type Tool,
  type TraceEvent,
  type UsageStats,
} from "agent-rewind";
import { dumpSnapshot, restoreSnapshot } from "agent-rewind/debugger";
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";

import { recorder } from "../support/recorder.js";
import { result, scriptedModel, textOf } from "../support/scripted-model.js";

const Result = z.object({ result: z.string() });

/** A model whose calls use 10 + 7 tokens and cost 17 microcents. */
const cheap = scriptedModel("cheap", (messages) => result(textOf(messages[0])));
cheap.calculateCost = ({ totalTokens }) => ({ microcents: totalTokens });
/** The same with a provider and in another currency. */
const dear = scriptedModel("dear", (messages) => result(textOf(messages[0])), { provider: "p" });
dear.calculateCost = () => ({ euros: 2 });

const scrape: Tool = {
  name: "scrape",
  description: "",
  parameters: z.object({ pages: z.number() }),
  handler: ({ pages }: { pages: number }) => {
    recordToolUsage({ name: "scraper", costs: { microcents: 5 * pages }, quantity: pages, unit: "page" });
    return pages;
  },
};

const ask = async (text: string): Promise<string> => {
  equipInstruction(text);
  return (await promptAgent(Result)).result;
};
const leaf = createAgent<{ text: string }, BudgetState>({
  id: "leaf",
  model: dear,
  handler: async ({ text }) => {
    await ask(text);
    return getUsageStats();
  },
});
const top = createAgent<undefined, BudgetState[]>({
  id: "top",
  handler: async () => {
    await ask("top");
    await callTool(scrape, { pages: 3 });
    const leaves = await Promise.all([leaf({ text: "a" }), leaf({ text: "b" })]);
    return [getUsageStats(), ...leaves];
  },
});

const model = (stats: Partial<UsageStats>): UsageStats => ({
  costs: {},
  promptTokens: 0,
  completionTokens: 0,
  totalTokens: 0,
  callCount: 0,
  items: [],
  ...stats,
});
const tokens = (calls: number) => ({
  promptTokens: 10 * calls,
  completionTokens: 7 * calls,
  totalTokens: 17 * calls,
  callCount: calls,
});
const cheapItem = {
  type: "model",
  name: "cheap",
  costs: { microcents: 17 },
  tokens: { prompt: 10, completion: 7, total: 17 },
} as const;
const scrapeItem = { type: "tool", name: "scraper", costs: { microcents: 15 }, quantity: 3, unit: "page" } as const;
const dearItem = (calls: number) =>
  ({
    type: "model",
    name: "dear",
    provider: "p",
    costs: { euros: 2 * calls },
    tokens: { prompt: 10 * calls, completion: 7 * calls, total: 17 * calls },
  }) as const;

const leafStats = model({ ...tokens(1), costs: { euros: 2 }, items: [dearItem(1)] });
const topOwn = model({ ...tokens(1), costs: { microcents: 32 }, items: [cheapItem, scrapeItem] });
const whole = model({ ...tokens(3), costs: { microcents: 32, euros: 4 }, items: [cheapItem, scrapeItem, dearItem(2)] });
const leafBudget: BudgetState = { own: leafStats, aggregate: leafStats };
const topBudget: BudgetState = { own: topOwn, aggregate: whole };
const runBudget: BudgetState = { own: model({}), aggregate: whole };

const bus = recorder();
let budgets: BudgetState[];
let afterTop: BudgetState;
let dump: AgentSnapshot;

beforeAll(async () => {
  await runWith(
    async () => {
      budgets = await top();
      afterTop = getUsageStats();
      dump = dumpSnapshot();
    },
    { model: cheap, eventBus: bus },
  );
});

const budgetsOf = (root: AgentFrameSnapshot, all: Record<string, BudgetState> = {}): Record<string, BudgetState> => {
  all[root.callId] = root.budgetState;
  for (const child of Object.values(root.children)) budgetsOf(child, all);
  return all;
};

const frames = {
  "root/agent:top:0": topBudget,
  "root/agent:top:0/agent:leaf:0": leafBudget,
  "root/agent:top:0/agent:leaf:1": leafBudget,
};

describe("the budget of a frame", () => {
  it("counts its own usage, and its usage including sub-agents", () => {
    // The leaves run in parallel. Each has its own budget.
    expect(budgets).toEqual([topBudget, leafBudget, leafBudget]);
    expect(afterTop).toEqual(runBudget);
  });

  it("is in the dump and is restored from the trace", () => {
    expect(budgetsOf(dump.root)).toEqual({ root: runBudget, ...frames });
    const restored = restoreSnapshot(JSON.parse(JSON.stringify(bus.events)) as TraceEvent[]);
    expect(budgetsOf(restored.root)).toEqual(frames);
  });

  it("is reported by an event for each use, with the frame's own usage and the aggregate", () => {
    const updates = bus.of("budget:update");
    expect(updates.map(({ agentId, identifiers }) => [agentId, ...identifiers])).toEqual([
      ["top", "model::cheap"],
      ["top", expect.stringContaining("scraper") as string],
      ["leaf", "model:p:dear"],
      ["leaf", "model:p:dear"],
    ]);
    expect(updates.map(({ delta }) => delta)).toEqual([
      model({ ...tokens(1), costs: { microcents: 17 }, items: [cheapItem] }),
      model({ costs: { microcents: 15 }, items: [scrapeItem] }),
      leafStats,
      leafStats,
    ]);
    expect(updates.map(({ own }) => own.callCount)).toEqual([1, 1, 1, 1]);
    expect(updates[1]?.own).toEqual(topOwn);
    expect(bus.of("runWith:end")).toMatchObject([
      {
        metrics: {
          totalTokens: 51,
          totalPromptTokens: 30,
          totalCompletionTokens: 21,
          costs: { microcents: 32, euros: 4 },
        },
      },
    ]);
  });

  it("is the same when snapshots are off", async () => {
    await runWith(
      async () => {
        expect(await top()).toEqual([topBudget, leafBudget, leafBudget]);
        expect(getUsageStats()).toEqual(runBudget);
      },
      { model: cheap, enableSnapshot: false },
    );
  });
});

describe("the budget of a replay", () => {
  it("is the recorded one from the start, and replayed calls add nothing", async () => {
    const restored = restoreSnapshot(bus.events);
    for (const snapshot of [dump, JSON.parse(JSON.stringify(dump)) as AgentSnapshot, restored]) {
      const seen = recorder();
      await runWith(
        async () => {
          expect(getUsageStats().aggregate).toEqual(whole);
          expect(await top()).toEqual([topBudget, leafBudget, leafBudget]);
          expect(getUsageStats().aggregate).toEqual(whole);
          const again = dumpSnapshot();
          expect(budgetsOf(again.root)).toMatchObject(frames);
          expect(again.root.budgetState.aggregate).toEqual(whole);
        },
        { snapshot, model: cheap, eventBus: seen },
      );
      expect(seen.of("budget:update")).toEqual([]);
      expect(seen.of("runWith:end")).toMatchObject([{ metrics: { totalTokens: 51 } }]);
    }
  });

  it("grows with live calls beyond the recording", async () => {
    await runWith(
      async () => {
        await top();
        const more = await leaf({ text: "c" });
        expect(more).toEqual(leafBudget);
        expect(getUsageStats().aggregate).toEqual(
          model({ ...tokens(4), costs: { microcents: 32, euros: 6 }, items: [cheapItem, scrapeItem, dearItem(3)] }),
        );
      },
      { snapshot: dump, model: cheap },
    );
  });

  it("starts in the middle of a run with the usage up to the dump", async () => {
    const spanId = bus.of("turn:end")[0]?.trace.spanId ?? "";
    const snapshot = restoreSnapshot(bus.events, { spanId });
    expect(budgetsOf(snapshot.root)).toEqual({
      "root/agent:top:0": {
        own: model({ ...tokens(1), costs: { microcents: 17 }, items: [cheapItem] }),
        aggregate: model({ ...tokens(1), costs: { microcents: 17 }, items: [cheapItem] }),
      },
    });
    await runWith(async () => expect(await top()).toEqual([topBudget, leafBudget, leafBudget]), {
      snapshot,
      model: cheap,
    });
  });
});

describe("calls other than successful model calls", () => {
  it("add nothing: failed calls, tools, the program's own calls", async () => {
    const failing = scriptedModel("failing", () => Promise.reject(new Error("no")));
    await runWith(
      async () => {
        await createAgent({ id: "a", handler: () => ask("x") })().catch(() => {});
        await callTool({ ...scrape, handler: () => 1 }, { pages: 1 });
        await journalCall({ kind: "k", name: "n", request: 1 }, () => 1);
        expect(getUsageStats()).toEqual({ own: model({}), aggregate: model({}) });
      },
      { model: failing },
    );
  });
});
