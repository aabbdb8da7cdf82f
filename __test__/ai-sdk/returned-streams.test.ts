// Runs whose function returns a result of streamText, as a web handler does.
import { journalCall, type AgentSnapshot } from "agent-rewind";
import { rewindMiddleware, wrapTools } from "agent-rewind/ai-sdk";
import * as ai6 from "ai";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { turn } from "../support/deferred.js";
import { openRun, readInside, replays } from "../support/open-run.js";
import { sdkModel, type SdkModel } from "../support/sdk-model.js";

/** The tests use all three versions through one type. */
type Sdk = typeof ai6;
const VERSIONS: [name: string, sdk: Sdk, version: SdkModel["specificationVersion"]][] = [
  ["5", (await import("ai5")) as unknown as Sdk, "v2"],
  ["6", ai6, "v3"],
  ["7", (await import("ai7")) as unknown as Sdk, "v4"],
];

describe.each(VERSIONS)("AI SDK %s", (_name, sdk, version) => {
  const model = sdkModel(version);
  let looked = 0;
  const tools = wrapTools({
    weather: sdk.tool({
      description: "Tells the weather",
      inputSchema: z.object({ city: z.string() }),
      execute: async ({ city }) => {
        looked += 1;
        await turn();
        return { city };
      },
    }),
  });
  const ask = () =>
    sdk.streamText({
      model: sdk.wrapLanguageModel({ model: model as never, middleware: rewindMiddleware() }),
      prompt: "hi",
      tools,
      stopWhen: sdk.stepCountIs(3),
      onFinish: async ({ text }) => {
        await journalCall({ kind: "step", name: "save", request: { text } }, () => turn());
      },
    });
  type Result = ReturnType<typeof ask>;
  const textOf = async (stream: AsyncIterable<string>): Promise<string> => {
    let text = "";
    for await (const delta of stream) text += delta;
    return text;
  };
  const partsOf = async ({ fullStream }: Result): Promise<string> => {
    let text = "";
    for await (const part of fullStream) if (part.type === "text-delta") text += part.text;
    return text;
  };

  const kinds: Record<string, [start: () => unknown, read: (value: never) => Promise<string>]> = {
    "the result, read by its text stream": [ask, (result: Result) => textOf(result.textStream)],
    "the result, read by its parts": [ask, partsOf],
    "the result, read by its promises": [ask, async (result: Result) => result.text],
    "the result, read twice": [
      ask,
      async (result: Result) => (await Promise.all([textOf(result.textStream), result.text])).join("|"),
    ],
    "its text stream": [() => ask().textStream, textOf],
    "a response with its text": [() => ask().toTextStreamResponse(), (response: Response) => response.text()],
    "a response with its parts": [
      () => ask().toUIMessageStreamResponse(),
      async (response: Response) =>
        [...(await response.text()).matchAll(/"delta":"([^"]*)"/g)].map(([, delta]) => delta).join(""),
    ],
    "an object with its result": [
      async () => ({ id: 1, reply: ask().textStream }),
      ({ reply }: { reply: AsyncIterable<string> }) => textOf(reply),
    ],
  };

  it.each(Object.entries(kinds))("records %s until it was read", async (_kind, [start, given]) => {
    const read = given as (value: unknown) => Promise<string>;
    model.calls.length = 0;
    looked = 0;
    const run = await openRun(start);
    expect(run.ends).toEqual([]);
    const value = await read(run.value);
    await turn();
    expect(value).toContain("answer 1");
    expect(run.ends).toEqual([{}]);
    const callsOf = ({ root }: AgentSnapshot): unknown =>
      root.calls?.map(({ kind, endOrder }) => [kind, endOrder !== undefined]);
    for (const snapshot of [run.dump(), run.restored()])
      expect(callsOf(snapshot)).toEqual([
        ["model", true],
        ["tool", true],
        ["model", true],
        ["step", true],
      ]);
    for (const { read: same, again } of await replays(run, start, read)) {
      expect(same).toBe(value);
      await turn();
      expect(again.reports).toMatchObject([{ replayed: 4, live: 0, missed: 0 }]);
      expect(again.ends).toEqual([{}]);
    }
    expect(await readInside(run.dump(), start, read)).toBe(value);
    expect([model.calls.length, looked]).toEqual([2, 1]);
  });

  it("ends a run at once whose function has read the result", async () => {
    const run = await openRun(async () => {
      const result = ask();
      await textOf(result.textStream);
      return result;
    });
    expect(run.ends).toEqual([{}]);
  });

  it("ends a run when the program leaves the stream", async () => {
    for (const leave of [
      async (response: Response) => response.body?.cancel(),
      async (response: Response) => {
        const reader = response.body?.getReader();
        await reader?.read();
        await reader?.cancel();
      },
    ]) {
      const run = await openRun(() => ask().toUIMessageStreamResponse());
      await leave(run.value);
      await turn();
      expect(run.ends).toEqual([{}]);
    }
    const run = await openRun(ask);
    for await (const delta of run.value.textStream) {
      expect(delta).toBe("a");
      break;
    }
    await turn();
    expect(run.ends).toEqual([{}]);
  });
});
