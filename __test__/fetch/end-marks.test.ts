// A client may stop reading at the end mark of its protocol. The answer is then complete: a resumed run sends nothing.
import { journalCall, resume, runWith, type AgentSnapshot } from "agent-rewind";
import { dumpSnapshot, parseSnapshot, stringifySnapshot } from "agent-rewind/debugger";
import { rewindFetch } from "agent-rewind/fetch";
import { describe, expect, it } from "vitest";

import { modelServer } from "../support/model-server.js";
import { replayed } from "../support/recorded.js";

const event = (data: unknown, name?: string): string =>
  `${name === undefined ? "" : `event: ${name}\n`}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;
const lines = (...values: unknown[]): string => values.map((value) => `${JSON.stringify(value)}\n`).join("");

/** A message of the event streams of AWS. Its checksums do not matter. */
function message(type: string, body: object): Buffer {
  const value = Buffer.from(type);
  const name = Buffer.from(":event-type");
  const headers = Buffer.concat([
    Buffer.from([name.length]),
    name,
    Buffer.from([7, 0, value.length]),
    value,
    Buffer.from([13]),
    Buffer.from(":content-type"),
    Buffer.from([7, 0, 16]),
    Buffer.from("application/json"),
  ]);
  const payload = Buffer.from(JSON.stringify(body));
  const prelude = Buffer.alloc(12);
  prelude.writeUInt32BE(16 + headers.length + payload.length, 0);
  prelude.writeUInt32BE(headers.length, 4);
  return Buffer.concat([prelude, headers, payload, Buffer.alloc(4)]);
}

const SSE = "text/event-stream";
const NDJSON = "application/x-ndjson";
const AWS = "application/vnd.amazon.eventstream";
const chunk = { choices: [{ delta: { content: "hi" }, finish_reason: "stop" }] };
const text = Buffer.concat([
  message("messageStart", { role: "assistant" }),
  message("contentBlockDelta", { delta: { text: "metadata messageStop" } }),
]);

/** The bodies with an end mark. */
const COMPLETE: Record<string, [type: string, body: string | Buffer]> = {
  "OpenAI's chat": [SSE, event(chunk) + event("[DONE]")],
  "OpenAI's responses": [SSE, event({ type: "response.completed", response: {} }, "response.completed")],
  "a failed response": [SSE, event({ type: "response.failed", response: {} }, "response.failed")],
  Anthropic: [SSE, event({ type: "message_delta" }, "message_delta") + event({ type: "message_stop" }, "message_stop")],
  Gemini: [SSE, event({ candidates: [{ content: {} }] }) + event({ candidates: [{ finishReason: "STOP" }] })],
  "Gemini with two candidates": [SSE, event({ candidates: [{ finishReason: "STOP" }, { finishReason: "STOP" }] })],
  Cohere: [SSE, event({ type: "message-end", delta: {} }, "message-end")],
  Ollama: [NDJSON, lines({ message: { content: "hi" }, done: false }, { message: { content: "" }, done: true })],
  "Hugging Face": [
    SSE,
    event({ token: { text: "hi" }, generated_text: null }) + event({ token: {}, generated_text: "hi" }),
  ],
  Bedrock: [AWS, Buffer.concat([text, message("messageStop", {}), message("metadata", { usage: {} })])],
  "two end marks": [SSE, event({ type: "message_stop" }) + event("[DONE]")],
  "bytes after the end mark": [SSE, `${event("[DONE]")}: keep-alive\n\ndata: {"cut`],
  "lines that end in carriage returns": [SSE, 'data: {"a":1}\r\n\r\ndata: [DONE]\r\n\r\n'],
  "an end mark without a line end": [SSE, `${event(chunk)}data: [DONE]`],
};
/** Bodies without one. */
const INCOMPLETE: Record<string, [type: string, body: string | Buffer]> = {
  "an end mark that a model wrote": [
    SSE,
    event({ choices: [{ delta: { content: 'data: [DONE]\n\n{"type":"message_stop"}' } }] }),
  ],
  "a finish reason, before the usage": [SSE, event(chunk)],
  "one of two candidates": [SSE, event({ candidates: [{ finishReason: "STOP" }, { content: {} }] })],
  "a type inside of an event": [SSE, event({ type: "delta", part: { type: "message_stop", done: true } })],
  "the first half of an end mark": [SSE, `${event(chunk)}data: [DO`],
  "a stop without metadata": [AWS, Buffer.concat([text, message("messageStop", {})])],
  "another stream": ["text/plain", "hello "],
};

/** Reads what has arrived, like a client that does not read on after the end mark. */
async function readAvailable(response: Response, length: number): Promise<Buffer> {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  let bytes = Buffer.alloc(0);
  while (bytes.length < length) bytes = Buffer.concat([bytes, (await reader.read()).value ?? Buffer.alloc(0)]);
  return bytes;
}

const fetch = rewindFetch();
const next = (): Promise<string> => journalCall({ kind: "step", name: "next", request: {} }, () => "next");

describe("a body that stays open", () => {
  const programs: Record<string, (url: string, length: number) => Promise<unknown>> = {
    "before a dump": async (url, length) => (await readAvailable(await fetch(url), length)).toString("latin1"),
    "before a cancel": async (url, length) => {
      const response = await fetch(url);
      const reader = (response.body as ReadableStream<Uint8Array>).getReader();
      let read = "";
      while (read.length < length) read += Buffer.from((await reader.read()).value ?? []).toString("latin1");
      await reader.cancel();
      return read;
    },
  };
  const record = async (program: () => Promise<unknown>): Promise<{ value: unknown; snapshot: AgentSnapshot }> => {
    const { value, dump } = await runWith(async () => ({
      value: await program(),
      dump: stringifySnapshot(dumpSnapshot()),
    }));
    return { value, snapshot: parseSnapshot(dump) };
  };

  it.each(Object.entries(COMPLETE))("is complete after the end mark: %s", async (_name, [type, body]) => {
    await using server = await modelServer(() => ({ body, headers: { "content-type": type }, endless: true }));
    for (const read of Object.values(programs)) {
      const program = () => read(server.url, body.length);
      const { value, snapshot } = await record(program);
      expect(value).toBe(Buffer.from(body as string).toString("latin1"));
      server.requests.length = 0;
      expect(await resume(program, { snapshot })).toBe(value);
      expect(await replayed(program, snapshot)).toBe(value);
      expect(server.requests).toHaveLength(0);
      // The body has no rest.
      const whole = async () => Buffer.from(await (await fetch(server.url)).arrayBuffer()).toString("latin1");
      expect(await replayed(whole, snapshot)).toBe(value);
    }
  });

  it.each(Object.entries(INCOMPLETE))("is not complete without one: %s", async (_name, [type, body]) => {
    await using server = await modelServer(() => ({ body, headers: { "content-type": type }, endless: true }));
    const program = () => readAvailable(server.url as never, 0).catch(() => readOpen());
    const readOpen = async () => (await readAvailable(await fetch(server.url), body.length)).toString("latin1");
    const { snapshot } = await record(program);
    server.requests.length = 0;
    await resume(readOpen, { snapshot });
    // It was in flight.
    expect(server.requests).toHaveLength(1);
  });
});

it("a body of the length that its head names is complete", async () => {
  const body = "0123456789";
  await using server = await modelServer(() => ({
    body,
    headers: { "content-type": "text/plain", "content-length": String(body.length) },
  }));
  const program = async () => (await readAvailable(await fetch(server.url), body.length)).toString();
  const { snapshot } = await runWith(async () => ({ value: await program(), snapshot: dumpSnapshot() }));
  server.requests.length = 0;
  expect(await resume(program, { snapshot })).toBe(body);
  expect(server.requests).toHaveLength(0);
});

it("a body that was not read on while another call ended was left, not in flight", async () => {
  await using server = await modelServer(() => ({ body: "one two three", cut: 4, endless: true }));
  const leaveEarly = async () => {
    const response = await fetch(server.url);
    const bytes = await readAvailable(response, 4);
    const after = await next();
    // The response is held until here, so that nothing cancels it.
    return [response.status, bytes.toString().slice(0, 4), after];
  };
  const { value, snapshot } = await runWith(async () => ({ value: await leaveEarly(), snapshot: dumpSnapshot() }));
  expect(value).toEqual([200, "one ", "next"]);
  server.requests.length = 0;
  expect(await resume(leaveEarly, { snapshot })).toEqual(value);
  expect(server.requests).toHaveLength(0);
  // A dump in the middle of the answer: the program still waits for it.
  const waiting = async (dump: () => void) => {
    const response = await fetch(server.url);
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const first = await reader.read();
    dump();
    return Buffer.from(first.value ?? [])
      .toString()
      .slice(0, 4);
  };
  let middle: AgentSnapshot | undefined;
  await runWith(() => waiting(() => (middle = dumpSnapshot())));
  server.requests.length = 0;
  expect(await resume(() => waiting(() => {}), { snapshot: middle as AgentSnapshot })).toBe("one ");
  expect(server.requests).toHaveLength(1);
});
