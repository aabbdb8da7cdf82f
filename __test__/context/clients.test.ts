// The official clients of the vendors against a local server.
import Anthropic from "@anthropic-ai/sdk";
import {
  createAgent,
  equipInstruction,
  journalCall,
  promptAgent,
  runFrame,
  runWith,
  type ModelAdapter,
} from "agent-rewind";
import { ContextManager, requestOf, verifyCapture, type BoundaryCapture } from "agent-rewind/context";
import { dumpSnapshot } from "agent-rewind/debugger";
import OpenAI from "openai";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";

import { modelServer, type ModelServer, type Received } from "./model-server.js";
import { recorder } from "../support/recorder.js";

let server: ModelServer;
let manager: ContextManager;
let captured: BoundaryCapture[];
let fails: (received: Received) => boolean;

beforeEach(async () => {
  fails = () => false;
  server = await modelServer((received) => fails(received));
  manager = new ContextManager({ sessionId: "s" });
  captured = [];
  manager.registerCaptureCallback((data) => captured.push(data));
});

afterEach(async () => {
  await manager.close();
  await server.close();
});

const openai = (): OpenAI =>
  new OpenAI({ apiKey: "sk-secret", baseURL: `${server.url}/v1`, fetch: manager.captureFetch() });
const anthropic = (): Anthropic =>
  new Anthropic({ apiKey: "sk-ant-secret", baseURL: server.url, fetch: manager.captureFetch() });

const messages = [
  { role: "user" as const, content: 'Wie geht\'s? 你好 😀 \ud83d \u2028 "q" 1.0' },
  { role: "assistant" as const, content: "gut" },
  { role: "user" as const, content: "ok" },
];
const chatTools = [
  { type: "function" as const, function: { name: "look", parameters: { type: "object", properties: {} } } },
];

const CALLS: Record<string, () => Promise<unknown>> = {
  "openai chat": () =>
    openai().chat.completions.create({ model: "gpt-4o", messages, temperature: 0.5, tools: chatTools }),
  "openai chat, streamed": async () => {
    const stream = await openai().chat.completions.create({
      model: "gpt-4o",
      messages,
      stream: true,
      tools: chatTools,
    });
    for await (const chunk of stream) expect(chunk.object).toBe("chat.completion.chunk");
  },
  "openai responses": () => openai().responses.create({ model: "gpt-4o", input: messages, instructions: "Be brief." }),
  "openai responses, streamed": async () => {
    const stream = await openai().responses.create({ model: "gpt-4o", input: messages, stream: true });
    for await (const event of stream) expect(event.type).toMatch(/^response\./);
  },
  "anthropic messages": () =>
    anthropic().messages.create({ model: "claude-opus-9", max_tokens: 9, messages, system: "Be brief." }),
  "anthropic messages, streamed": () =>
    anthropic().messages.stream({ model: "claude-opus-9", max_tokens: 9, messages }).finalMessage(),
};

describe("captureFetch in a client", () => {
  it.each(Object.keys(CALLS))("captures exactly the bytes that the server received: %s", async (name) => {
    await CALLS[name]?.();
    expect(server.received).toHaveLength(1);
    expect(captured).toHaveLength(1);
    const [[received], [data]] = [server.received, captured] as [[Received], [BoundaryCapture]];
    expect(data.body).toBe(received.body.toString("utf8"));
    expect(Buffer.from(data.body ?? "", "utf8").equals(received.body)).toBe(true);
    const sent = JSON.parse(received.body.toString("utf8")) as Record<string, unknown>;
    expect(data.messages).toEqual(sent["messages"] ?? sent["input"]);
    expect(data.tools).toEqual(sent["tools"] ?? []);
    expect(data).toMatchObject({ source: "wire", attempt: 1, replayed: false, sessionId: "s", model: sent["model"] });
    expect(data.wire).toMatchObject({ method: "POST", url: `${server.url}${received.path}` });
    expect(verifyCapture(data)).toEqual({ valid: true, faults: [] });
    expect(JSON.stringify(data)).not.toContain("secret");
  });

  it("captures before the request leaves", async () => {
    const order: string[] = [];
    fails = () => {
      order.push("received");
      return false;
    };
    manager.registerCaptureCallback(() => order.push("told"));
    await CALLS["openai chat"]?.();
    expect(order).toEqual(["told", "received"]);
  });

  it("can send the captured request again", async () => {
    await CALLS["anthropic messages"]?.();
    const kept = JSON.parse(JSON.stringify(captured[0])) as BoundaryCapture;
    const { url, method, headers, body } = requestOf(kept);
    const response = await fetch(url ?? "", { method: method ?? "", headers: { ...headers, "x-api-key": "k" }, body });
    expect(response.ok).toBe(true);
    const [first, second] = server.received as [Received, Received];
    expect(second.body.equals(first.body)).toBe(true);
    expect(second.headers["anthropic-version"]).toBe(first.headers["anthropic-version"]);
  });

  it("distinguishes retries", async () => {
    fails = ({ headers }) => Number(headers["x-stainless-retry-count"]) < 2;
    await CALLS["openai chat"]?.();
    await CALLS["anthropic messages"]?.();
    expect(captured.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 1, 2, 3]);
    expect(captured.map(({ body }) => body)).toEqual(server.received.map(({ body }) => body.toString("utf8")));
  });

  it("captures a thousand requests a thousand times, in order", { timeout: 60_000 }, async () => {
    const client = openai();
    for (let turn = 0; turn < 1_000; turn++) {
      await client.chat.completions.create({ model: "gpt-4o", messages: [{ role: "user", content: `turn ${turn}` }] });
    }
    expect(captured.map(({ messages: [message] }) => (message as { content: string }).content)).toEqual(
      Array.from({ length: 1_000 }, (_, turn) => `turn ${turn}`),
    );
    expect(captured.map(({ body }) => body)).toEqual(server.received.map(({ body }) => body.toString("utf8")));
  });

  it("is stopped by a blocking callback", async () => {
    manager.registerCaptureCallback(
      () => {
        throw new RangeError("not this");
      },
      { blocking: true },
    );
    const client = new OpenAI({ apiKey: "k", baseURL: server.url, fetch: manager.captureFetch(), maxRetries: 0 });
    const failure = await client.chat.completions.create({ model: "m", messages }).catch((error: unknown) => error);
    expect((failure as Error).cause).toBeInstanceOf(RangeError);
    expect(server.received).toHaveLength(0);
  });

  it("passes on requests that do not go to a model without capturing them", async () => {
    const through = manager.captureFetch();
    await through(`${server.url}/x`);
    const post = (path: string, body: string): Promise<Response> =>
      through(`${server.url}${path}`, { method: "POST", body });
    await post("/v1/messages/count_tokens", '{"messages":[]}');
    await post("/v1/embeddings", '{"input":"x","model":"m"}');
    await post("/v1/x", '{"a":1}');
    expect(captured).toHaveLength(0);
    expect(server.received).toHaveLength(4);
  });

  it("reads bodies of all kinds with a known length", async () => {
    const through = manager.captureFetch();
    const text = '{"model":"m","messages":[]}';
    const bytes = Buffer.from(text);
    const url = `${server.url}/v1/chat/completions?api-version=1&key=secret`;
    await through(url, { method: "POST", body: bytes });
    await through(new URL(url), { method: "POST", body: new Uint8Array(bytes).buffer });
    await through(url, { method: "POST", body: new Blob([text]) });
    await through(new Request(url, { method: "POST", body: text }));
    expect(server.received.map(({ body }) => body.toString())).toEqual([text, text, text, text]);
    expect(captured.map(({ body }) => body)).toEqual([text, text, text, text]);
    expect(new Set(captured.map(({ wire }) => wire?.url))).toEqual(
      new Set([`${server.url}/v1/chat/completions?api-version=1`]),
    );
  });
});

describe("captureFetch in a run", () => {
  /** A runtime model on top of a real client. */
  const adapter = (client: OpenAI): ModelAdapter => ({
    id: "gpt-4o",
    async *stream(list) {
      const { choices } = await client.chat.completions.create({ model: "gpt-4o", messages: list as typeof messages });
      yield { type: "text", content: choices[0]?.message.content ?? "" };
      yield { type: "finish", finishReason: "stop" };
    },
  });

  const program = (client: OpenAI) => (): Promise<string> =>
    runFrame({ id: "loop", input: {} }, async () => {
      const request = { model: "gpt-4o", messages: [...messages] };
      const { choices } = await journalCall({ kind: "chat", name: "gpt-4o", request }, () =>
        client.chat.completions.create(request),
      );
      return choices[0]?.message.content ?? "";
    });

  it("captures a call once, with the ids that link it to journal and trace, and marks replays", async () => {
    fails = ({ headers }) => headers["x-stainless-retry-count"] === "0";
    const bus = recorder();
    const client = openai();
    const dump = await runWith(
      async () => {
        await program(client)();
        return dumpSnapshot();
      },
      { eventBus: bus },
    );
    expect(captured.map(({ attempt, replayed, source }) => [attempt, replayed, source])).toEqual([
      [1, false, "wire"],
      [2, false, "wire"],
    ]);
    const start = bus.events.find(({ type }) => type === "call:start") as unknown as {
      callId: string;
      contentHash: string;
      trace: { spanId: string; traceId: string };
    };
    for (const data of captured) {
      expect(data).toMatchObject({ agentName: "loop", callId: start.callId });
      expect([data.traceId, data.spanId]).toEqual([start.trace.traceId, start.trace.spanId]);
      expect(data.contentHash).toBe(start.contentHash);
    }
    captured.length = 0;
    await runWith(program(client), { snapshot: dump });
    expect(server.received).toHaveLength(2);
    expect(captured).toHaveLength(1);
    expect(captured[0]).toMatchObject({ replayed: true, source: "model", attempt: 1, callId: start.callId });
    expect(captured[0]?.contentHash).toBe(start.contentHash);
    expect(captured[0]?.messages).toEqual(messages);
    expect(verifyCapture(captured[0] as BoundaryCapture).valid).toBe(true);
  });

  const agent = createAgent({
    id: "asker",
    handler: async () => {
      equipInstruction("hi");
      return promptAgent(z.string());
    },
  });

  it("captures a call once when an agent of the runtime uses the client", async () => {
    await runWith(() => agent(), { model: adapter(openai()) });
    expect(captured).toHaveLength(1);
    expect(captured[0]).toMatchObject({
      source: "wire",
      agentName: "asker",
      callId: "root/agent:asker:0/prompt:gpt-4o:0",
    });
    expect(captured[0]?.body).toBe(server.received[0]?.body.toString("utf8"));
  });

  it("captures a model that bypasses the fetch too, and warns about it", async () => {
    const onError = vi.fn<(error: unknown) => void>();
    const own = new ContextManager({ onError });
    const seen: BoundaryCapture[] = [];
    own.registerCaptureCallback((data) => seen.push(data));
    own.captureFetch();
    const past = new OpenAI({ apiKey: "k", baseURL: server.url });
    await runWith(() => agent(), { model: adapter(past) });
    expect(seen).toHaveLength(1);
    expect(String(onError.mock.calls[0]?.[0])).toContain("did not go through captureFetch");
    await own.close();
  });
});
