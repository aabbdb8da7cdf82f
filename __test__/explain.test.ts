import {
  createAgent,
  equipInstruction,
  equipSystem,
  equipTool,
  isReplayMissError,
  journalCall,
  promptAgent,
  replay,
  resume,
  runWith,
  type AgentSnapshot,
  type Difference,
  type Miss,
  type ReplayMissError,
  type ReplayReport,
} from "agent-rewind";
import { dumpSnapshot, parseSnapshot, stringifySnapshot } from "agent-rewind/debugger";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { result, scriptedModel } from "./support/scripted-model.js";

interface Variant {
  system?: string;
  instruction?: string;
  description?: string;
  temperature?: number;
  modelId?: string;
  field?: string;
}

function agent({
  system = "You are terse.",
  instruction = "Report for 2026-11-28",
  description = "finds things",
  temperature = 0,
  modelId = "m",
  field = "result",
}: Variant = {}): () => Promise<unknown> {
  const model = scriptedModel(modelId, () => result("x"));
  return createAgent({
    id: "reporter",
    model,
    handler: () => {
      equipSystem(system);
      equipInstruction(instruction);
      equipTool({ name: "find", description, parameters: z.object({ q: z.string() }), handler: () => 1 });
      return promptAgent(z.object({ [field]: z.string().optional() }), { modelOptions: { temperature } });
    },
  });
}

async function recordingOf(
  program: () => Promise<unknown>,
  options: { requests?: boolean } = {},
): Promise<AgentSnapshot> {
  return runWith(async () => {
    await program();
    return dumpSnapshot();
  }, options);
}

async function missOf(program: () => Promise<unknown>, snapshot: AgentSnapshot): Promise<ReplayMissError> {
  const error: unknown = await replay(program, { snapshot }).catch((caught: unknown) => caught);
  expect(isReplayMissError(error)).toBe(true);
  return error as ReplayMissError;
}

const differencesOf = (error: ReplayMissError): Difference[] => error.explanation?.differences ?? [];

describe("the explanation of a miss", () => {
  it.each<[string, Variant, Partial<Difference>]>([
    [
      "a date",
      { instruction: "Report for 2026-11-29" },
      { pointer: "/messages/1/content/0/text", part: "messages", nature: "date" },
    ],
    [
      "white space",
      { system: "You are  terse." },
      { pointer: "/messages/0/content", part: "messages", nature: "whitespace" },
    ],
    ["a word", { system: "You are verbose." }, { pointer: "/messages/0/content", part: "messages", nature: "text" }],
    ["an option", { temperature: 1 }, { pointer: "/options/temperature", part: "options" }],
    ["the model", { modelId: "n" }, { pointer: "/model/id", part: "model" }],
    ["a tool", { description: "finds more" }, { pointer: "/tools/0/description", part: "tools" }],
  ])("names the path and the kind of the difference: %s", async (_what, variant, difference) => {
    const recorded = await recordingOf(agent());
    for (const snapshot of [recorded, parseSnapshot(stringifySnapshot(recorded))]) {
      const error = await missOf(agent(variant), snapshot);
      expect(differencesOf(error)).toEqual([expect.objectContaining({ change: "changed", ...difference })]);
      expect(error.message).toContain(difference.pointer);
      expect(error.explanation?.nearest.callId).toMatch(/^root\/agent:reporter:0\/prompt:/);
      expect(error).toMatchObject({ reason: "not-recorded", kind: "prompt" });
    }
  });

  it("lists added and removed members", async () => {
    const error = await missOf(agent({ field: "answer" }), await recordingOf(agent()));
    const changes = differencesOf(error).map(({ pointer, change, part }) => [pointer, change, part]);
    expect(changes).toContainEqual(["/schema/properties/answer", "added", "schema"]);
    expect(changes).toContainEqual(["/schema/properties/result", "removed", "schema"]);
  });

  it("suggests how to exclude values that change from run to run", async () => {
    const error = await missOf(agent({ instruction: "Report for 2026-11-29" }), await recordingOf(agent()));
    expect(error.message).toContain("options.normalize");
  });

  it("compares with the nearest of many requests of the same kind", async () => {
    const lookup = (id: number, page: number): Promise<number> =>
      journalCall({ kind: "lookup", name: "rows", request: { id, page, note: "the same in all" } }, () => id);
    const snapshot = await recordingOf(async () => {
      for (let id = 0; id < 50; id += 1) await lookup(id, 7);
    });
    const error = await missOf(() => lookup(33, 8), snapshot);
    expect(error.explanation?.nearest.callId).toBe("root/lookup:rows:33");
    expect(differencesOf(error)).toEqual([
      expect.objectContaining({ pointer: "/input/page", nature: "number", recorded: "7", actual: "8" }),
    ]);
  });

  it("distinguishes a used-up request from a different one", async () => {
    const ask = (): Promise<number> => journalCall({ kind: "k", name: "n", request: 1 }, () => 1);
    const error = await missOf(
      async () => {
        await ask();
        await ask();
      },
      await recordingOf(ask),
    );
    expect(error.message).toContain("used up");
    expect(differencesOf(error)).toEqual([]);
  });

  it("names only the frame and the hash if requests were not recorded", async () => {
    const error = await missOf(agent({ temperature: 1 }), await recordingOf(agent(), { requests: false }));
    expect(error.explanation).toBeUndefined();
    expect(error.message).toContain("root/agent:reporter:0");
  });

  it("is also in the report and passed to onMiss", async () => {
    const snapshot = await recordingOf(agent());
    const misses: Miss[] = [];
    let report: ReplayReport | undefined;
    const events: { type: string; report?: ReplayReport }[] = [];
    await resume(agent({ temperature: 1 }), {
      snapshot,
      onMiss: (miss) => {
        misses.push(miss);
        return "live";
      },
      onReport: (given) => (report = given),
      eventBus: { emit: (event) => void events.push(event as never) },
    });
    expect(misses[0]?.explanation?.differences[0]?.pointer).toBe("/options/temperature");
    const divergences = [report, events.find(({ type }) => type === "replay:report")?.report].map(
      (given) => given?.frames.find(({ agentId }) => agentId === "reporter")?.firstDivergence,
    );
    for (const divergence of divergences) expect(divergence?.explanation?.text).toContain("/options/temperature");
    expect(JSON.parse(JSON.stringify(report)).frames[1].firstDivergence.explanation.differences).toHaveLength(1);
  });
});
