// A queue starts a task when the one before has ended, in the async context of that one. Each call still belongs to the
// agent that has added it.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

import { ChatOpenAI } from "@langchain/openai";
import { journalCall, replay, runFrame, runWith, type AgentSnapshot } from "agent-rewind";
import { dumpSnapshot } from "agent-rewind/debugger";
import { rewindFetch } from "agent-rewind/fetch";
import { describe, expect, it } from "vitest";

import { chatCompletion, json, modelServer } from "../support/model-server.js";

type Add = <T>(task: () => Promise<T>) => Promise<T>;

const require = createRequire(import.meta.url);
/** Loads the p-queue that a package uses. */
async function queueOf(name: string): Promise<new (options: object) => { add: Add }> {
  const { default: loaded } = await import(pathToFileURL(createRequire(require.resolve(name)).resolve("p-queue")).href);
  return loaded.default ?? loaded;
}

/** Three agents ask the same questions at the same time. Expects each answer in the frame of its agent. */
async function expectOwnFrames(ask: (question: string) => Promise<string>, asked: () => number): Promise<void> {
  const program = () =>
    Promise.all(
      ["x", "y", "z"].map((input) =>
        runFrame({ id: "agent", input }, async () => `${await ask("same question")}, ${await ask(`and ${input}`)}`),
      ),
    );
  let snapshot: AgentSnapshot | undefined;
  const value = await runWith(
    async () => {
      const answers = await program();
      snapshot = dumpSnapshot();
      return answers;
    },
    { enableSnapshot: true },
  );
  const frames = Object.values(snapshot?.root.children ?? {}).flat();
  expect(frames.map(({ calls }) => calls?.length)).toEqual([2, 2, 2]);
  const before = asked();
  expect(await replay(program, { snapshot: snapshot as AgentSnapshot })).toEqual(value);
  expect(asked()).toBe(before);
}

describe("calls through a queue that agents share belong to the agent that added them", () => {
  it.each(["@langchain/core/utils/async_caller", "@langchain/langgraph-sdk"])("p-queue, as of %s", async (name) => {
    const queue = new (await queueOf(name))({ concurrency: 1 });
    let made = 0;
    const ask = (question: string) =>
      queue.add(() =>
        journalCall({ kind: "chat", name: "m", request: { question } }, async () => `answer ${(made += 1)}`),
      );
    await expectOwnFrames(ask, () => made);
  });

  it("maxConcurrency of LangChain", async () => {
    await using server = await modelServer((_request, index) => json(chatCompletion(`answer ${index}`)));
    const model = new ChatOpenAI({
      model: "m",
      apiKey: "k",
      maxRetries: 0,
      maxConcurrency: 1,
      configuration: { baseURL: server.url, fetch: rewindFetch() },
    });
    await expectOwnFrames(
      async (question) => (await model.invoke(question)).text,
      () => server.requests.length,
    );
  });

  it("a task that was added outside of runs stays outside", async () => {
    const queue = new (await queueOf("@langchain/langgraph-sdk"))({ concurrency: 1 });
    let open = (): void => {};
    const first = new Promise<void>((resolve) => (open = resolve));
    const { context } = await runWith(async () => ({ context: void queue.add(() => first) }));
    expect(context).toBeUndefined();
    const { getContext } = await import("agent-rewind/integration");
    const outside = queue.add(async () => getContext());
    open();
    expect(await outside).toBeUndefined();
  });
});
