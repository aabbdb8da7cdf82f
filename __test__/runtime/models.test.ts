import {
  createAgent,
  equipInstruction,
  getContext,
  isModelCallError,
  isModelNotFoundError,
  isModelRegistryNotFoundError,
  promptAgent,
  runWith,
  type ModelAdapter,
  type StreamEvent,
} from "agent-rewind";
import { dumpSnapshot } from "agent-rewind/debugger";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { recorder } from "../support/recorder.js";
import { result, scriptedModel } from "../support/scripted-model.js";

const Result = z.object({ result: z.string() });

const asker = createAgent({
  id: "asker",
  handler: async () => {
    equipInstruction("go");
    return promptAgent(Result);
  },
});

const answering = (text: string) => scriptedModel(text, () => result(text));

/** An adapter that yields these events and then throws the given error, if any. */
function streaming(events: unknown[], thrown?: { error: unknown }): ModelAdapter {
  return {
    id: "m",
    provider: "p",
    async *stream(): AsyncGenerator<StreamEvent> {
      yield* events as StreamEvent[];
      if (thrown !== undefined) throw thrown.error;
    },
  };
}

const thrownBy = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => "nothing",
    (error: unknown) => error,
  );

describe("the model of an agent", () => {
  it("is its own, the one that it names in the registry, or that of the run", async () => {
    const registry = { fast: answering("fast"), "": answering("nameless") };
    const models = { model: answering("of the run"), modelRegistry: registry };
    const ask = (model?: string | ModelAdapter): Promise<unknown> =>
      runWith(() => asker.fork(model === undefined ? {} : { model })(), models);
    expect(await ask()).toEqual({ result: "of the run" });
    expect(await ask("fast")).toEqual({ result: "fast" });
    expect(await ask("")).toEqual({ result: "nameless" });
    expect(await ask(answering("own"))).toEqual({ result: "own" });
  });

  it("is not inherited by its sub-agents", async () => {
    const parent = createAgent({ id: "parent", model: answering("the parent's"), handler: () => asker() });
    expect(await runWith(() => parent(), { model: answering("of the run") })).toEqual({ result: "of the run" });
    await expect(parent()).rejects.toSatisfy(isModelNotFoundError);
  });

  it("causes a ModelNotFoundError that names the agent if it is missing", async () => {
    for (const run of [() => asker(), () => runWith(() => asker())]) {
      const error = await thrownBy(run());
      expect(isModelNotFoundError(error)).toBe(true);
      expect(error).toMatchObject({ name: "ModelNotFoundError", agentId: "asker", code: "ERR_REWIND_MODEL_NOT_FOUND" });
    }
  });

  it.each([
    [{ fast: answering("fast"), good: answering("good") }, ["fast", "good"]],
    [{}, []],
    [undefined, undefined],
  ])(
    "causes an error that lists the registered models if its name is unknown",
    async (modelRegistry, registeredIds) => {
      for (const modelId of ["slow", "toString", "__proto__"]) {
        const agent = asker.fork({ model: modelId });
        const options = { model: answering("of the run"), ...(modelRegistry === undefined ? {} : { modelRegistry }) };
        const error = await thrownBy(runWith(() => agent(), options));
        expect(isModelRegistryNotFoundError(error)).toBe(true);
        expect(error).toMatchObject({ name: "ModelRegistryNotFoundError", modelId, agentId: "asker", registeredIds });
      }
    },
  );

  it("of an unknown id fails when the agent starts: neither its handler nor its middlewares run", async () => {
    const started: string[] = [];
    const agent = createAgent({
      id: "asker",
      model: "slow",
      handler: () => void started.push("handler"),
      middlewares: [{ name: "m", handler: (_context, next) => (started.push("middleware"), next()) }],
    });
    const options = { modelRegistry: { fast: answering("fast") } };
    const events = recorder();
    const error = await thrownBy(runWith(() => agent(), { ...options, eventBus: events }));
    expect(error).toMatchObject({ name: "ModelRegistryNotFoundError", modelId: "slow", registeredIds: ["fast"] });
    expect(events.of("agent:end")).toMatchObject([{ success: false, error: { name: "ModelRegistryNotFoundError" } }]);
    expect(started).toEqual([]);
    await expect(agent()).rejects.toSatisfy(isModelRegistryNotFoundError);
    await agent
      .fork({ model: "fast" })()
      .catch(() => {});
    await runWith(() => agent.fork({ model: "fast" })(), options);
    expect(started).toEqual(["middleware", "handler"]);
  });

  it("is looked for when the agent prompts, and may be replaced in the same generation if it is missed", async () => {
    const agent = createAgent({
      id: "patient",
      handler: async () => {
        await promptAgent(Result).catch(() => {});
        equipInstruction("still possible");
        return "went on";
      },
    });
    expect(await runWith(() => agent())).toBe("went on");
  });

  it("runs in the agent's context", async () => {
    let callId: string | undefined;
    const model = scriptedModel("m", () => {
      callId = getContext()?.callId;
      return result("ok");
    });
    await asker.fork({ model })();
    expect(callId).toBe("root/agent:asker:0");
  });
});

describe("a model that fails", () => {
  const broken = new RangeError("upstream 503");
  const failures: [string, ModelAdapter, unknown][] = [
    ["throws in its stream", streaming([{ type: "text", content: '{"res' }], { error: broken }), broken],
    [
      "is a plain function that throws at once",
      {
        id: "m",
        provider: "p",
        stream: () => {
          throw broken;
        },
      },
      broken,
    ],
    ["gives an error event with an Error", streaming([{ type: "error", error: broken }]), broken],
    ["throws a value that is not an error", streaming([], { error: "upstream 503" }), "upstream 503"],
  ];

  it.each(failures)(
    "fails the prompt with a ModelCallError that wraps its error: one that %s",
    async (_how, model, cause) => {
      const bus = recorder();
      const error = await thrownBy(runWith(() => asker(), { model, eventBus: bus }));
      expect(isModelCallError(error)).toBe(true);
      expect(error).toMatchObject({
        name: "ModelCallError",
        modelId: "m",
        provider: "p",
        agentId: "asker",
        code: "ERR_REWIND_MODEL_CALL",
      });
      expect((error as Error).cause).toBe(cause);
      expect((error as Error).message).toMatch(/upstream 503$/);
      const [callEnd] = bus.of("model:call:end");
      expect(callEnd).toMatchObject({ success: false, error: { name: "ModelCallError" } });
      expect(bus.of("turn:end")).toMatchObject([{ success: false, error: { name: "ModelCallError" }, cache: false }]);
      expect(bus.of("promptAgent:end")).toMatchObject([
        { success: false, error: { name: "ModelCallError" }, totalSteps: 0 },
      ]);
    },
  );

  it("reports error events of any form", async () => {
    for (const [given, message] of [
      ["quota", /quota$/],
      [{ message: "quota", code: 429 }, /quota$/],
      [{ code: 429 }, /\{"code":429\}$/],
      [undefined, /undefined$/],
    ] as const) {
      const error = (await thrownBy(
        runWith(() => asker(), { model: streaming([{ type: "error", error: given }]) }),
      )) as Error;
      expect(error.message).toMatch(message);
      expect(isModelCallError(error)).toBe(true);
    }
  });

  it("can be handled by the agent, and the failure is in the dump", async () => {
    const model = streaming([], { error: broken });
    const agent = createAgent({
      id: "resilient",
      model,
      handler: async () => {
        await promptAgent(Result).catch(() => {});
        return dumpSnapshot().root;
      },
    });
    const root = (await agent()) as Awaited<ReturnType<typeof dumpSnapshot>>["root"];
    expect(root.calls).toMatchObject([
      { kind: "prompt", error: { name: "ModelCallError", cause: { name: "RangeError", message: "upstream 503" } } },
    ]);
    // A hash with only failures has no row.
    expect(root.journal.prompt).toEqual({});
  });
});

describe("a model's stream", () => {
  const usage = { promptTokens: 3, completionTokens: 4, totalTokens: 7 };
  const text = { type: "text", content: '{"result":"ok"}' };

  it.each([
    ["ends without a finish", [text], undefined, undefined],
    ["ends without a finish, with its usage", [text, { type: "usage", usage }], undefined, usage],
    ["brings its usage with the finish", [text, { type: "finish", finishReason: "stop", usage }], "stop", usage],
    [
      "gives events of types to come",
      [{ type: "heartbeat" }, text, { type: "finish", finishReason: "stop" }],
      "stop",
      undefined,
    ],
  ])("can be one that %s", async (_how, events, finishReason, used) => {
    const bus = recorder();
    const model = {
      ...streaming(events),
      calculateCost: ({ totalTokens }: typeof usage) => ({ microcents: 2 * totalTokens }),
    };
    expect(await runWith(() => asker(), { model, eventBus: bus })).toEqual({ result: "ok" });
    const [end] = bus.of("model:call:end");
    expect(end).toMatchObject({ success: true, rawText: text.content });
    expect(end?.finishReason).toBe(finishReason);
    expect(end?.usage).toEqual(used);
    // Costs are calculated from the usage, also without a finish event.
    expect(end?.costs).toEqual(used === undefined ? undefined : { microcents: 14 });
    expect(bus.of("budget:update")[0]?.delta.costs).toEqual(used === undefined ? {} : { microcents: 14 });
  });

  it("without an answer is a wrong answer, not a failure", async () => {
    await expect(runWith(() => asker(), { model: streaming([]) })).rejects.toMatchObject({
      name: "AttemptsExhaustedError",
    });
    const plain = createAgent({ id: "plain", model: streaming([]), handler: () => promptAgent(z.string()) });
    expect(await plain()).toBe("");
  });
});
