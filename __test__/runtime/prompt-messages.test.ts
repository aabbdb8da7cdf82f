import {
  createAgent,
  equipInstruction,
  equipSystem,
  equipTool,
  getContext,
  promptAgent,
  runWith,
  type ContentPart,
  type Message,
  type ModelAdapter,
  type StreamOptions,
  type Tool,
} from "agent-rewind";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { recorder } from "../support/recorder.js";
import { result, scriptedModel, toolCall, type ScriptedModel } from "../support/scripted-model.js";

const Result = z.object({ result: z.string() });
const instruction = { rejelly: { kind: "instruction" } };
const lookUp: Tool = {
  name: "look_up",
  description: "looks up",
  parameters: z.object({ key: z.string() }),
  handler: ({ key }: { key: string }) => ({ key }),
};

/** Prompts once after `equip`. Returns the messages that the model received. */
async function sent(
  equip: () => void,
  model: ScriptedModel = scriptedModel("m", () => result("ok")),
  options = {},
): Promise<ScriptedModel["calls"]> {
  const agent = createAgent({
    id: "asker",
    handler: async () => {
      equip();
      return promptAgent(Result, options);
    },
  });
  await runWith(() => agent(), { model });
  return model.calls;
}

describe("the messages of a prompt", () => {
  it("are one per equipSystem, then one per equipInstruction, in order", async () => {
    const image: ContentPart = { type: "image", image: { url: "https://example.test/i.png", detail: "low" } };
    const video: ContentPart = { type: "video", video: { url: "https://example.test/v.mp4" } };
    const [call] = await sent(() => {
      equipInstruction("first");
      equipSystem("rule 1");
      equipInstruction([{ type: "text", text: "look:" }, image, video]);
      equipSystem("rule 2");
    });
    expect(call?.messages).toEqual([
      { role: "system", content: "rule 1" },
      { role: "system", content: "rule 2" },
      { role: "user", content: [{ type: "text", text: "first" }], extra: instruction },
      { role: "user", content: [{ type: "text", text: "look:" }, image, video], extra: instruction },
    ]);
  });

  it("can be empty", async () => {
    expect((await sent(() => {}))[0]?.messages).toEqual([]);
  });

  it("grow by the model's tool calls and one message per result, in the order of the calls", async () => {
    const model = scriptedModel("m", (messages) =>
      messages.length > 1
        ? result("ok")
        : {
            tool_calls: ["b", "a"].map((key) => ({
              id: `call-${key}`,
              name: "look_up",
              arguments: JSON.stringify({ key }),
            })),
          },
    );
    const calls = await sent(() => {
      equipInstruction("go");
      equipTool(lookUp);
    }, model);
    expect(calls).toHaveLength(2);
    expect(calls[1]?.messages.slice(0, 1)).toEqual(calls[0]?.messages);
    expect(calls[1]?.messages.slice(1)).toEqual([
      {
        role: "assistant",
        content: null,
        tool_calls: [
          { id: "call-b", name: "look_up", arguments: '{"key":"b"}' },
          { id: "call-a", name: "look_up", arguments: '{"key":"a"}' },
        ],
      },
      { role: "tool", tool_call_id: "call-b", content: '{"key":"b"}' },
      { role: "tool", tool_call_id: "call-a", content: '{"key":"a"}' },
    ]);
  });

  it("return the adapter's extra fields of an answer to the adapter", async () => {
    let turn = 0;
    const model: ModelAdapter & { seen: Message[] } = {
      id: "m",
      seen: [],
      async *stream(messages) {
        this.seen = messages;
        if (turn++ > 0) return void (yield { type: "text", content: '{"result":"ok"}' });
        yield { type: "reasoning", content: "thinking" };
        yield { type: "extra", extra: { signature: "abc" } };
        yield { type: "text", content: "let me look" };
        yield {
          type: "tool_call",
          toolCall: { index: 0, id: "c", name: "look_up", arguments: '{"key":', extra: { thought: 1 } },
        };
        yield { type: "tool_call", toolCall: { index: 0, arguments: '"k"}' } };
      },
    };
    const agent = createAgent({
      id: "asker",
      model,
      handler: async () => {
        equipTool(lookUp);
        return promptAgent(Result);
      },
    });
    expect(await agent()).toEqual({ result: "ok" });
    expect(model.seen[0]).toEqual({
      role: "assistant",
      content: "let me look",
      reasoning_content: "thinking",
      tool_calls: [{ id: "c", name: "look_up", arguments: '{"key":"k"}', extra: { thought: 1 } }],
      extra: { signature: "abc" },
    });
  });
});

describe("the request to an adapter", () => {
  it("contains the answer schema, the tools, the tool choice, the options and the signal", async () => {
    let signal: AbortSignal | undefined;
    const toolChoice = { type: "function", function: { name: "look_up" } } as const;
    const modelOptions = { temperature: 0, seed: 7, stop: ["END"] };
    const calls = await sent(
      () => {
        signal = getContext()?.signal;
        equipTool(lookUp);
      },
      undefined,
      { toolChoice, modelOptions },
    );
    expect(calls[0]?.options).toEqual({
      schema: {
        $schema: "http://json-schema.org/draft-07/schema#",
        type: "object",
        properties: { result: { type: "string" } },
        required: ["result"],
        additionalProperties: false,
      },
      tools: [
        {
          name: "look_up",
          description: "looks up",
          parameters: {
            $schema: "http://json-schema.org/draft-07/schema#",
            type: "object",
            properties: { key: { type: "string" } },
            required: ["key"],
            additionalProperties: false,
          },
        },
      ],
      toolChoice,
      additionalOptions: modelOptions,
      signal,
    });
    expect(calls[0]?.options?.signal).toBe(signal);
  });

  it("has no member for anything not set", async () => {
    const [call] = await sent(() => {});
    expect(Object.keys(call?.options ?? {}).toSorted()).toEqual(["schema", "signal"]);
  });

  it("contains the second of two tools with the same name, with the middlewares of its equipTool call", async () => {
    const log: string[] = [];
    const middleware = {
      name: "log",
      handler: (_: unknown, next: () => Promise<unknown>) => (log.push("through"), next()),
    };
    const model = scriptedModel("m", (messages) =>
      messages.length > 0 ? result("ok") : toolCall("c", "look_up", { key: "k" }),
    );
    const calls = await sent(() => {
      equipTool(lookUp);
      equipTool({ ...lookUp, description: "looks up better" }, { middleware });
    }, model);
    expect(calls[0]?.options?.tools?.map(({ description }) => description)).toEqual(["looks up better"]);
    expect(log).toEqual(["through"]);
    expect(lookUp.middlewares).toBeUndefined();
  });
});

describe("model options", () => {
  const withOptions = (modelOptions: Record<string, unknown>) => sent(() => {}, undefined, { modelOptions });

  it("must be JSON because they are hashed, and other values are rejected with their path", async () => {
    for (const [options, path, reason] of [
      [{ onToken: () => {} }, "options.modelOptions.onToken", "function"],
      [{ stop: ["a", 1n] }, "options.modelOptions.stop.1", "bigint is not JSON"],
      [{ temperature: Number.NaN }, "options.modelOptions.temperature", "number is not JSON"],
    ] as const) {
      await expect(withOptions(options)).rejects.toThrow(TypeError);
      await expect(withOptions(options)).rejects.toThrow(`${path} cannot be hashed: ${reason}`);
    }
  });

  it("can have undefined members", async () => {
    expect((await withOptions({ temperature: undefined, seed: 1 }))[0]?.options?.additionalOptions).toEqual({
      seed: 1,
    });
  });
});

/** Runs the agent with a model that first calls the tool. Returns the messages and hashes of the turns. */
async function traced(
  handler: (model: ScriptedModel) => Promise<unknown>,
  meddle: (messages: Message[], options: StreamOptions) => void = () => {},
) {
  const bus = recorder();
  const model = scriptedModel("m", (messages, options) => {
    const answer = messages.some(({ role }) => role === "tool") ? result("ok") : toolCall("c", "look_up", { key: "k" });
    meddle(messages, options ?? {});
    return answer;
  });
  await runWith(() => createAgent({ id: "asker", handler: () => handler(model) })(), { model, eventBus: bus });
  const turns = bus.of("turn:end");
  return {
    turns: structuredClone(
      turns.map(({ contentHash, messages, schema, toolConfig }) => ({ contentHash, messages, schema, toolConfig })),
    ),
    calls: model.calls,
  };
}

describe("the sent request", () => {
  const ask = async (): Promise<unknown> => {
    equipInstruction([{ type: "text", text: "go" }]);
    equipTool(lookUp);
    return promptAgent(Result, { modelOptions: { nested: { seed: 7 } }, toolChoice: "auto" });
  };

  it("does not depend on changes by the caller to equipped values", async () => {
    const plain = await traced(ask);
    const changed = await traced(async () => {
      const parts: ContentPart[] = [{ type: "text", text: "go" }];
      const modelOptions = { nested: { seed: 7 } };
      const toolChoice = { type: "function", function: { name: "look_up" } } as const;
      equipInstruction(parts);
      (parts[0] as { text: string }).text = "changed";
      parts.push({ type: "text", text: "added" });
      equipTool({
        ...lookUp,
        handler: ({ key }: { key: string }) => {
          modelOptions.nested.seed = 8;
          (toolChoice.function as { name: string }).name = "other";
          return { key };
        },
      });
      const asked = promptAgent(Result, { modelOptions, toolChoice });
      parts.length = 0;
      return asked;
    });
    expect(changed.turns.map(({ messages }) => messages)).toEqual(plain.turns.map(({ messages }) => messages));
    for (const { options } of changed.calls) {
      expect(options?.additionalOptions).toEqual({ nested: { seed: 7 } });
      expect(options?.toolChoice).toEqual({ type: "function", function: { name: "look_up" } });
    }
  });

  it("does not depend on changes by an adapter", async () => {
    const plain = await traced(ask);
    const meddled = await traced(ask, (messages, options) => {
      const attempt = (change: () => void): void => {
        try {
          change();
        } catch (error) {
          // Messages are frozen: changing one throws instead of being ignored.
          expect(error).toBeInstanceOf(TypeError);
        }
      };
      const first = messages[0] as Message & { content: ContentPart[] };
      attempt(() => Object.assign(first, { content: "changed" }));
      attempt(() => first.content.push({ type: "text", text: "added" }));
      messages.reverse();
      messages.push({ role: "user", content: "added" });
      delete options.schema?.["$schema"];
      Object.assign(options.schema?.["properties"] as object, { added: {} });
      delete options.tools?.[0]?.parameters["additionalProperties"];
      options.tools?.push({ name: "added", description: "", parameters: {} });
      Object.assign(options.additionalOptions?.["nested"] as object, { seed: 8 });
    });
    expect(meddled.turns).toEqual(plain.turns);
    // The JSON schema of a zod object is created once, so no one may change it for the next prompt.
    expect((await traced(ask)).turns).toEqual(plain.turns);
  });
});
