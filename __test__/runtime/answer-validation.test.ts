import {
  createAgent,
  equipInstruction,
  equipTool,
  isAttemptsExhaustedError,
  isTurnBudgetExceededError,
  promptAgent,
  runWith,
  type Tool,
} from "agent-rewind";
import { dumpSnapshot } from "agent-rewind/debugger";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { z as zod3 } from "zod3";

import { recorder } from "../support/recorder.js";
import { scriptedModel, textOf, toolCall, type ScriptedModel } from "../support/scripted-model.js";

/** A model with one scripted answer per call. The last one repeats. */
function answering(...texts: string[]): ScriptedModel {
  const model: ScriptedModel = scriptedModel("m", () => ({
    content: texts[Math.min(model.calls.length, texts.length) - 1] ?? "",
  }));
  return model;
}

const agentOf = (
  schema: Parameters<typeof promptAgent>[0],
  config: { maxRetries?: number; maxTurnSteps?: number } = {},
) =>
  createAgent({
    id: "asker",
    ...config,
    handler: async () => {
      equipInstruction("count");
      return promptAgent(schema);
    },
  });

const ask = (schema: Parameters<typeof promptAgent>[0], ...texts: string[]): Promise<unknown> =>
  runWith(() => agentOf(schema, { maxRetries: 0 })(), { model: answering(...texts) });

const Count = z.object({ count: z.number().int(), names: z.array(z.string().min(2)).default([]) });

describe("a model's answer", () => {
  it.each([
    ["plain JSON", '{"count":1}'],
    ["JSON with white space around it", '\n {"count": 1}\n'],
    ["JSON in a fenced block", 'Here it is:\n```json\n{"count":1}\n```\nDone.'],
    ["a fenced block without a language", '```\n{"count":1}\n```'],
    ["JSON in prose", 'The result is {"count":1}, as you asked.'],
  ])("is read from %s and returned as parsed by the schema", async (_what, text) => {
    expect(await ask(Count, text)).toEqual({ count: 1, names: [] });
  });

  it("is text if the schema requires text, whatever the text looks like", async () => {
    for (const text of ["hello", "42", '{"a": 1}', "", "null", "```json\n1\n```"])
      expect(await ask(z.string(), text)).toBe(text);
    expect(await ask(z.enum(["yes", "no"]), "yes")).toBe("yes");
    expect(await ask(z.number(), "42")).toBe(42);
  });

  it("is checked by zod 3 schemas and by asynchronous refinements", async () => {
    expect(await ask(zod3.object({ count: zod3.number() }) as never, '{"count":2,"more":1}')).toEqual({ count: 2 });
    const even = z.number().refine(async (value) => value % 2 === 0, "must be even");
    expect(await ask(even, "2")).toBe(2);
    await expect(ask(even, "3")).rejects.toThrow(/must be even/);
  });
});

describe("a wrong answer", () => {
  it("is requested again in the same conversation with a list of its faults", async () => {
    const model = answering('{"count":1.5,"names":["a","bb"]}', "no JSON at all", '{"count":3}');
    const bus = recorder();
    expect(await runWith(() => agentOf(Count)(), { model, eventBus: bus })).toEqual({ count: 3, names: [] });
    expect(model.calls.map(({ messages }) => messages.length)).toEqual([1, 3, 5]);
    const last = model.calls[2]?.messages ?? [];
    expect(last.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant", "user"]);
    expect(last[1]).toEqual({ role: "assistant", content: '{"count":1.5,"names":["a","bb"]}' });
    expect(textOf(last[2])).toMatch(/count: .*\n.*names\.0: /);
    expect(textOf(last[4])).toContain("not JSON");
    expect(
      bus.of("validation:fail").map(({ attempt, rawText, errors }) => [attempt, rawText, (errors as string[]).length]),
    ).toEqual([
      [0, '{"count":1.5,"names":["a","bb"]}', 2],
      [1, "no JSON at all", 1],
    ]);
    expect(bus.of("validation:success")).toMatchObject([
      { attempt: 2, rawText: '{"count":3}', data: { count: 3, names: [] }, success: true },
    ]);
    expect(bus.of("promptAgent:end")).toMatchObject([
      { totalSteps: 3, success: true, result: { count: 3, names: [] } },
    ]);
  });

  it("fails the prompt after maxRetries further wrong answers", async () => {
    for (const [config, attempts] of [
      [{}, 4],
      [{ maxRetries: 1 }, 2],
      [{ maxRetries: 0 }, 1],
    ] as const) {
      const model = answering('{"count":"one"}');
      const error = await runWith(() => agentOf(Count, config)(), { model }).catch((thrown: unknown) => thrown);
      expect(isAttemptsExhaustedError(error)).toBe(true);
      expect(error).toMatchObject({ agentId: "asker", attempts, rawText: '{"count":"one"}' });
      expect((error as { faults: string[] }).faults).toEqual([expect.stringMatching(/^count: /)]);
      expect(model.calls).toHaveLength(attempts);
    }
  });

  it("is replayed together with the answers after it", async () => {
    const agent = agentOf(Count);
    const snapshot = await runWith(
      async () => {
        await agent();
        return dumpSnapshot();
      },
      { model: answering('{"count":"one"}', '{"count":1}') },
    );
    const idle = answering("never asked");
    expect(await runWith(() => agent(), { model: idle, snapshot })).toEqual({ count: 1, names: [] });
    expect(idle.calls).toEqual([]);
  });
});

describe("turns of a prompt", () => {
  const again: Tool = { name: "again", description: "", parameters: z.object({}), handler: () => "again" };
  const looping = (config: { maxTurnSteps?: number }) =>
    createAgent({
      id: "looping",
      ...config,
      handler: async () => {
        equipTool(again);
        return promptAgent(Count);
      },
    });

  it.each([
    [{}, 10],
    [{ maxTurnSteps: 3 }, 3],
  ])("are limited by maxTurnSteps: %o", async (config, turns) => {
    const model: ScriptedModel = scriptedModel("m", () => toolCall(`c${model.calls.length}`, "again", {}));
    const error = await runWith(() => looping(config)(), { model }).catch((thrown: unknown) => thrown);
    expect(isTurnBudgetExceededError(error)).toBe(true);
    expect(error).toMatchObject({ agentId: "looping", maxTurnSteps: turns });
    expect(model.calls).toHaveLength(turns);
  });

  it("can all be used for the answer", async () => {
    const model = scriptedModel("m", (messages) =>
      messages.length < 4 ? toolCall("c", "again", {}) : { content: '{"count":1}' },
    );
    expect(await runWith(() => looping({ maxTurnSteps: 3 })(), { model })).toEqual({ count: 1, names: [] });
  });
});
