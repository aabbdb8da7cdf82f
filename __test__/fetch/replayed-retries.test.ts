// Recorded failures that a client retried are replayed without its pauses, whatever the server asked for.
import { createOpenAI } from "@ai-sdk/openai";
import Anthropic from "@anthropic-ai/sdk";
import { resume, runWith, type AgentSnapshot, type TraceEvent } from "agent-rewind";
import { rewindEmbeddingModel, rewindMiddleware } from "agent-rewind/ai-sdk";
import { restoreSnapshot } from "agent-rewind/debugger";
import { rewindFetch } from "agent-rewind/fetch";
import * as ai6 from "ai";
import * as ai5 from "ai5";
import * as ai7 from "ai7";
import OpenAI from "openai";
import OpenAI7 from "openai7";
import { describe, expect, it } from "vitest";

import { chatCompletion, json, modelServer, type ModelServer, type Scripted } from "../support/model-server.js";
import { withoutWaiting } from "../support/pauses.js";
import { outcome, record, replayed } from "../support/recorded.js";

const message = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "m",
  content: [{ type: "text", text: "fine" }],
  stop_reason: "end_turn",
  usage: { input_tokens: 1, output_tokens: 1 },
};
const embeddings = { object: "list", model: "m", data: [{ index: 0, embedding: [1, 2] }], usage: { prompt_tokens: 1 } };
const fine = ({ path }: { path: string }): Scripted =>
  json(path.includes("messages") ? message : path.includes("embeddings") ? embeddings : chatCompletion("fine"));

/** The body that a server sends with a status that is retried. */
const SAYS: Record<string, Record<string, string>> = {
  nothing: {},
  "seconds to wait": { "retry-after": "7" },
  "a date to wait for": { "retry-after": new Date(Date.now() + 900_000).toUTCString() },
  "both headers": { "retry-after": "30", "retry-after-ms": "9000" },
};
const busy = (headers: Record<string, string>, status = 429): Scripted =>
  json({ type: "error", error: { message: "slow down" } }, { status, headers });

const hi = [{ role: "user" as const, content: "hi" }];
const fetch = rewindFetch();
const MARKED: Record<string, (baseURL: string) => Promise<unknown>> = {
  "OpenAI 6": (baseURL) =>
    new OpenAI({ apiKey: "k", baseURL, fetch }).chat.completions.create({ model: "m", messages: hi }),
  "OpenAI 7": (baseURL) =>
    new OpenAI7({ apiKey: "k", baseURL, fetch }).chat.completions.create({ model: "m", messages: hi }),
  Anthropic: (baseURL) =>
    new Anthropic({ apiKey: "k", baseURL, fetch }).messages.create({ model: "m", max_tokens: 9, messages: hi }),
};

describe.each(Object.entries(MARKED))("a client that marks its retries: %s", (_name, ask) => {
  it.each(Object.entries(SAYS))("gives up without pauses, after a server that said: %s", async (_what, headers) => {
    await using server = await modelServer(() => busy(headers));
    const program = () => outcome(ask(server.url));
    const live = await withoutWaiting(() => record(program));
    const { value, snapshot } = live.result;
    expect([server.requests.length, live.pauses.length]).toEqual([3, 2]);
    expect(Math.min(...live.pauses)).toBeGreaterThan(100);
    await server.stop();
    const again = await withoutWaiting(() => replayed(program, snapshot));
    expect(again).toEqual({ result: value, pauses: [1, 1] });
  });

  it("retries if the recording ends between two attempts", async () => {
    let isBusy = true;
    await using server = await modelServer((request) => (isBusy ? busy({}) : fine(request)));
    const events: TraceEvent[] = [];
    await withoutWaiting(() =>
      runWith(() => outcome(ask(server.url)), { eventBus: { emit: (event) => void events.push(event) } }),
    );
    // A later call shows that the failure of the first attempt was handled.
    const starts = [...events.keys()].filter((at) => events[at]?.type === "call:start");
    expect(starts).toHaveLength(3);
    isBusy = false;
    for (const [attempts, start] of starts.entries()) {
      if (attempts === 0) continue;
      const snapshot = restoreSnapshot(events.slice(0, start));
      server.requests.length = 0;
      const { result } = await withoutWaiting(() => resume(() => ask(server.url), { snapshot }));
      expect(JSON.stringify(result)).toContain("fine");
      expect(server.requests).toHaveLength(1);
      const kept = await withoutWaiting(() => resume(() => ask(server.url), { snapshot, failures: "replay" }));
      expect(JSON.stringify(kept.result)).toContain("fine");
      expect(server.requests).toHaveLength(2);
      // The recorded attempts are answered; the next one is live, after a pause.
      expect(server.requests[1]?.headers["x-stainless-retry-count"]).toBe(String(attempts));
      expect(kept.pauses).toHaveLength(attempts);
    }
  });
});

const SDKS = { 5: ai5 as unknown as typeof ai6, 6: ai6, 7: ai7 as unknown as typeof ai6 };
const openaiModel = (baseURL: string, own = {}) => createOpenAI({ baseURL, apiKey: "k", ...own }).chat("m");
const HOW: Record<string, (sdk: typeof ai6, baseURL: string) => ai6.LanguageModel> = {
  "OpenAI through its fetch": (_sdk, url) => openaiModel(url, { fetch }),
  "OpenAI through the middleware": (sdk, url) =>
    sdk.wrapLanguageModel({ model: openaiModel(url), middleware: rewindMiddleware() as never }),
};

describe.each(Object.entries(HOW))("the AI SDK with %s", (how, modelOf) => {
  // The provider itself is one of AI SDK 6.
  const sdks = Object.entries(SDKS).filter(([version]) => version !== "5" || how.includes("middleware"));
  it.each(sdks)("replays two failures and an answer without pauses: AI SDK %s", async (_version, sdk) => {
    await using server = await modelServer((request, index) =>
      index < 2 ? busy({ "retry-after": "7" }) : fine(request),
    );
    const program = async () =>
      (await sdk.generateText({ model: modelOf(sdk, server.url) as never, prompt: "hi" })).text;
    const live = await withoutWaiting(() => record(program));
    expect(live).toMatchObject({ result: { value: "fine" }, pauses: [7000, 7000] });
    await server.stop();
    expect(await withoutWaiting(() => replayed(program, live.result.snapshot))).toEqual({
      result: "fine",
      pauses: [1, 1],
    });
    expect(server.requests).toHaveLength(3);
  });
});

it("the AI SDK streams and embeds without the pauses of recorded failures, network failures too", async () => {
  await using server = await modelServer((request, index) =>
    index % 2 === 0 ? busy({ "retry-after": "7" }, 503) : fine(request),
  );
  let isDown = true;
  const flaky: typeof globalThis.fetch = (...args) => {
    if (isDown) return Promise.reject(new TypeError("fetch failed", { cause: new Error("ECONNREFUSED") }));
    return globalThis.fetch(...args);
  };
  const openai = createOpenAI({ baseURL: server.url, apiKey: "k", fetch: flaky });
  const model = ai6.wrapLanguageModel({ model: openai.chat("m"), middleware: rewindMiddleware() });
  const embedder = rewindEmbeddingModel(openai.textEmbeddingModel("m"));
  const program = async () => {
    const { embedding } = await ai6.embed({ model: embedder, value: "hi" });
    return [embedding, (await ai6.generateText({ model, prompt: "hi" })).text];
  };
  const live = await withoutWaiting(() => {
    setImmediate(() => (isDown = false));
    return record(program);
  });
  expect(live.result.value).toEqual([[1, 2], "fine"]);
  await server.stop();
  isDown = true;
  const again = await withoutWaiting(() => replayed(program, live.result.snapshot));
  expect(again.result).toEqual(live.result.value);
  expect(again.pauses).toEqual(live.pauses.map(() => 1));
});

describe("the header that ends a pause", () => {
  /** A loop of a program: how long it was asked to wait after each failure. */
  const loop = (send: typeof fetch, url: string) => async (): Promise<unknown[]> => {
    const asked: unknown[] = [];
    for (;;) {
      const response = await send(url, { method: "POST", body: "{}" });
      const { headers, status } = response;
      asked.push([status, headers.get("retry-after"), headers.get("retry-after-ms"), headers.get("x-should-retry")]);
      await response.text();
      if (response.ok || asked.length === 3) return asked;
    }
  };
  const headers = { "retry-after": "1", "x-should-retry": "false" };

  it("is added to failures that were asked again, and to nothing else", async () => {
    await using server = await modelServer(() => busy(headers));
    const program = loop(fetch, server.url);
    const { value, snapshot } = await record(program);
    const failure = [429, "1", null, "false"];
    expect(value).toEqual([failure, failure, failure]);
    const asked = [429, "1", "1", "false"];
    expect(await replayed(program, snapshot)).toEqual([asked, asked, failure]);
    // Not to the failures of requests that were open together.
    const parallel = () =>
      Promise.all([1, 2].map(() => fetch(server.url).then((got) => got.headers.get("retry-after-ms"))));
    expect(await replayed(parallel, (await record(parallel)).snapshot)).toEqual([null, null]);
  });

  it('is not added with `timing: "recorded"`', async () => {
    await using server = await modelServer((request, index) => (index < 2 ? busy(headers) : fine(request)));
    const program = loop(rewindFetch(undefined, { timing: "recorded" }), server.url);
    const { value, snapshot } = await record(program);
    expect(await replayed(program, snapshot)).toEqual(value);
    server.requests.length = 0;
    const model = ai6.wrapLanguageModel({
      model: openaiModel(server.url),
      middleware: rewindMiddleware({ timing: "recorded" }),
    });
    const ask = async () => (await ai6.generateText({ model, prompt: "hi" })).text;
    const live = await withoutWaiting(() => record(ask));
    const again = await withoutWaiting(() => replayed(ask, live.result.snapshot));
    expect(again).toEqual({ result: "fine", pauses: live.pauses });
    expect(live.pauses).toEqual([1000, 1000]);
  });
});

it("reads the body of a failure that a killed run had not read: none, if the server has recovered", async () => {
  let isBusy = true;
  await using server: ModelServer = await modelServer((request) => (isBusy ? busy({}, 503) : fine(request)));
  const ask = async (path: string): Promise<string> => {
    const response = await fetch(`${server.url}/${path}`, { method: "POST", body: path });
    return `${response.status} ${await response.text()}`;
  };
  const events: TraceEvent[] = [];
  const program = async () => {
    const failing = ask("busy");
    // Something else begins in another branch after the head of the failure.
    return [await failing, await ask("second")];
  };
  await runWith(program, { eventBus: { emit: (event) => void events.push(event) } });
  const head = events.findIndex(({ type }) => type === "call:answer");
  const killed: AgentSnapshot = restoreSnapshot(events.slice(0, head + 1));
  for (const [recovered, text] of [
    [false, /^503 \{.*slow down/],
    [true, /^503 $/],
  ] as const) {
    isBusy = !recovered;
    const [first] = await resume(program, { snapshot: killed, failures: "replay" });
    expect(first).toMatch(text);
  }
});
