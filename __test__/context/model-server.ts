// A local server that answers like the APIs of the vendors and keeps the requests it received.
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface ModelServer {
  readonly url: string;
  readonly received: Received[];
  close(): Promise<void>;
}

interface Body {
  stream?: boolean;
  model?: string;
}

/** `fails`: true if a request is answered with an error that clients retry. */
export async function modelServer(fails: (received: Received) => boolean = () => false): Promise<ModelServer> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const one = { path: request.url ?? "", headers: request.headers, body: Buffer.concat(chunks) };
      received.push(one);
      if (fails(one)) {
        response.writeHead(500, { "content-type": "application/json", "retry-after-ms": "1" });
        response.end('{"error":{"message":"try again"}}');
      } else {
        answer(one, response);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function answer({ path, body }: Received, response: ServerResponse): void {
  const { stream, model } = JSON.parse(body.toString("utf8") || "{}") as Body;
  const whole = path.endsWith("/messages") ? MESSAGE : path.endsWith("/responses") ? RESPONSE : COMPLETION;
  if (stream !== true) {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ ...whole, model }));
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  const events = path.endsWith("/messages") ? MESSAGE_EVENTS : path.endsWith("/responses") ? RESPONSE_EVENTS : CHUNKS;
  for (const event of events) {
    const type = "type" in event ? `event: ${event.type}\n` : "";
    response.write(`${type}data: ${JSON.stringify(event)}\n\n`);
  }
  response.end(path.endsWith("/messages") ? "" : "data: [DONE]\n\n");
}

const usage = { input_tokens: 1, output_tokens: 1 };
const COMPLETION = {
  id: "c",
  object: "chat.completion",
  created: 1,
  choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: "fine", refusal: null } }],
};
const CHUNKS = ["fi", "ne"].map((content, index) => ({
  id: "c",
  object: "chat.completion.chunk",
  created: 1,
  model: "m",
  choices: [{ index: 0, delta: { role: "assistant", content }, finish_reason: index === 1 ? "stop" : null }],
}));
const RESPONSE = {
  id: "r",
  object: "response",
  status: "completed",
  output: [
    {
      type: "message",
      id: "o",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: "fine" }],
    },
  ],
};
const RESPONSE_EVENTS = [
  { type: "response.created", sequence_number: 0, response: { ...RESPONSE, output: [] } },
  { type: "response.completed", sequence_number: 1, response: RESPONSE },
];
const MESSAGE = {
  id: "a",
  type: "message",
  role: "assistant",
  content: [{ type: "text", text: "fine" }],
  stop_reason: "end_turn",
  stop_sequence: null,
  usage,
};
const MESSAGE_EVENTS = [
  { type: "message_start", message: { ...MESSAGE, model: "m", content: [] } },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "fine" } },
  { type: "content_block_stop", index: 0 },
  { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage },
  { type: "message_stop" },
];
