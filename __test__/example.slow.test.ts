// Runs the example as its readers do, and tests the SSE parser of its model adapter.
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";

const EXAMPLE = new URL("../examples/files-agent/", import.meta.url);

interface Report {
  phases: {
    phase: string;
    modelCalls: number;
    toolCalls: number;
    replayedModelCalls: number;
    replayedToolCalls: number;
    repeatedModelCalls: number;
    repeatedToolCalls: number;
  }[];
  promises: { promise: string; kept: boolean; detail: string }[];
  answer: string;
  files: { snapshot: string; trace: string };
}

interface ServerSentEvent {
  event: string;
  data: string;
}

interface ModelEvent {
  type: string;
  [field: string]: unknown;
}

interface Adapter {
  stream(messages: object[], options?: object): AsyncGenerator<ModelEvent>;
}

// The example is plain JavaScript without declarations, so its types are declared here.
async function load<T>(file: string): Promise<T> {
  return (await import(new URL(file, EXAMPLE).href)) as T;
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

async function* inPieces(...pieces: Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* pieces;
}

/** A server that answers with events. An object is sent as JSON, a string unchanged. */
function streaming(...chunks: (object | string)[]): RequestListener {
  return (_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(
      chunks.map((chunk) => `data: ${typeof chunk === "string" ? chunk : JSON.stringify(chunk)}\n\n`).join(""),
    );
  };
}

/** A chunk with one choice. */
function choice(delta: object, finishReason: string | null = null): object {
  return { choices: [{ delta, finish_reason: finishReason }] };
}

describe("the example as a process", () => {
  let out: string;
  let exitCode: number | null;
  let progress: string;
  let report: Report;

  beforeAll(async () => {
    out = await mkdtemp(join(tmpdir(), "example-test-"));
    const { OPENAI_API_KEY: _key, ...env } = process.env;
    const main = fileURLToPath(new URL("main.mjs", EXAMPLE));
    ({ exitCode, progress, report } = await new Promise<{
      exitCode: number | null;
      progress: string;
      report: Report;
    }>((resolve, reject) => {
      const child = execFile(
        process.execPath,
        [main, "--json", "--context-monitor", "--out", out],
        { env },
        (_error, stdout, stderr) => {
          try {
            resolve({
              exitCode: child.exitCode,
              progress: stderr,
              report: JSON.parse(stdout) as Report,
            });
          } catch {
            reject(new Error(`The example gave no report. Standard error:\n${stderr}`));
          }
        },
      );
    }));
  }, 60_000);

  afterAll(() => rm(out, { recursive: true, force: true }));

  it("keeps every promise and exits with 0", () => {
    expect(report.promises.filter(({ kept }) => !kept)).toEqual([]);
    expect(exitCode).toBe(0);
  });

  it("repeats no finished call in any phase", () => {
    expect(report.phases).toHaveLength(7);
    for (const phase of report.phases) {
      expect(phase).toMatchObject({ repeatedModelCalls: 0, repeatedToolCalls: 0 });
    }
  });

  it("replays all calls of the failed run, from its snapshot and from its trace", () => {
    const [live, fromSnapshot, fromTrace] = report.phases;
    expect(live?.modelCalls).toBeGreaterThan(10);
    for (const replay of [fromSnapshot, fromTrace]) {
      expect(replay).toMatchObject({
        replayedModelCalls: live?.modelCalls,
        replayedToolCalls: live?.toolCalls,
        modelCalls: 2, // the two turns of the answer, which the failed run never reached
      });
    }
  });

  it("makes exactly the remaining calls from each point of the trace", () => {
    const control = report.phases.at(-1);
    for (const replay of report.phases.slice(1, -1)) {
      expect(replay.modelCalls + replay.replayedModelCalls).toBe(control?.modelCalls);
      expect(replay.toolCalls + replay.replayedToolCalls).toBe(control?.toolCalls);
    }
    const [after, beforeTurn, beforeStart] = report.phases.slice(3, 6);
    expect(after?.replayedModelCalls).toBeGreaterThan(beforeTurn?.replayedModelCalls ?? Infinity);
    expect(beforeTurn?.replayedModelCalls).toBeGreaterThan(beforeStart?.replayedModelCalls ?? Infinity);
  });

  it("shows the last request of each agent", async () => {
    for (const agent of ["planner", "file_reader"]) {
      const text = await readFile(join(out, `context_${agent}.txt`), "utf8");
      expect(text).toMatch(/^Message Hash: [0-9a-f]{16}$/m);
      expect(text).toMatch(/^\[1\] SYSTEM: /m);
    }
  });

  it("answers from the files", () => {
    expect(report.answer).toMatch(/58 days\. \(power\.md\).*64 days.*75 days.*90 days/);
  });

  it("writes the snapshot and the trace, and reports its progress on standard error", async () => {
    const snapshot = JSON.parse(await readFile(report.files.snapshot, "utf8")) as {
      metadata: unknown;
    };
    expect(snapshot.metadata).toEqual({
      reason: "Cannot read properties of undefined (reading 'line')",
    });
    const lines = (await readFile(report.files.trace, "utf8")).trim().split("\n");
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({ type: "runWith:start" });
    expect(progress).toContain("✓ file-reader: power.md");
  });
});

describe("the SSE parser of the example", () => {
  let readSse: (bytes: AsyncIterable<Uint8Array>) => AsyncGenerator<ServerSentEvent>;

  beforeAll(async () => {
    ({ readSse } = await load<{ readSse: typeof readSse }>("sse.mjs"));
  });

  const text =
    "\uFEFF: a comment\r\n" +
    'data: {"é":"😀"}\r\n\r\n' + // CRLF, and characters of two and four bytes
    "event: x\rid: 7\rdata:no space\rdata:  two spaces\r\r" + // CR alone, two lines of data
    "retry: 5\n\n" + // no data: no event
    "data\n\n" + // a field without a colon is empty
    "data: [DONE]\n\n" +
    "data: cut off by the end";
  const events = [
    { event: "message", data: '{"é":"😀"}' },
    { event: "x", data: "no space\n two spaces" },
    { event: "message", data: "" },
    { event: "message", data: "[DONE]" },
  ];

  it("yields the same events wherever the bytes are split", async () => {
    const bytes = new TextEncoder().encode(text);
    for (let cut = 0; cut <= bytes.length; cut += 1) {
      expect(await collect(readSse(inPieces(bytes.subarray(0, cut), bytes.subarray(cut))))).toEqual(events);
    }
  });

  it("yields the same events byte by byte", async () => {
    const bytes = new TextEncoder().encode(text);
    expect(await collect(readSse(inPieces(...Array.from(bytes, (byte) => Uint8Array.of(byte)))))).toEqual(events);
  });

  it("yields an event as soon as its empty line arrives, also with CR line ends", async () => {
    const [first, second] = ["data: 1\r\r", "\ndata: 2\r\n\r\n"].map((piece) => new TextEncoder().encode(piece));
    expect(await collect(readSse(inPieces(first!, second!)))).toEqual([
      { event: "message", data: "1" },
      { event: "message", data: "2" },
    ]);
  });
});

describe("the model adapter of the example", () => {
  let server: Server | undefined;

  afterEach(() => {
    server?.closeAllConnections();
    server?.close();
    server = undefined;
  });

  async function adapterFor(answer: RequestListener): Promise<Adapter> {
    server = createServer(answer);
    await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const { createOpenAIModel } = await load<{ createOpenAIModel(options: object): Adapter }>("openai-model.mjs");
    return createOpenAIModel({ baseURL: `http://127.0.0.1:${port}/v1/`, model: "m", apiKey: "k" });
  }

  const ask = [{ role: "user", content: "?" }];

  it("sends the request of the protocol", async () => {
    const bodies: string[] = [];
    const adapter = await adapterFor((request, response) => {
      request.on("data", (piece: Buffer) => bodies.push(piece.toString()));
      request.on("end", () => streaming(choice({}, "stop"), "[DONE]")(request, response));
      expect(request.url).toBe("/v1/chat/completions");
      expect(request.headers.authorization).toBe("Bearer k");
    });
    const parameters = {
      $schema: "http://json-schema.org/draft-07/schema#",
      type: "object",
      properties: {},
    };
    await collect(
      adapter.stream(
        [
          { role: "system", content: "s" },
          { role: "user", content: [{ type: "text", text: "u" }], extra: { private: true } },
          {
            role: "assistant",
            content: null,
            tool_calls: [{ id: "c", name: "t", arguments: "{}" }],
          },
          { role: "tool", content: "r", tool_call_id: "c", name: "t" },
        ],
        {
          schema: parameters,
          tools: [{ name: "t", description: "d", parameters }],
          toolChoice: "required",
          additionalOptions: { temperature: 0, stream: false },
        },
      ),
    );
    const schema = { type: "object", properties: {} };
    expect(JSON.parse(bodies.join(""))).toEqual({
      model: "m",
      messages: [
        { role: "system", content: "s" },
        { role: "user", content: [{ type: "text", text: "u" }] },
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "c", type: "function", function: { name: "t", arguments: "{}" } }],
        },
        { role: "tool", content: "r", tool_call_id: "c" },
      ],
      tools: [{ type: "function", function: { name: "t", description: "d", parameters: schema } }],
      tool_choice: "required",
      response_format: {
        type: "json_schema",
        json_schema: { name: "answer", schema, strict: true },
      },
      temperature: 0,
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  it("yields text, reasoning, fragments of tool calls, usage and the finish reason", async () => {
    const adapter = await adapterFor(
      streaming(
        choice({ role: "assistant", content: "" }),
        choice({ reasoning_content: "hm" }),
        choice({ content: "yes" }),
        choice({
          tool_calls: [{ index: 1, id: "c", type: "function", function: { name: "t", arguments: "" } }],
        }),
        choice({ tool_calls: [{ index: 1, function: { arguments: "{}" } }] }),
        choice({}, "tool_calls"),
        { choices: [], usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 } },
        "[DONE]",
      ),
    );
    expect(await collect(adapter.stream(ask))).toEqual([
      { type: "reasoning", content: "hm" },
      { type: "text", content: "yes" },
      { type: "tool_call", toolCall: { index: 1, id: "c", name: "t" } },
      { type: "tool_call", toolCall: { index: 1, arguments: "{}" } },
      { type: "usage", usage: { promptTokens: 3, completionTokens: 4, totalTokens: 7 } },
      { type: "finish", finishReason: "tool_calls" },
    ]);
  });

  it.each([
    [
      "an HTTP error",
      429,
      { error: { message: "Slow down" } },
      { status: 429, message: /429 Too Many Requests: Slow down/ },
    ],
    ["a page that is not JSON", 502, "<html>", { status: 502, message: /502 Bad Gateway: "<html>"/ }],
  ])("throws %s with its status", async (_name, status, body, expected) => {
    const adapter = await adapterFor((_request, response) => {
      response.writeHead(status);
      response.end(JSON.stringify(body));
    });
    await expect(collect(adapter.stream(ask))).rejects.toMatchObject({
      name: "OpenAIModelError",
      status: expected.status,
      message: expect.stringMatching(expected.message) as string,
    });
  });

  it.each([
    [
      "an error in the stream",
      [{ error: { message: "Overloaded", code: 503 } }],
      /broke off with an error: Overloaded/,
    ],
    ["a stream that breaks off", [choice({ content: "{" })], /without a finish_reason/],
    ["an event that is not JSON", ["{"], /not JSON: \{/],
    ["a refusal", [choice({ refusal: "No." }), choice({}, "stop")], /refused to answer: No\./],
  ])("throws %s", async (_name, chunks, message) => {
    const adapter = await adapterFor(streaming(...chunks));
    await expect(collect(adapter.stream(ask))).rejects.toThrow(message);
  });

  it("stops with the reason of the signal", async () => {
    const abort = new AbortController();
    const reason = new Error("enough");
    const adapter = await adapterFor((_request, response) => {
      response.writeHead(200);
      response.write(`data: ${JSON.stringify(choice({ content: "a" }))}\n\n`);
    });
    const read = async (): Promise<void> => {
      for await (const event of adapter.stream(ask, { signal: abort.signal })) {
        expect(event).toEqual({ type: "text", content: "a" });
        abort.abort(reason);
      }
    };
    await expect(read()).rejects.toBe(reason);
  });
});
