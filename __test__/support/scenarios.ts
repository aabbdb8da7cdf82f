// The recorded scenarios, written again for this package: same agents, prompts and tools.

import {
  createAgent,
  equipInstruction,
  equipMemory,
  equipSystem,
  equipTool,
  promptAgent,
  type Tool,
} from "agent-rewind";
import { z } from "zod";

import { result, scriptedModel, textOf, toolCall, type ScriptedModel } from "./scripted-model.js";

const Result = z.object({ result: z.string() });

/** The numbers of live calls of a scenario's run. */
export interface Counts {
  model: number;
  tool: number;
}

export interface Scenario {
  run(): Promise<unknown>;
  counts(): Counts;
  expected: unknown;
}

function counted(models: ScriptedModel[], tools: { calls: number }): () => Counts {
  return () => ({ model: models.reduce((sum, model) => sum + model.calls.length, 0), tool: tools.calls });
}

function tool(
  counter: { calls: number },
  name: string,
  parameters: z.ZodType,
  handler: (input: never) => unknown,
): Tool {
  return {
    name,
    description: `tool ${name}`,
    parameters,
    handler: async (input: never) => {
      counter.calls += 1;
      await new Promise((resolve) => setImmediate(resolve));
      return handler(input);
    },
  } as unknown as Tool;
}

/** One agent, four turns and three tools, one of them called twice with the same input. */
export function toolLoop(): Scenario {
  const tools = { calls: 0 };
  const search = tool(tools, "search", z.object({ q: z.string() }), ({ q }: { q: string }) => ({
    q,
    hits: [
      { title: "napi-rs", rank: 1 },
      { title: "neon", rank: 2 },
    ],
  }));
  const fetch = tool(
    tools,
    "fetch",
    z.object({ url: z.string() }),
    ({ url }: { url: string }) => `<html>${url}</html>`,
  );
  const calc = tool(
    tools,
    "calc",
    z.object({ a: z.number(), b: z.number() }),
    ({ a, b }: { a: number; b: number }) => a * b,
  );
  const model = scriptedModel(
    "fake-b",
    (messages) => {
      const answered = messages.filter(({ role }) => role === "tool").length;
      if (answered === 0) return toolCall("c1", "search", { q: "rust napi" });
      if (answered === 1) {
        return {
          tool_calls: [
            { id: "c2", name: "fetch", arguments: '{"url":"https://example.test/1"}' },
            { id: "c3", name: "search", arguments: '{"q":"rust napi"}' },
          ],
        };
      }
      if (answered === 3) return toolCall("c4", "calc", { a: 6, b: 7 });
      return result(`42 after ${answered} tool results`);
    },
    { provider: "fake" },
  );
  const researcher = createAgent({
    id: "researcher",
    model,
    handler: async () => {
      equipSystem("Use tools.");
      equipInstruction("What is six times seven?");
      for (const each of [search, fetch, calc]) equipTool(each);
      return promptAgent(Result);
    },
  });
  return {
    run: () => researcher({} as never),
    counts: counted([model], tools),
    expected: { result: "42 after 4 tool results" },
  };
}

/** Planner, worker and checker, each called by the one before. */
export function nested(): Scenario {
  const tools = { calls: 0 };
  const verify = tool(tools, "verify", z.object({ claim: z.string() }), ({ claim }: { claim: string }) => ({
    claim,
    ok: true,
  }));
  const planModel = scriptedModel("fake-planner", () => result("plan-1"));
  const workModel = scriptedModel("fake-worker", () => result("draft-1"));
  const checkModel = scriptedModel("fake-checker", (messages) =>
    messages.some(({ role }) => role === "tool") ? result("checked") : toolCall("k1", "verify", { claim: "x" }),
  );
  const checker = createAgent<{ draft: string }, { result: string }>({
    id: "checker",
    model: checkModel,
    handler: async ({ draft }) => {
      equipInstruction(`check ${draft}`);
      equipTool(verify);
      return promptAgent(Result);
    },
  });
  const worker = createAgent<{ plan: string }, { draft: string; check: string }>({
    id: "worker",
    model: workModel,
    handler: async ({ plan }) => {
      equipInstruction(`work on ${plan}`);
      const { result: draft } = await promptAgent(Result);
      const { result: check } = await checker({ draft });
      return { draft, check };
    },
  });
  const planner = createAgent({
    id: "planner",
    model: planModel,
    handler: async () => {
      equipInstruction("make a plan");
      const { result: plan } = await promptAgent(Result);
      return { plan, ...(await worker({ plan })) };
    },
  });
  return {
    run: () => planner({} as never),
    counts: counted([planModel, workModel, checkModel], tools),
    expected: { plan: "plan-1", draft: "draft-1", check: "checked" },
  };
}

/** Five parallel sub-agents with one id, whose ends interleave. */
export function parallel(latencies: number[] = [5, 1, 4, 2, 3]): Scenario {
  const tools = { calls: 0 };
  const lookup = tool(tools, "lookup", z.object({ shard: z.number() }), ({ shard }: { shard: number }) => ({
    rows: [shard, shard * 10],
  }));
  const shardOf = (text: string): number => Number(text.replace("shard ", ""));
  const shardModel = scriptedModel(
    "fake-shard",
    (messages) => {
      const shard = shardOf(textOf(messages[0]));
      return messages.some(({ role }) => role === "tool")
        ? result(`answer ${shard}`)
        : toolCall(`s${shard}`, "lookup", { shard });
    },
    { latency: (messages) => latencies[shardOf(textOf(messages[0]))] ?? 1 },
  );
  const parentModel = scriptedModel("fake-parent", () => result("merged"));
  const shard = createAgent<{ i: number }, { result: string }>({
    id: "shard",
    model: shardModel,
    handler: async ({ i }) => {
      const [, setShard] = equipMemory("shard", -1);
      setShard(i);
      equipInstruction(`shard ${i}`);
      equipTool(lookup);
      return promptAgent(Result);
    },
  });
  const parent = createAgent({
    id: "parent",
    model: parentModel,
    handler: async () => {
      const answers = await Promise.all([0, 1, 2, 3, 4].map((i) => shard({ i })));
      const parts = answers.map((answer) => answer.result);
      equipInstruction(`merge ${parts.join(",")}`);
      return { parts, merged: (await promptAgent(Result)).result };
    },
  });
  return {
    run: () => parent({} as never),
    counts: counted([shardModel, parentModel], tools),
    expected: { parts: [0, 1, 2, 3, 4].map((i) => `answer ${i}`), merged: "merged" },
  };
}
