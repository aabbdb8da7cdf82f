// Models that are named by a string, which the default provider of the AI SDK creates.
import { rewindEmbeddingModel, rewindMiddleware } from "agent-rewind/ai-sdk";
import * as ai6 from "ai";
import { afterEach, describe, expect, it } from "vitest";

import { record, replayed } from "../support/recorded.js";
import { sdkModel, type SdkModel } from "../support/sdk-model.js";

type Sdk = typeof ai6;
const VERSIONS: [name: string, sdk: Sdk, version: SdkModel["specificationVersion"]][] = [
  ["5", (await import("ai5")) as unknown as Sdk, "v2"],
  ["6", ai6, "v3"],
  ["7", (await import("ai7")) as unknown as Sdk, "v4"],
];

const globals = globalThis as { AI_SDK_DEFAULT_PROVIDER?: unknown };
afterEach(() => delete globals.AI_SDK_DEFAULT_PROVIDER);

describe.each(VERSIONS)("AI SDK %s", (_name, sdk, version) => {
  it("records models and embeddings of a wrapped default provider", async () => {
    const asked: string[] = [];
    const model = sdkModel(version);
    const embedder = (id: string) => ({
      specificationVersion: version,
      provider: "scripted",
      modelId: id,
      maxEmbeddingsPerCall: 10,
      supportsParallelCalls: true,
      doEmbed: async ({ values }: { values: string[] }) => {
        asked.push(id);
        return { embeddings: values.map(() => [asked.length]), usage: { tokens: 1 }, warnings: [] };
      },
    });
    const provider = {
      specificationVersion: version,
      languageModel: (modelId: string) => ({ ...model, modelId }),
      embeddingModel: embedder,
      textEmbeddingModel: embedder,
      imageModel: () => expect.unreachable(),
    };
    const wrapped = (id: string) => rewindEmbeddingModel(embedder(id));
    globals.AI_SDK_DEFAULT_PROVIDER = {
      ...sdk.wrapProvider({ provider: provider as never, languageModelMiddleware: rewindMiddleware() }),
      embeddingModel: wrapped,
      textEmbeddingModel: wrapped,
    };
    const program =
      (name = "maker/m-1") =>
      async () => {
        const { text } = await sdk.generateText({ model: name, prompt: "hi" });
        const streamed = await sdk.streamText({ model: name, prompt: "hi" }).text;
        const { embedding } = await sdk.embed({ model: "maker/e-1", value: text });
        return { text, streamed, embedding };
      };
    const { value, snapshot } = await record(program());
    expect(await replayed(program(), snapshot)).toEqual(value);
    expect([model.calls.length, asked]).toEqual([2, ["maker/e-1"]]);
    await expect(replayed(program("maker/m-2"), snapshot)).rejects.toThrow("/input/model");
  });
});

it.each<[string, unknown]>([
  ["a string", "openai/text-embedding-3-small"],
  ["a language model", sdkModel("v3")],
  ["nothing", undefined],
])("rewindEmbeddingModel refuses %s", (_name, model) => {
  expect(() => rewindEmbeddingModel(model as never)).toThrow(TypeError);
  expect(() => rewindEmbeddingModel(model as never)).toThrow(
    "rewindEmbeddingModel: model must be an embedding model, such as openai.embeddingModel(",
  );
});
