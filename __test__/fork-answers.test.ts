// New outputs for the calls of adapters: in the recorded form, or a plain text as the answer of a model.
import Anthropic from "@anthropic-ai/sdk";
import { isForkError, resume, type AgentSnapshot } from "agent-rewind";
import { rewindEmbeddingModel, rewindMiddleware } from "agent-rewind/ai-sdk";
import { forkSnapshot } from "agent-rewind/debugger";
import { rewindFetch } from "agent-rewind/fetch";
import { embed, generateText, streamText, wrapLanguageModel } from "ai";
import OpenAI from "openai";
import { describe, expect, it } from "vitest";

import {
  chatCompletion,
  chatStream,
  json,
  messagesStream,
  modelServer,
  type Scripted,
} from "./support/model-server.js";
import { record } from "./support/recorded.js";
import { sdkModel } from "./support/sdk-model.js";

const only = ({ root }: AgentSnapshot): string => root.calls?.[0]?.callId ?? "";
const message = (content: object[]): object => ({
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "claude",
  content,
  stop_reason: "end_turn",
  usage: { input_tokens: 1, output_tokens: 1 },
});
const response = (output: object[]): object => ({ id: "r", object: "response", created_at: 1, model: "m", output });
const said = { type: "message", id: "m", role: "assistant", content: [{ type: "output_text", text: "live" }] };

/** Asks once by a client, and returns the text. */
const clients = {
  async chat(url: string) {
    const client = new OpenAI({ apiKey: "none", baseURL: url, fetch: rewindFetch(), maxRetries: 0 });
    const { choices } = await client.chat.completions.create({
      model: "m",
      messages: [{ role: "user", content: "hi" }],
    });
    return choices[0]?.message.content;
  },
  async responses(url: string) {
    const client = new OpenAI({ apiKey: "none", baseURL: url, fetch: rewindFetch(), maxRetries: 0 });
    return (await client.responses.create({ model: "m", input: "hi" })).output_text;
  },
  async messages(url: string) {
    const client = new Anthropic({ apiKey: "none", baseURL: url, fetch: rewindFetch(), maxRetries: 0 });
    const asked = { model: "claude", max_tokens: 9, messages: [{ role: "user" as const, content: "hi" }] };
    return (await client.messages.create(asked)).content
      .map((block) => (block.type === "text" ? block.text : ""))
      .join("");
  },
};
type ClientName = keyof typeof clients;

async function recorded(name: ClientName, answer: Scripted) {
  const server = await modelServer(() => answer);
  const ask = () => clients[name](server.url);
  const { snapshot } = await record(() => ask().catch(() => {}));
  await server.stop();
  return { ask, snapshot };
}

const TEXT = 'Say "höi"\n\\ 🌍';

describe("a text as the answer to a fetch", () => {
  it.each<[string, ClientName, Scripted]>([
    ["OpenAI chat", "chat", json(chatCompletion("live"))],
    [
      "OpenAI responses, after reasoning",
      "responses",
      json(response([{ type: "reasoning", id: "rs", summary: [] }, said])),
    ],
    [
      "Anthropic, after thinking",
      "messages",
      json(
        message([
          { type: "thinking", thinking: "hm", signature: "" },
          { type: "text", text: "live" },
        ]),
      ),
    ],
    ["JSON over several lines", "chat", { ...json({}), body: JSON.stringify(chatCompletion("live"), null, 2) }],
  ])("is accepted: %s", async (_name, client, answer) => {
    const { ask, snapshot } = await recorded(client, answer);
    const fork = forkSnapshot(snapshot, { at: only(snapshot), output: TEXT });
    expect(await resume(ask, { snapshot: fork })).toBe(TEXT);
  });

  it.each<[string, ClientName, Scripted]>([
    ["a stream", "chat", { body: chatStream() }],
    ["a stream of Anthropic", "messages", { body: messagesStream() }],
    [
      "a call of a tool",
      "chat",
      json({
        ...chatCompletion(""),
        choices: [{ index: 0, message: { role: "assistant", content: "I look", tool_calls: [{ id: "1" }] } }],
      }),
    ],
    [
      "two texts",
      "messages",
      json(
        message([
          { type: "text", text: "a" },
          { type: "text", text: "b" },
        ]),
      ),
    ],
    ["other JSON", "chat", json({ rows: [] })],
  ])("is refused where the recorded answer is %s", async (_name, client, answer) => {
    const { snapshot } = await recorded(client, answer);
    expect(() => forkSnapshot(snapshot, { at: only(snapshot), output: "text" })).toThrow(
      "expected a response, such as { status: 200, headers: [], body: { json: … } }",
    );
  });

  it("is refused with the place, as is every other form but a response", async () => {
    const { ask, snapshot } = await recorded("chat", json(chatCompletion("live")));
    for (const output of [{ text: "x" }, null, 7, [], { status: "200", headers: [] }]) {
      const fork = () => forkSnapshot(snapshot, [{ at: only(snapshot), output }]);
      expect(fork).toThrow(/changes\.0\.output/);
      expect(fork).toThrow(expect.toSatisfy(isForkError));
    }
    const output = {
      status: 200,
      headers: [["content-type", "application/json"]],
      body: { json: chatCompletion("new") },
    };
    const fork = forkSnapshot(snapshot, { at: only(snapshot), output });
    expect(await resume(ask, { snapshot: fork })).toBe("new");
  });
});

describe("calls of the AI SDK", () => {
  const model = sdkModel("v3");
  const wrapped = wrapLanguageModel({ model: model as never, middleware: rewindMiddleware() });

  it("take a text as the text of a result", async () => {
    const ask = async () => {
      const { text, reasoningText } = await generateText({ model: simple, prompt: "hi" });
      return { text, reasoningText };
    };
    const answer = {
      content: [
        { type: "reasoning", text: "hm…" },
        { type: "text", text: "live" },
      ],
      finishReason: { unified: "stop", raw: "stop" },
      usage: { inputTokens: {}, outputTokens: {} },
      warnings: [],
      response: { timestamp: new Date(7) },
    };
    const simple = wrapLanguageModel({
      model: { ...model, doGenerate: async () => answer } as never,
      middleware: rewindMiddleware(),
    });
    const { snapshot } = await record(ask);
    const fork = forkSnapshot(snapshot, { at: only(snapshot), output: TEXT });
    expect(await resume(ask, { snapshot: fork })).toEqual({ text: TEXT, reasoningText: "hm…" });
  });

  it("refuse what they could not replay", async () => {
    const embedder = rewindEmbeddingModel({
      specificationVersion: "v3" as const,
      provider: "p",
      modelId: "e",
      maxEmbeddingsPerCall: 1,
      supportsParallelCalls: false,
      doEmbed: async () => ({ embeddings: [[1]], warnings: [] }),
    });
    const calls: [() => Promise<unknown>, string][] = [
      // Its content is a text and a file.
      [() => generateText({ model: wrapped, prompt: "hi" }), "expected a result of the model"],
      [async () => streamText({ model: wrapped, prompt: "hi" }).text, "expected a stream of the model"],
      [() => embed({ model: embedder, value: "hi" }), "expected embeddings, such as"],
    ];
    for (const [ask, expected] of calls) {
      const { snapshot } = await record(async () => void (await ask()));
      expect(() => forkSnapshot(snapshot, { at: only(snapshot), output: "text" })).toThrow(expected);
    }
  });
});
