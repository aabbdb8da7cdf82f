// The AI SDK does not cancel the stream of a model when the program stops reading. A resumed run sends nothing again.
import { createOpenAI } from "@ai-sdk/openai";
import { journalCall, resume, type AgentSnapshot } from "agent-rewind";
import { rewindMiddleware } from "agent-rewind/ai-sdk";
import { dumpSnapshot } from "agent-rewind/debugger";
import * as ai6 from "ai";
import * as ai5 from "ai5";
import * as ai7 from "ai7";
import { describe, expect, it } from "vitest";

import { chatStream, modelServer } from "../support/model-server.js";
import { record, replayed } from "../support/recorded.js";

type Sdk = typeof ai6;
const SDKS = { 5: ai5 as unknown as Sdk, 6: ai6, 7: ai7 as unknown as Sdk };

describe.each(Object.entries(SDKS))("AI SDK %s", (_version, sdk) => {
  const modelOf = (url: string) =>
    sdk.wrapLanguageModel({
      model: createOpenAI({ baseURL: url, apiKey: "k" }).chat("m"),
      middleware: rewindMiddleware() as never,
    });
  /** The next step of the program, while which the SDK fills its buffers. */
  const next = (request: unknown) =>
    journalCall({ kind: "step", name: "next", request }, async () => {
      await using server = await modelServer(() => ({ body: String(Math.random()) }));
      return (await fetch(server.url)).text();
    });

  const READERS: Record<string, (url: string) => Promise<unknown>> = {
    "left after three deltas": async (url) => {
      const deltas: string[] = [];
      for await (const delta of sdk.streamText({ model: modelOf(url), prompt: "hi" }).textStream) {
        deltas.push(delta);
        if (deltas.length === 3) break;
      }
      return [deltas, await next(deltas)];
    },
    "left after its start": async (url) => {
      const { fullStream } = sdk.streamText({ model: modelOf(url), prompt: "hi" });
      for await (const { type } of fullStream) if (type === "text-start") break;
      return next("first");
    },
    "read to its end": async (url) => {
      const text = await sdk.streamText({ model: modelOf(url), prompt: "hi" }).text;
      return [text, await next(text)];
    },
  };

  it.each(Object.entries(READERS))("replays and resumes without a request: %s", async (_how, read) => {
    // More parts than the SDK's streams hold, all at once.
    await using server = await modelServer(() => ({ body: chatStream("delta ".repeat(50)) }));
    const program = () => read(server.url);
    const { value, snapshot } = await record(program);
    expect(server.requests).toHaveLength(1);
    expect(await replayed(program, snapshot)).toEqual(value);
    expect(await resume(program, { snapshot })).toEqual(value);
    expect(server.requests).toHaveLength(1);
  });

  it("sends it again if the run was dumped in the middle of it", async () => {
    await using server = await modelServer(() => ({ body: chatStream("delta ".repeat(50)), cut: 200 }));
    let middle: AgentSnapshot | undefined;
    const program = async (dump: () => void) => {
      let text = "";
      for await (const delta of sdk.streamText({ model: modelOf(server.url), prompt: "hi" }).textStream) {
        if (text === "") dump();
        text += delta;
      }
      return text;
    };
    const { value } = await record(() => program(() => (middle = dumpSnapshot())));
    expect(await resume(() => program(() => {}), { snapshot: middle as AgentSnapshot })).toBe(value);
    expect(server.requests).toHaveLength(2);
  });
});
