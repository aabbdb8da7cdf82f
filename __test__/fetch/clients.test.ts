// On replay, the user of a client sees the same as in the live run.
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import { rewindFetch } from "agent-rewind/fetch";
import OpenAI from "openai";
import { describe, expect, it, onTestFinished } from "vitest";

import {
  chatStream,
  geminiStream,
  json,
  messagesStream,
  modelServer,
  responsesStream,
  type Scripted,
} from "../support/model-server.js";
import { outcome, record, replayed } from "../support/recorded.js";

const fetch = rewindFetch();
const MESSAGES = [{ role: "user" as const, content: "hi" }];

async function all<T>(stream: AsyncIterable<T>): Promise<{ parts: T[]; error?: unknown }> {
  const parts: T[] = [];
  try {
    for await (const part of stream) parts.push(part);
  } catch (error) {
    return { parts, error: { name: (error as Error).name, message: (error as Error).message } };
  }
  return { parts };
}

const openai = (url: string): OpenAI => new OpenAI({ apiKey: "key", baseURL: `${url}/v1`, fetch, maxRetries: 0 });
const anthropic = (url: string): Anthropic => new Anthropic({ apiKey: "key", baseURL: url, fetch, maxRetries: 0 });

const CLIENTS: Record<string, { body: string; ask: (url: string) => Promise<unknown> }> = {
  "OpenAI chat completions": {
    body: chatStream(),
    ask: async (url) =>
      all(await openai(url).chat.completions.create({ model: "gpt-x", messages: MESSAGES, stream: true })),
  },
  "OpenAI responses": {
    body: responsesStream(),
    ask: async (url) => all(await openai(url).responses.create({ model: "gpt-x", input: "hi", stream: true })),
  },
  "Anthropic messages": {
    body: messagesStream(),
    ask: async (url) => all(anthropic(url).messages.stream({ model: "claude-x", max_tokens: 9, messages: MESSAGES })),
  },
  "Anthropic messages, with an error on the way": {
    body: messagesStream({ error: true }),
    ask: async (url) =>
      all(await anthropic(url).messages.create({ model: "claude-x", max_tokens: 9, messages: MESSAGES, stream: true })),
  },
  "Gemini, by fetch": {
    body: geminiStream(),
    ask: async (url) => {
      const path = `${url}/v1beta/models/gemini-x:streamGenerateContent?alt=sse&key=secret`;
      const response = await fetch(path, { method: "POST", body: JSON.stringify({ contents: [{ text: "hi" }] }) });
      const chunks = await all(response.body as unknown as AsyncIterable<Uint8Array>);
      return { status: response.status, url: response.url, headers: [...response.headers], ...chunks };
    },
  },
};

describe.each(Object.entries(CLIENTS))("%s", (_name, { body, ask }) => {
  it.each([undefined, 1, 2, 3, 7, 64])("streamed in pieces of %s bytes", async (cut) => {
    await using server = await modelServer(() => ({ body, ...(cut === undefined ? {} : { cut }) }));
    const { value, snapshot, text } = await record(() => ask(server.url));
    await server.stop();
    expect(await replayed(() => ask(server.url), snapshot)).toEqual(value);
    expect(server.requests).toHaveLength(1);
    expect(JSON.stringify(value).length).toBeGreaterThan(100);
    expect(text).not.toMatch(/secret|Bearer|x-api-key/);
  });
});

it("records a client without a fetch option through the global fetch", async () => {
  await using server = await modelServer(() => ({ body: geminiStream() }));
  const gemini = new GoogleGenAI({ apiKey: "key", httpOptions: { baseUrl: server.url } });
  const ask = async (): Promise<unknown> =>
    all(await gemini.models.generateContentStream({ model: "gemini-x", contents: "hi" }));
  const own = globalThis.fetch;
  globalThis.fetch = rewindFetch(own);
  onTestFinished(() => void (globalThis.fetch = own));
  const { value, snapshot, text } = await record(ask);
  await server.stop();
  expect(value).toMatchObject({ parts: { length: 3 } });
  expect(await replayed(ask, snapshot)).toEqual(value);
  expect(server.requests).toHaveLength(1);
  expect(text).not.toContain('"key"');
});

describe("failures", () => {
  const ask = (url: string) => outcome(openai(url).chat.completions.create({ model: "gpt-x", messages: MESSAGES }));

  it.each([400, 401, 404, 429, 500, 503])("replays status %s as the error of the client", async (status) => {
    const answer: Scripted = json(
      { error: { message: `no ${status}`, type: "some_error", code: "some_code" } },
      { status, headers: { "x-request-id": "req_1" } },
    );
    await using server = await modelServer(() => answer);
    const { value, snapshot } = await record(() => ask(server.url));
    await server.stop();
    expect(value).toMatchObject({ error: { status, code: "some_code" } });
    expect(await replayed(() => ask(server.url), snapshot)).toEqual(value);
  });

  it("replays a network failure", async () => {
    const server = await modelServer(() => ({ body: "" }));
    await server.stop();
    const { value, snapshot } = await record(() => ask(server.url));
    expect(value).toMatchObject({ error: { class: "APIConnectionError" } });
    expect(await replayed(() => ask(server.url), snapshot)).toEqual(value);
  });

  it("treats the client's own retries as one request and replays the last one", async () => {
    const retry = { "retry-after-ms": "1" };
    await using server = await modelServer((_request, index) =>
      index < 2
        ? json({ error: { message: "busy" } }, { status: 503, headers: retry })
        : json({ choices: [{ message: { role: "assistant", content: `try ${index}` } }] }),
    );
    const patient = new OpenAI({ apiKey: "key", baseURL: server.url, fetch, maxRetries: 3 });
    const twice = async () => {
      const create = () => patient.chat.completions.create({ model: "gpt-x", messages: MESSAGES });
      return [(await create()).choices[0]?.message.content, (await create()).choices[0]?.message.content];
    };
    const { value, snapshot } = await record(twice);
    expect(value).toEqual(["try 2", "try 3"]);
    expect(server.requests).toHaveLength(4);
    expect(snapshot.root.calls).toHaveLength(2);
    await server.stop();
    expect(await replayed(twice, snapshot)).toEqual(value);
  });

  it("replays the failure that a client gives up with, however often it retries", async () => {
    const busy = json({ error: { message: "busy" } }, { status: 503, headers: { "retry-after-ms": "1" } });
    await using server = await modelServer(() => busy);
    const patient = new Anthropic({ apiKey: "key", baseURL: server.url, fetch, maxRetries: 2 });
    const once = () => outcome(patient.messages.create({ model: "claude-x", max_tokens: 9, messages: MESSAGES }));
    const { value, snapshot } = await record(once);
    expect(value).toMatchObject({ error: { status: 503 } });
    expect(server.requests).toHaveLength(3);
    expect(snapshot.root.calls).toHaveLength(1);
    await server.stop();
    expect(await replayed(once, snapshot)).toEqual(value);
  });
});
