import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** The response to a request. */
export interface Scripted {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
  /** The size of a piece in bytes. The client receives each piece as one chunk. By default, the body is one piece. */
  readonly cut?: number;
  /** Breaks off the connection after the body instead of ending it. */
  readonly broken?: boolean;
  /** Leaves the body without an end. */
  readonly endless?: boolean;
}

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

export interface ModelServer extends AsyncDisposable {
  readonly url: string;
  readonly requests: Received[];
  stop(): Promise<void>;
}

/** A local server with scripted responses. */
export async function modelServer(answer: (request: Received, index: number) => Scripted): Promise<ModelServer> {
  const requests: Received[] = [];
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", () => {
      const { method = "", url = "", headers } = incoming;
      const received = { method, path: url, headers, body: Buffer.concat(chunks).toString("latin1") };
      requests.push(received);
      void send(response, answer(received, requests.length - 1));
    });
  });
  // Otherwise, on a busy machine, it could close a connection just as a client sends its next request on it.
  server.keepAliveTimeout = 120_000;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const stop = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { url: `http://127.0.0.1:${port}`, requests, stop, [Symbol.asyncDispose]: stop };
}

async function send(response: ServerResponse, scripted: Scripted): Promise<void> {
  const { status = 200, headers = {}, body, cut, broken = false, endless = false } = scripted;
  response.writeHead(status, { "content-type": "text/event-stream; charset=utf-8", ...headers });
  // The head is sent separately so that the first piece is a separate chunk.
  response.flushHeaders();
  response.socket?.setNoDelay(true);
  const bytes = Buffer.from(body as Uint8Array);
  const size = cut ?? Math.max(bytes.length, 1);
  for (let at = 0; at < bytes.length; at += size) {
    response.write(bytes.subarray(at, at + size));
    await new Promise((resolve) => setImmediate(resolve));
  }
  if (broken) response.destroy();
  else if (!endless) response.end();
}

export const json = (value: unknown, more: Partial<Scripted> = {}): Scripted => ({
  ...more,
  headers: { "content-type": "application/json", ...more.headers },
  body: JSON.stringify(value),
});

const events = (list: readonly { event?: string; data: unknown }[]): string =>
  list
    .map(({ event, data }) => {
      const text = typeof data === "string" ? data : JSON.stringify(data);
      return `${event === undefined ? "" : `event: ${event}\n`}data: ${text}\n\n`;
    })
    .join("");

/**
 * A streamed chat completion of OpenAI: reasoning, text with UTF-8 characters of all lengths, a tool call, keep-alives.
 */
export function chatStream(text = "héllo wörld 🌍 語"): string {
  const chunk = (delta: object, finish: string | null = null): { data: object } => ({
    data: {
      id: "chatcmpl-1",
      object: "chat.completion.chunk",
      created: 1,
      model: "gpt-x",
      choices: [{ index: 0, delta, finish_reason: finish }],
    },
  });
  const call = (part: object): object => ({ tool_calls: [{ index: 0, ...part }] });
  return [
    ": keep-alive\n\n",
    events([
      chunk({ role: "assistant", content: "" }),
      chunk({ reasoning_content: "thinking…" }),
      ...Array.from(text, (content) => chunk({ content })),
    ]),
    ": keep-alive\n\n",
    events([
      chunk(call({ id: "call_1", type: "function", function: { name: "weather", arguments: "" } })),
      chunk(call({ function: { arguments: '{"city":' } })),
      chunk(call({ function: { arguments: '"Åre"}' } })),
      chunk({}, "tool_calls"),
      {
        data: {
          id: "chatcmpl-1",
          object: "chat.completion.chunk",
          created: 1,
          model: "gpt-x",
          choices: [],
          usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
        },
      },
      { data: "[DONE]" },
    ]),
  ].join("");
}

export function chatCompletion(content: string): object {
  return {
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1,
    model: "gpt-x",
    choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
    usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
  };
}

/** The OpenAI responses API: reasoning, text and a function call. */
export function responsesStream(): string {
  const of = (type: string, fields: object, at: number): { event: string; data: object } => ({
    event: type,
    data: { type, sequence_number: at, ...fields },
  });
  const response = { id: "resp_1", object: "response", created_at: 1, model: "gpt-x", output: [] };
  return events([
    of("response.created", { response: { ...response, status: "in_progress" } }, 0),
    of("response.output_item.added", { output_index: 0, item: { type: "reasoning", id: "rs_1", summary: [] } }, 1),
    of(
      "response.output_item.added",
      { output_index: 1, item: { type: "message", id: "m_1", role: "assistant", content: [] } },
      2,
    ),
    of("response.output_text.delta", { item_id: "m_1", output_index: 1, content_index: 0, delta: "grüß" }, 3),
    of("response.output_text.delta", { item_id: "m_1", output_index: 1, content_index: 0, delta: " dich 🌱" }, 4),
    of("response.function_call_arguments.delta", { item_id: "f_1", output_index: 2, delta: '{"city":"Åre"}' }, 5),
    of("response.completed", { response: { ...response, status: "completed" } }, 6),
  ]);
}

/** The Anthropic messages API: thinking, text, a tool call, pings. `error` breaks it off with an error event. */
export function messagesStream({ error = false } = {}): string {
  const of = (type: string, fields: object = {}): { event: string; data: object } => ({
    event: type,
    data: { type, ...fields },
  });
  const delta = (index: number, part: object): { event: string; data: object } =>
    of("content_block_delta", { index, delta: part });
  const message = { id: "msg_1", type: "message", role: "assistant", model: "claude-x", content: [] };
  const list = [
    of("message_start", { message: { ...message, stop_reason: null, usage: { input_tokens: 3, output_tokens: 1 } } }),
    of("content_block_start", { index: 0, content_block: { type: "thinking", thinking: "", signature: "" } }),
    of("ping"),
    delta(0, { type: "thinking_delta", thinking: "hm…" }),
    of("content_block_stop", { index: 0 }),
    of("content_block_start", { index: 1, content_block: { type: "text", text: "" } }),
    delta(1, { type: "text_delta", text: "smörgås" }),
    delta(1, { type: "text_delta", text: "bord 🍞" }),
    of("content_block_stop", { index: 1 }),
  ];
  if (error) return events([...list, of("error", { error: { type: "overloaded_error", message: "Overloaded" } })]);
  return events([
    ...list,
    of("content_block_start", {
      index: 2,
      content_block: { type: "tool_use", id: "toolu_1", name: "weather", input: {} },
    }),
    delta(2, { type: "input_json_delta", partial_json: '{"city":' }),
    delta(2, { type: "input_json_delta", partial_json: '"Åre"}' }),
    of("content_block_stop", { index: 2 }),
    of("message_delta", { delta: { stop_reason: "tool_use", stop_sequence: null }, usage: { output_tokens: 9 } }),
    of("message_stop"),
  ]);
}

/** The streamGenerateContent API of Gemini. */
export function geminiStream(): string {
  const chunk = (parts: object[], more: object = {}): { data: object } => ({
    data: { candidates: [{ content: { role: "model", parts }, index: 0, ...more }], modelVersion: "gemini-x" },
  });
  return events([
    chunk([{ text: "denkend…", thought: true }]),
    chunk([{ text: "naïve 🐟" }]),
    chunk([{ functionCall: { name: "weather", args: { city: "Åre" } } }], { finishReason: "STOP" }),
  ]);
}
