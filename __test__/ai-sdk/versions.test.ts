// On replay, a user of the AI SDK 5, 6 or 7 sees the same as in the live run.
import { isReplayMissError, replay, runWith, type AgentSnapshot, type ReplayReport } from "agent-rewind";
import { rewindEmbeddingModel, rewindMiddleware, wrapTools } from "agent-rewind/ai-sdk";
import { dumpSnapshot } from "agent-rewind/debugger";
import * as ai6 from "ai";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { record, replayed } from "../support/recorded.js";
import { response, sdkModel, type SdkModel } from "../support/sdk-model.js";

/** The tests use all three versions through one type. */
type Sdk = typeof ai6;
const VERSIONS: [name: string, sdk: Sdk, version: SdkModel["specificationVersion"]][] = [
  ["5", (await import("ai5")) as unknown as Sdk, "v2"],
  ["6", ai6, "v3"],
  ["7", (await import("ai7")) as unknown as Sdk, "v4"],
];

describe.each(VERSIONS)("AI SDK %s", (_name, sdk, version) => {
  type Wrapped = Parameters<Sdk["generateText"]>[0]["model"];
  const wrap = (model: SdkModel, options = {}): Wrapped =>
    sdk.wrapLanguageModel({ model: model as never, middleware: rewindMiddleware(options) });

  function weatherTool() {
    const executed: unknown[] = [];
    const tools = wrapTools({
      weather: sdk.tool({
        description: "Tells the weather",
        inputSchema: z.object({ city: z.string() }),
        execute: async ({ city }) => {
          executed.push(city);
          return { city, at: new Date(7), bytes: new Uint8Array([1, 2]) };
        },
      }),
    });
    return { tools, executed };
  }
  const stopWhen = sdk.stepCountIs(3);

  it("generateText replays text, reasoning, files, tool calls, dates and metadata", async () => {
    const model = sdkModel(version);
    const { tools, executed } = weatherTool();
    const program = async () => {
      const {
        text,
        reasoningText,
        files,
        steps,
        totalUsage,
        providerMetadata,
        request,
        response: given,
      } = await sdk.generateText({ model: wrap(model), prompt: "hi", tools, stopWhen });
      const bytes = files.map((file) => file.uint8Array);
      const { id, timestamp, modelId, headers } = given;
      const results = steps.flatMap(({ toolResults }) => toolResults.map(({ input, output }) => ({ input, output })));
      return {
        text,
        reasoningText,
        bytes,
        results,
        totalUsage,
        providerMetadata,
        id,
        timestamp,
        modelId,
        headers,
        request,
      };
    };
    const { value, snapshot, text } = await record(program);
    expect(value).toMatchObject({
      text: "answer 1",
      bytes: [new Uint8Array([1, 2, 1])],
      timestamp: new Date(1_000_000),
    });
    expect(value.results[0]?.output).toEqual({
      city: "Åre",
      at: new Date(7),
      bytes: new Uint8Array([1, 2]),
    });
    expect(snapshot.root.calls?.map(({ kind }) => kind)).toEqual(["model", "tool", "model"]);
    expect(text).not.toContain("secret");
    const { "set-cookie": _cookie, ...headers } = value.headers ?? {};
    expect(await replayed(program, snapshot)).toEqual({ ...value, headers });
    expect([model.calls.length, executed.length]).toEqual([2, 1]);
  });

  it("streamText replays each part in order", async () => {
    const model = sdkModel(version);
    const { tools, executed } = weatherTool();
    const program = async () => {
      const parts: object[] = [];
      const result = sdk.streamText({ model: wrap(model), prompt: "hi", tools, stopWhen });
      for await (const part of result.fullStream) parts.push(comparable(part));
      return { parts, text: await result.text, usage: await result.totalUsage };
    };
    const { value, snapshot } = await record(program);
    expect(value.text).toBe("answer 1 🌍");
    expect(value.parts.length).toBeGreaterThan(20);
    expect(await replayed(program, snapshot)).toEqual(value);
    expect([model.calls.length, executed.length]).toEqual([2, 1]);
  });

  it("replays an error in the stream as a part of the stream", async () => {
    const boom = Object.assign(new Error("overloaded"), { code: 529 });
    const model = sdkModel(version, () => [
      { type: "stream-start", warnings: [] },
      { type: "response-metadata", ...response(0) },
      { type: "text-start", id: "t" },
      { type: "text-delta", id: "t", delta: "so far" },
      { type: "error", error: boom },
    ]);
    const program = async () => {
      const parts: object[] = [];
      const { fullStream } = sdk.streamText({ model: wrap(model), prompt: "hi", onError: () => {} });
      for await (const part of fullStream) parts.push(comparable(part));
      return parts;
    };
    const { value, snapshot } = await record(program);
    expect(JSON.stringify(value)).toContain("so far");
    const again = await replayed(program, snapshot);
    expect(again).toEqual(value);
    const { error } = again.find((part) => "error" in part) as { error: Error & { code: number } };
    expect([error.message, error.code]).toEqual(["overloaded", 529]);
  });

  it("replays errors as instances of the classes of the SDK, if the run names them", async () => {
    const busy = (): Error =>
      new sdk.APICallError({
        message: "busy",
        url: "u",
        requestBodyValues: { model: "m" },
        statusCode: 429,
        responseHeaders: { "retry-after": "7" },
      });
    const model = sdkModel(version, () => [
      { type: "stream-start", warnings: [] },
      { type: "error", error: busy() },
    ]);
    model.doGenerate = () => Promise.reject(busy());
    const see = (error: unknown): unknown[] => [
      error instanceof sdk.APICallError,
      sdk.APICallError.isInstance(error) && [error.statusCode, error.responseHeaders, error.isRetryable],
    ];
    const program = async () => {
      const seen: unknown[] = [];
      await sdk
        .generateText({ model: wrap(model), prompt: "hi", maxRetries: 0 })
        .catch((error: unknown) => void seen.push(see(error)));
      const { fullStream } = sdk.streamText({ model: wrap(model), prompt: "hi", onError: () => {} });
      for await (const part of fullStream) if (part.type === "error") seen.push(see(part.error));
      return seen;
    };
    const { value, snapshot } = await record(program);
    const whole = [true, [429, { "retry-after": "7" }, true]];
    expect(value).toEqual([whole, whole]);
    let report: ReplayReport | undefined;
    const onReport = (given: ReplayReport): void => void (report = given);
    expect(await replay(program, { snapshot, enableSnapshot: true, errors: [sdk.APICallError], onReport })).toEqual(
      value,
    );
    expect(report?.incompleteErrors).toEqual([]);
    // Without them, the SDK still recognizes its errors.
    expect(await replay(program, { snapshot, enableSnapshot: true, onReport })).toEqual([
      [false, whole[1]],
      [false, whole[1]],
    ]);
    expect(report?.incompleteErrors.map(({ name }) => name)).toEqual(["APICallError", "APICallError"]);
  });

  it("records the received parts of a stream that the program stops reading", async () => {
    const model = sdkModel(version);
    const wrapped = wrap(model) as unknown as SdkModel;
    const first = async (count: number) => {
      const { stream } = await wrapped.doStream({
        prompt: [{ role: "user", content: [{ type: "text", text: "hi" }] }],
      });
      const parts: object[] = [];
      for await (const part of stream as unknown as AsyncIterable<object>) {
        parts.push(part);
        if (parts.length === count) break;
      }
      return parts;
    };
    const { value, snapshot } = await record(() => first(4));
    expect(await replayed(() => first(4), snapshot)).toEqual(value);
    const error = await replayed(() => first(5), snapshot).catch((cause: unknown) => cause);
    expect(isReplayMissError(error)).toBe(true);
  });

  it("replays the part of an unfinished stream that was read, and calls the model again on resume", async () => {
    const model = sdkModel(version);
    const program = (parts: number) => async () => {
      const { fullStream } = sdk.streamText({ model: wrap(model), prompt: "hi" });
      const reader = (fullStream as ReadableStream<{ type: string }>).getReader();
      const types: string[] = [];
      while (types.length < parts) types.push((await reader.read()).value?.type ?? "end");
      return { types, reader };
    };
    const { value, snapshot } = await runWith(async () => ({ value: await program(4)(), snapshot: dumpSnapshot() }), {
      enableSnapshot: true,
    });
    expect((await replayed(program(4), snapshot)).types).toEqual(value.types);
    expect(model.calls).toHaveLength(1);
    await expect(replayed(program(40), snapshot)).rejects.toSatisfy(isReplayMissError);
    expect(model.calls).toHaveLength(1);
    const whole = await runWith(program(40), { snapshot, enableSnapshot: true });
    expect(whole.types).toContain("finish");
    expect(model.calls).toHaveLength(2);
  });

  it("retries failures on replay as the SDK retried them live", async () => {
    const model = sdkModel(version);
    const { doGenerate } = model;
    let tries = 0;
    model.doGenerate = (params) => {
      tries += 1;
      if (tries > 1) return doGenerate(params);
      const name = "AI_APICallError";
      const error = Object.assign(new Error("busy"), { name, statusCode: 503, isRetryable: true, url: "u" });
      const retry = { "retry-after-ms": "1" };
      Object.assign(error, { responseHeaders: retry, [Symbol.for("vercel.ai.error")]: true });
      return Promise.reject(Object.assign(error, { [Symbol.for(`vercel.ai.error.${name}`)]: true }));
    };
    const program = async () => (await sdk.generateText({ model: wrap(model), prompt: "hi" })).text;
    const { value, snapshot } = await record(program);
    expect([value, tries, snapshot.root.calls?.length]).toEqual(["answer 0", 2, 2]);
    expect(await replayed(program, snapshot)).toBe(value);
    expect(tries).toBe(2);
  });

  it("records different calls separately and replays equal calls in order", async () => {
    const model = sdkModel(version);
    const variants: object[] = [
      { prompt: "hi", system: "Be brief." },
      { prompt: "hi", system: "Be long." },
      { prompt: "hi", temperature: 0.5 },
      { messages: [{ role: "user", content: [{ type: "image", image: new Uint8Array([137, 80, 78, 71]) }] }] },
      { messages: [{ role: "user", content: [{ type: "image", image: new Uint8Array([137, 80, 78, 72]) }] }] },
      { prompt: "hi", maxOutputTokens: 5 },
    ];
    const ask = async (options: object) => (await sdk.generateText({ model: wrap(model), ...options } as never)).text;
    const askAll = (list: object[]) => Promise.all(list.map(ask));
    const { value, snapshot } = await record(() => askAll(variants));
    expect(new Set(value).size).toBe(variants.length);
    expect(await replayed(() => askAll(variants.toReversed()), snapshot)).toEqual(value.toReversed());
    const missed = await replayed(() => ask({ prompt: "hi", temperature: 0.4 }), snapshot).catch(
      (error: unknown) => error,
    );
    expect(isReplayMissError(missed)).toBe(true);
    const twice = () => askAll([{ prompt: "same" }, { prompt: "same" }]);
    const pair = await record(twice);
    expect(new Set(pair.value).size).toBe(2);
    expect(await replayed(twice, pair.snapshot)).toEqual(pair.value);
  });

  it("replays parts with their recorded timing if the option asks for it", async () => {
    const late = () =>
      new ReadableStream<object>({
        async start(controller) {
          controller.enqueue({ type: "text-start", id: "t" });
          await new Promise((resolve) => setTimeout(resolve, 40));
          controller.enqueue({ type: "text-delta", id: "t", delta: "late" });
          controller.close();
        },
      });
    const model = sdkModel(version, late);
    const program = (timing: string) => async () => {
      const startedAt = performance.now();
      const wrapped = wrap(model, { timing }) as unknown as SdkModel;
      const { stream } = await wrapped.doStream({ prompt: [] });
      const parts: object[] = [];
      for await (const part of stream as unknown as AsyncIterable<object>) parts.push(part);
      return { parts, took: performance.now() - startedAt };
    };
    const { value, snapshot } = await record(program("instant"));
    const { parts, took } = await replayed(program("recorded"), snapshot);
    expect(parts).toEqual(value.parts);
    const { chunks = [] } = snapshot.root.calls?.[0]?.meta?.stream ?? {};
    // A timer may fire up to a millisecond early.
    expect(took).toBeGreaterThanOrEqual((chunks.at(-1)?.[1] ?? Infinity) - 2);
  });

  it("replays embeddings", async () => {
    let calls = 0;
    const model = {
      specificationVersion: version,
      provider: "scripted",
      modelId: "e",
      maxEmbeddingsPerCall: 2,
      supportsParallelCalls: true,
      doEmbed: async ({ values }: { values: string[] }) => {
        calls += 1;
        return { embeddings: values.map((text) => [text.length, calls]), usage: { tokens: 1 }, warnings: [] };
      },
    };
    const program = async () => {
      const wrapped = rewindEmbeddingModel(model) as never;
      const { embeddings } = await sdk.embedMany({ model: wrapped, values: ["a", "bb", "ccc"] });
      const { embedding, usage } = await sdk.embed({ model: wrapped, value: "a" });
      return { embeddings, embedding, usage };
    };
    const { value, snapshot } = await record(program);
    expect([value.embeddings.length, calls]).toEqual([3, 3]);
    expect(await replayed(program, snapshot)).toEqual(value);
    expect(calls).toBe(3);
  });
});

/** The result as plain data, without the times that the SDK measures itself. */
function comparable(part: object): object {
  const data = JSON.parse(
    JSON.stringify(part, (key, value: unknown) => (/Ms$|^performance$/.test(key) ? undefined : value)),
  ) as object;
  return "error" in part ? { ...data, error: part.error } : data;
}

describe("tools", () => {
  const run = async (tools: object, name: string) => {
    const { execute } = (tools as Record<string, { execute: (input: object, options: object) => unknown }>)[name] ?? {};
    const output = execute?.({ q: 1 }, {});
    const outputs: unknown[] = [];
    const isStream = typeof output === "object" && output !== null && Symbol.asyncIterator in output;
    if (!isStream) return output;
    for await (const value of output as AsyncIterable<unknown>) outputs.push(value);
    return outputs;
  };

  it("replays tools with several outputs, failing tools and provider-executed tools", async () => {
    let liveCalls = 0;
    const tools = wrapTools({
      several: {
        async *execute() {
          liveCalls += 1;
          yield { status: "loading" };
          yield { at: new Date(1), url: new URL("http://host/") };
        },
      },
      fails: {
        execute: async () => {
          liveCalls += 1;
          throw new RangeError("no");
        },
      },
      elsewhere: { type: "provider-defined" as const },
    });
    const program = async () => [
      await run(tools, "several"),
      await (run(tools, "fails") as Promise<never>).catch((error: Error) => `${error.name}: ${error.message}`),
      tools.elsewhere,
    ];
    const { value, snapshot } = await record(program);
    expect(value).toEqual([
      [{ status: "loading" }, { at: new Date(1), url: new URL("http://host/") }],
      "RangeError: no",
      { type: "provider-defined" },
    ]);
    expect(await replayed(program, snapshot)).toEqual(value);
    expect(liveCalls).toBe(2);
    // Outside of runs the tools are unchanged.
    expect(await run(tools, "several")).toEqual((value as unknown[])[0]);
  });

  it("records the calls inside a tool, which answer only there", async () => {
    const model = sdkModel("v3");
    const wrapped = ai6.wrapLanguageModel({ model: model as never, middleware: rewindMiddleware() });
    const tools = wrapTools({
      ask: { execute: async () => (await ai6.generateText({ model: wrapped, prompt: "sub" })).text },
    });
    const snapshot: AgentSnapshot = await runWith(
      async () => {
        expect(await run(tools, "ask")).toBe("answer 0");
        return dumpSnapshot();
      },
      { enableSnapshot: true },
    );
    const [tool, inner] = snapshot.root.calls ?? [];
    expect([tool?.kind, inner?.kind, inner?.within]).toEqual(["tool", "model", tool?.callId]);
    const outside = replay(() => ai6.generateText({ model: wrapped, prompt: "sub" }), { snapshot });
    await expect(outside).rejects.toThrow("answers only inside root/tool:ask:0");
  });
});
