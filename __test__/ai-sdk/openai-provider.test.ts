// A provider of the AI SDK against a local server, recorded by the middleware and by the provider's fetch option.
import { createOpenAI } from "@ai-sdk/openai";
import { rewindEmbeddingModel, rewindMiddleware, wrapTools } from "agent-rewind/ai-sdk";
import { rewindFetch } from "agent-rewind/fetch";
import { embed, generateText, stepCountIs, streamText, tool, wrapLanguageModel } from "ai";
import * as ai5 from "ai5";
import * as ai7 from "ai7";
import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";

import { chatCompletion, chatStream, json, modelServer } from "../support/model-server.js";
import { record, replayed } from "../support/recorded.js";

const HOW = {
  "through the middleware": (baseURL: string) =>
    wrapLanguageModel({
      model: createOpenAI({ baseURL, apiKey: "sk-key" }).chat("gpt-x"),
      middleware: rewindMiddleware(),
    }),
  "through its fetch": (baseURL: string) =>
    createOpenAI({ baseURL, apiKey: "sk-key", fetch: rewindFetch() }).chat("gpt-x"),
};

describe.each(Object.entries(HOW))("%s", (_how, modelOf) => {
  it.each([undefined, 1, 5])(
    "streams the same parts on replay when the network splits them into pieces of %s bytes",
    async (cut) => {
      await using server = await modelServer(() => ({ body: chatStream(), ...(cut === undefined ? {} : { cut }) }));
      const program = async () => {
        const { fullStream } = streamText({ model: modelOf(server.url), prompt: "hi", onError: () => {} });
        const parts = [];
        for await (const part of fullStream) parts.push(part);
        return JSON.parse(JSON.stringify(parts)) as object[];
      };
      const { value, snapshot, text } = await record(program);
      await server.stop();
      expect(JSON.stringify(value)).toContain("🌍");
      expect(await replayed(program, snapshot)).toEqual(value);
      expect(server.requests).toHaveLength(1);
      expect(text).not.toContain("sk-key");
    },
  );

  it("replays generateText and its failures", async () => {
    await using server = await modelServer((_request, index) =>
      index === 0 ? json(chatCompletion("yes")) : json({ error: { message: "no" } }, { status: 401 }),
    );
    const ask = async () => (await generateText({ model: modelOf(server.url), prompt: "hi" })).text;
    const program = async () => [
      await ask(),
      await ask().catch((error: Error & { statusCode?: number }) => [error.name, error.message, error.statusCode]),
    ];
    const { value, snapshot } = await record(program);
    await server.stop();
    expect(value).toEqual(["yes", ["AI_APICallError", "no", 401]]);
    expect(await replayed(program, snapshot)).toEqual(value);
  });
});

it("replays embeddings", async () => {
  await using server = await modelServer(() =>
    json({ data: [{ embedding: [1, 2] }], usage: { prompt_tokens: 1 }, model: "e" }),
  );
  const provider = createOpenAI({ baseURL: server.url, apiKey: "k" });
  const program = async () => {
    const model = rewindEmbeddingModel(provider.textEmbeddingModel("e"));
    return (await embed({ model, value: "a" })).embedding;
  };
  const { value, snapshot } = await record(program);
  await server.stop();
  expect(value).toEqual([1, 2]);
  expect(await replayed(program, snapshot)).toEqual(value);
});

describe("types", () => {
  it("accept models of all three SDK versions and keep the types of tools", () => {
    const middleware = rewindMiddleware({ timing: "recorded" });
    expectTypeOf(middleware).toExtend<NonNullable<Parameters<typeof wrapLanguageModel>[0]["middleware"]>>();
    expectTypeOf(middleware).toExtend<NonNullable<Parameters<typeof ai5.wrapLanguageModel>[0]["middleware"]>>();
    expectTypeOf(middleware).toExtend<NonNullable<Parameters<typeof ai7.wrapLanguageModel>[0]["middleware"]>>();
    const tools = {
      add: tool({ inputSchema: z.object({ a: z.number() }), execute: async ({ a }) => a + 1 }),
    };
    expectTypeOf(wrapTools(tools)).toEqualTypeOf<typeof tools>();
    const generate = () => generateText({ model: "m", tools: wrapTools(tools), stopWhen: stepCountIs(2), prompt: "" });
    expectTypeOf(generate).returns.resolves.toHaveProperty("toolResults");
    expect(() => rewindMiddleware({ timing: "slow" as never })).toThrow('"instant" or "recorded"');
  });
});
