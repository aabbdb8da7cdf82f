// The real OpenAI client in recorded and replayed runs.
import {
  createAgent,
  equipInstruction,
  equipSystem,
  equipTool,
  promptAgent,
  replay,
  runWith,
  type AgentSnapshot,
  type ReplayReport,
} from "agent-rewind";
import { dumpSnapshot, restoreSnapshot } from "agent-rewind/debugger";
import { createOpenAIModel, type OpenAIModelOptions } from "agent-rewind/openai";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { recorder } from "../support/recorder.js";
import { double } from "../support/streaming.js";
import { failureOf } from "./collect.js";
import {
  delta,
  finish,
  fragment,
  json,
  startEndpoint,
  stream,
  type EndpointRequest,
  type Handler,
} from "./endpoint.js";

const usage = { choices: [], usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 } };

const agent = createAgent({
  id: "counter",
  handler: async ({ n }: { n: number }) => {
    equipSystem("You count.");
    equipInstruction(`Double ${n}, twice.`);
    equipTool(double);
    return promptAgent(z.strictObject({ sum: z.number() }));
  },
});

/** Calls two tools at once, then answers. */
const counting: Handler = (request, response) => {
  const results = request.body["messages"].filter((message: { role: string }) => message.role === "tool");
  const asking = [
    delta({ reasoning_content: "Hm." }),
    fragment(0, "a", "double", '{"n"'),
    fragment(1, "b", "double", '{"n":3}'),
    fragment(0, undefined, "", ":2}"),
    finish("tool_calls"),
    usage,
  ];
  const answering = [delta({ content: '{"sum":' }), delta({ content: "10}" }), finish(), usage];
  return stream(results.length === 0 ? asking : answering)(request, response);
};

const prices = { m: { prompt: 1, completion: 5 } };

interface Outcome {
  result: { sum: number } | undefined;
  error: Error | undefined;
  snapshot: AgentSnapshot;
}

async function recorded(handler: Handler, options: Partial<OpenAIModelOptions> = {}) {
  const endpoint = await startEndpoint(handler);
  const model = createOpenAIModel({ model: "m", client: endpoint.client({ logLevel: "off" }), prices, ...options });
  const events = recorder();
  const run = async (): Promise<Outcome> => {
    try {
      return { result: await agent({ n: 1 }), error: undefined, snapshot: dumpSnapshot() };
    } catch (error) {
      return { result: undefined, error: error as Error, snapshot: dumpSnapshot() };
    }
  };
  const ended = await runWith(run, { model, eventBus: events, enableSnapshot: true });
  return { ...ended, endpoint, model, events, run };
}

it("replays a run from its dump, from the dump's JSON and from its trace, with the same result and no request", async () => {
  const { result, snapshot, endpoint, model, events } = await recorded(counting);
  expect(result).toEqual({ sum: 10 });
  expect(endpoint.requests).toHaveLength(2);
  expect(endpoint.requests[1]!.body["messages"].slice(2)).toMatchObject([
    { role: "assistant", tool_calls: [{ id: "a" }, { id: "b" }] },
    { role: "tool", tool_call_id: "a", content: "4" },
    { role: "tool", tool_call_id: "b", content: "6" },
  ]);
  const kept = JSON.parse(JSON.stringify(snapshot)) as typeof snapshot;
  for (const source of [snapshot, kept, restoreSnapshot(events.events)]) {
    let report: ReplayReport | undefined;
    const again = await replay(() => agent({ n: 1 }), {
      snapshot: source,
      model,
      onReport: (ended) => (report = ended),
      enableSnapshot: true,
    });
    expect(again).toEqual(result);
    expect(report).toMatchObject({ replayed: 4, live: 0, missed: 0 });
  }
  expect(endpoint.requests).toHaveLength(2);
  const { aggregate } = snapshot.root.budgetState;
  expect(aggregate).toMatchObject({ promptTokens: 20, completionTokens: 4, callCount: 2, costs: { microdollars: 40 } });
});

it("replays without a client and therefore without a key", async () => {
  const { result, snapshot } = await recorded(counting);
  const client = (): never => {
    throw new Error("no key");
  };
  const model = createOpenAIModel({ model: "m", client });
  expect(await replay(() => agent({ n: 1 }), { snapshot, model, enableSnapshot: true })).toEqual(result);
});

it("hashes the model options and the settings of the adapter", async () => {
  const { snapshot, endpoint } = await recorded(counting, { modelOptions: { temperature: 0 } });
  const misses = async (options: Partial<OpenAIModelOptions>) => {
    const model = createOpenAIModel({ model: "m", client: endpoint.client(), ...options });
    const again = replay(() => agent({ n: 1 }), { snapshot, model, enableSnapshot: true });
    return again.then(
      () => false,
      (error: Error) => error.name === "ReplayMissError",
    );
  };
  expect(await misses({ modelOptions: { temperature: 0 } })).toBe(false);
  expect(await misses({ modelOptions: { temperature: 1 } })).toBe(true);
  expect(await misses({ modelOptions: { temperature: 0 }, structuredOutput: "json_object" })).toBe(true);
  expect(endpoint.requests).toHaveLength(2);
});

describe("retries of the client", () => {
  it.each([429, 503])("after status %i are attempts of one call", async (status) => {
    const refusedOnce = (request: EndpointRequest, response: Parameters<Handler>[1]): void => {
      const isRetry = Number(request.headers["x-stainless-retry-count"]) > 0;
      const refuse = json({ error: { message: "later" } }, status, { "retry-after-ms": "1" });
      return (isRetry ? counting : refuse)(request, response);
    };
    const { result, snapshot, endpoint, model } = await recorded(refusedOnce, { maxRetries: 2 });
    expect(result).toEqual({ sum: 10 });
    expect(endpoint.requests).toHaveLength(4);
    const frame = Object.values(snapshot.root.children)[0]!;
    const prompts = frame.calls!.filter(({ kind }) => kind === "prompt");
    expect(prompts).toHaveLength(2);
    expect(prompts.every((call) => call.error === undefined)).toBe(true);
    expect(await replay(() => agent({ n: 1 }), { snapshot, model, enableSnapshot: true })).toEqual(result);
    expect(endpoint.requests).toHaveLength(4);
  });

  it("that all fail are one failed call, which is replayed as a failure", async () => {
    const handler = json({ error: { message: "later", code: "rate_limited" } }, 429, { "retry-after-ms": "1" });
    const { error, snapshot, endpoint, model, run } = await recorded(handler, { maxRetries: 2 });
    expect(endpoint.requests).toHaveLength(3);
    expect(error).toMatchObject({ name: "ModelCallError", cause: { name: "OpenAIModelError", status: 429 } });
    const frame = Object.values(snapshot.root.children)[0]!;
    expect(frame.calls).toHaveLength(1);
    const again = await replay(run, { snapshot, model, enableSnapshot: true });
    expect(again.error).toMatchObject({
      name: "ModelCallError",
      message: error?.message,
      cause: { name: "OpenAIModelError", status: 429, reason: "rate_limited" },
    });
    expect(endpoint.requests).toHaveLength(3);
  });
});

it("aborts the call with the run and calls again on resume", async () => {
  const controller = new AbortController();
  const endpoint = await startEndpoint((_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(`data: ${JSON.stringify(delta({ content: "Half" }))}\n\n`, () => controller.abort("enough"));
  });
  const model = createOpenAIModel({ model: "m", client: endpoint.client() });
  let snapshot: AgentSnapshot | undefined;
  const run = () => agent({ n: 1 }).finally(() => (snapshot = dumpSnapshot()));
  const error = await failureOf(runWith(run, { model, signal: controller.signal, enableSnapshot: true }));
  expect(error).toMatchObject({ name: "AbortError", reason: "enough" });
  endpoint.handler = counting;
  expect(await runWith(() => agent({ n: 1 }), { model, snapshot: snapshot!, enableSnapshot: true })).toEqual({
    sum: 10,
  });
});

it("passes a refusal to the program as the cause of its failure", async () => {
  const handler = stream([delta({ refusal: "No." }), finish()]);
  const failure = await failureOf(recorded(handler).then(({ error }) => Promise.reject(error as Error)));
  expect(failure).toMatchObject({ name: "ModelCallError", cause: { code: "ERR_REWIND_OPENAI_REFUSAL" } });
});
