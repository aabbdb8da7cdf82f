// Recorded tests in all forms. The recorder copies this file into the corpus of its version, next to its recordings.
// SERVER is set only while it is recorded.
import { createOpenAI } from "@ai-sdk/openai";
import Anthropic from "@anthropic-ai/sdk";
import {
  callTool,
  createAgent,
  equipInstruction,
  equipMemory,
  equipTool,
  journalCall,
  promptAgent,
  reborn,
} from "agent-rewind";
import { runFrame, runWith } from "agent-rewind";
import { rewindMiddleware, wrapTools } from "agent-rewind/ai-sdk";
import { rewindFetch } from "agent-rewind/fetch";
import { rewindTransport } from "agent-rewind/mcp";
import { recordingTest, test, withRecording } from "agent-rewind/vitest";
import { generateText, stepCountIs, streamText, tool, wrapLanguageModel } from "ai";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import OpenAI from "openai";
import { describe, expect, test as plain } from "vitest";
import { z } from "zod";

const ORIGIN = "http://model.test";
const { SERVER } = process.env;
const fetch = rewindFetch((input, init) => {
  const url = input instanceof Request ? input.url : String(input);
  if (SERVER === undefined) throw new Error(`a live request: ${url}`);
  return globalThis.fetch(url.replace(ORIGIN, SERVER), init);
});
const once = (value) => {
  if (SERVER === undefined) throw new Error("a live call");
  return value;
};
const ask = async (path) => (await fetch(`${ORIGIN}/text/${path}`)).text();
const failure = ({ name, message, status }) => ({ name, message, status });
const all = async (stream) => {
  const parts = [];
  for await (const part of stream) parts.push(part);
  return parts;
};

const MESSAGES = [{ role: "user", content: "hi" }];
const openai = new OpenAI({ apiKey: "key", baseURL: `${ORIGIN}/openai`, fetch, maxRetries: 0 });
const anthropic = new Anthropic({ apiKey: "key", baseURL: `${ORIGIN}/anthropic`, fetch, maxRetries: 0 });

describe("clients", () => {
  test("an answer of OpenAI", async ({ recording }) => {
    const { choices, usage } = await openai.chat.completions.create({ model: "gpt-x", messages: MESSAGES });
    expect(choices[0].message.content).toBe("hello 🌍");
    expect(usage.total_tokens).toBe(7);
    expect(recording.calls).toHaveLength(1);
  });
  test("a stream of OpenAI", async () => {
    const chunks = await all(
      await openai.chat.completions.create({ model: "gpt-x", messages: MESSAGES, stream: true }),
    );
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("")).toBe("héllo wörld 🌍 語");
    expect(chunks.at(-1).usage.total_tokens).toBe(7);
  });
  test("responses of OpenAI", async () => {
    const events = await all(await openai.responses.create({ model: "gpt-x", input: "hi", stream: true }));
    expect(events.length).toBeGreaterThan(2);
    expect(events[0].type).toBe("response.created");
  });
  test("a stream of Anthropic", async () => {
    const stream = anthropic.messages.stream({ model: "claude-x", max_tokens: 9, messages: MESSAGES });
    const { content, stop_reason: reason } = await stream.finalMessage();
    expect([content[1].text, content[2].input, reason]).toEqual(["smörgåsbord 🍞", { city: "Åre" }, "tool_use"]);
  });
  test("a failure of OpenAI", async () => {
    const failed = await openai.chat.completions.create({ model: "busy", messages: MESSAGES }).catch(failure);
    expect(failed).toMatchObject({ status: 503 });
  });
});

describe("fetch", () => {
  test("texts, in parallel and one after the other", async () => {
    expect(await Promise.all([ask("a"), ask("b")])).toEqual(["got a", "got b"]);
    expect(await ask("a")).toBe("got a");
  });
  test("bytes and a large text", async () => {
    const bytes = new Uint8Array(await (await fetch(`${ORIGIN}/bytes`)).arrayBuffer());
    expect([bytes.length, bytes[0], bytes[999]]).toEqual([1_000, 0, 231]);
    expect(await (await fetch(`${ORIGIN}/large`)).text()).toBe("large 語 ".repeat(1_500));
  });
  test("a body that is not read to its end", async () => {
    const reader = (await fetch(`${ORIGIN}/text/unread`)).body.getReader();
    expect(Buffer.from((await reader.read()).value).toString()).toBe("got unread");
    await reader.cancel();
    expect((await fetch(`${ORIGIN}/text/never-read`)).status).toBe(200);
  });
  test("a connection that breaks", async () => {
    const error = await fetch(`${ORIGIN}/broken`)
      .then((response) => response.text())
      .catch(failure);
    expect(error.name).toBe("TypeError");
  });
});

describe("the AI SDK", () => {
  const model = () =>
    wrapLanguageModel({
      model: createOpenAI({ apiKey: "key", baseURL: `${ORIGIN}/openai`, fetch: notWrapped }).chat("gpt-x"),
      middleware: rewindMiddleware(),
    });
  const notWrapped = (input, init) => {
    once();
    return globalThis.fetch(String(input).replace(ORIGIN, SERVER), init);
  };
  test("generateText with a tool", async ({ recording }) => {
    const weather = tool({
      inputSchema: z.object({ city: z.string() }),
      execute: async ({ city }) => once({ city, at: new Date(7) }),
    });
    const { steps } = await generateText({
      model: model(),
      messages: MESSAGES,
      tools: wrapTools({ weather }),
      stopWhen: stepCountIs(2),
      maxRetries: 0,
      headers: { "x-tool": "weather" },
    });
    expect(steps[0].toolResults[0].output).toEqual({ city: "Åre", at: new Date(7) });
    expect(recording).toHaveCalledTool("weather", { city: "Åre" });
  });
  test("streamText", async () => {
    const { textStream } = streamText({ model: model(), messages: MESSAGES });
    expect((await all(textStream)).join("")).toBe("héllo wörld 🌍 語");
  });
});

test("MCP", async ({ recording }) => {
  const gone = { start: async () => once(), send: async () => once(), close: async () => {} };
  const transport = SERVER === undefined ? gone : await mcpServer();
  const client = new Client({ name: "corpus", version: "1.0.0" });
  await client.connect(rewindTransport(transport));
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["add", "fail"]);
  expect((await client.callTool({ name: "add", arguments: { a: 1, b: 2 } })).content).toEqual([
    { type: "text", text: "3" },
  ]);
  expect(await client.callTool({ name: "fail" })).toMatchObject({ isError: true });
  expect(await client.readResource({ uri: "file:///missing" }).catch(({ code }) => code)).toBe(-32_601);
  await client.close();
  expect(recording).toHaveCalledTool("tools/add", { a: 1, b: 2 });
});

async function mcpServer() {
  const server = new McpServer({ name: "tools", version: "1.0.0" });
  server.registerTool("add", { inputSchema: { a: z.number(), b: z.number() } }, ({ a, b }) => ({
    content: [{ type: "text", text: String(a + b) }],
  }));
  server.registerTool("fail", {}, () => ({ content: [{ type: "text", text: "no such file" }], isError: true }));
  const [transport, other] = InMemoryTransport.createLinkedPair();
  await server.connect(other);
  return transport;
}

describe("own calls", () => {
  const call = (name, answer, request = {}) => journalCall({ kind: "own:kind", name, request }, () => answer(once()));
  test("values that are not JSON", async () => {
    const made = () => ({
      at: new Date(5),
      big: 2n ** 70n,
      map: new Map([[1, new Set(["x"])]]),
      none: undefined,
      not: Number.NaN,
    });
    expect(await call("values", made)).toEqual(made());
    expect(await call("bytes", () => new Uint8Array(1_000).fill(7), { n: 1n })).toEqual(new Uint8Array(1_000).fill(7));
  });
  test("failures, handled and not", async () => {
    const fail = () => {
      throw Object.assign(new RangeError("no", { cause: new Error("why") }), { code: "E" });
    };
    await expect(call("fails", fail)).rejects.toMatchObject({
      name: "RangeError",
      message: "no",
      code: "E",
      cause: { message: "why" },
    });
    await expect(runWith(() => runFrame({ id: "f", input: {} }, () => call("fails", fail)))).rejects.toThrow("no");
  });
  test("equal requests", async () => {
    let count = 0;
    const roll = () => call("roll", () => (count += 1));
    expect([await roll(), await roll(), await roll()]).toEqual([1, 2, 3]);
  });
  test("calls inside a call", async () => {
    let count = 0;
    const next = () => call("next", () => (count += 1));
    expect([await call("step", async () => [await next(), await next()]), await next()]).toEqual([[1, 2], 3]);
  });
  test("ends in one tick", async () => {
    let open;
    const opened = new Promise((resolve) => (open = resolve));
    const later = async (promise, steps) => (steps === 0 ? promise : later((async () => await promise)(), steps - 1));
    const step = (name) => call(name, () => opened.then(() => name));
    const race = Promise.race([later(step("far"), 5), later(step("near"), 2)]);
    await new Promise((resolve) => void setImmediate(resolve));
    open();
    expect(await race).toBe("near");
  });
  test("instances of a class", async () => {
    class Point {
      x = 0;
    }
    const locate = (x) => call("point", () => x, { point: Object.assign(new Point(), { x }) });
    expect(await Promise.all([locate(1), locate(2)])).toEqual([1, 2]);
    expect([await locate(2), await locate(1)]).toEqual([2, 1]);
  });
});

const scripted = {
  id: "scripted",
  provider: "corpus",
  async *stream(messages) {
    once();
    const last = messages.at(-1);
    if (last.role === "user" && messages.length === 1) {
      yield { type: "tool_call", toolCall: { index: 0, id: "c1", name: "weather", arguments: '{"city":"Oslo"}' } };
      yield { type: "finish", finishReason: "tool_calls" };
      return;
    }
    yield { type: "text", content: '{"result":"a coat"}' };
    yield { type: "finish", finishReason: "stop", usage: { promptTokens: 1, completionTokens: 2, totalTokens: 3 } };
  },
};
const weather = {
  name: "weather",
  description: "Tells the weather of a city",
  parameters: z.object({ city: z.string() }),
  handler: async ({ city }) => once({ city, celsius: 21, at: new Date(0) }),
};
const traveller = createAgent({
  id: "traveller",
  model: scripted,
  handler: async ({ city, again }) => {
    const [seen, setSeen] = equipMemory("seen", []);
    equipInstruction(`What should I wear in ${city}${again === true ? ", once more" : ""}?`);
    equipTool(weather);
    const { result } = await promptAgent(z.object({ result: z.string() }));
    setSeen([...seen, result]);
    return again === true ? { result, seen } : reborn({ city, again: true });
  },
});

describe("agents", () => {
  test("an agent that starts over", async ({ recording }) => {
    expect(await traveller({ city: "Oslo" })).toEqual({ result: "a coat", seen: ["a coat"] });
    expect(recording).toHaveCalledTool("weather");
  });
  test("runs at the same time", async () => {
    const run = (city) => runWith(({ city: name }) => traveller({ city: name }), { initialProps: { city } });
    const [one, two] = await Promise.all([run("Rome"), run("Paris")]);
    expect(one).toEqual(two);
  });
  test("a tool", async () => {
    expect(await callTool(weather, { city: "Rome" })).toEqual({ city: "Rome", celsius: 21, at: new Date(0) });
  });
});

describe("forms", () => {
  const expectGot = async (path) => expect(await ask(path)).toBe(`got ${path}`);
  test.each(["a", "b"])("each %s", expectGot);
  test.for(["f"])("for %s", (path) => expectGot(path));
  test.concurrent("concurrent", () => expectGot("concurrent"));
  test("same name", () => expectGot("same"));
  test("same name", () => expectGot("other"));
  test("ünïcode / and: more?", () => expectGot("name"));
  const wrapped = withRecording(() => expectGot("wrapped"));
  plain("wrapped", async (context) => expect(await wrapped(context)).toBeUndefined());
  const based = recordingTest(plain, { normalize: [{ id: "dates", pattern: /\d{4}-\d\d-\d\d/ }] });
  based("normalized", async () =>
    expect(await ask(SERVER === undefined ? "2027-03-04" : "2026-01-02")).toBe("got 2026-01-02"),
  );
});
