// A chat-completions endpoint on a local port, backed by the scripted model. It streams as the real ones do.
import { createServer } from "node:http";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { createHash } from "node:crypto";
import { decide } from "./scripted-model.mjs";

const SHORTEST_MS = 20;
const LONGEST_MS = 40;
const WRITES = 8;

/**
 * Starts the server on a free port of 127.0.0.1.
 *
 * @param {object} options
 * @param {(body: string) => void} options.onRequest Receives every request before it is answered.
 * @returns {Promise<{ baseURL: string, close(): Promise<void> }>}
 */
export async function startScriptedServer({ onRequest }) {
  const server = createServer((request, response) => {
    serve(request, response, onRequest).catch((error) => {
      if (response.headersSent) response.destroy(error);
      else refuse(response, 500, error.message);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");

  return {
    baseURL: `http://127.0.0.1:${server.address().port}/v1`,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

async function serve(request, response, onRequest) {
  if (request.method !== "POST" || request.url !== "/v1/chat/completions") {
    return refuse(response, 404, `There is no ${request.method} ${request.url} here.`);
  }
  const received = [];
  for await (const bytes of request) received.push(bytes);
  const body = Buffer.concat(received).toString("utf8");
  onRequest(body);

  let answer;
  try {
    answer = decide(JSON.parse(body));
  } catch (error) {
    return refuse(response, 400, error.message);
  }

  const digest = createHash("sha256").update(body).digest();
  const ms = SHORTEST_MS + (digest[0] % (LONGEST_MS - SHORTEST_MS + 1));
  await stream(response, toChunks(answer, body, `chatcmpl-${digest.toString("hex").slice(0, 12)}`), ms);
}

/** Sends the chunks in writes of equal size, which split events and even characters. */
async function stream(response, chunks, ms) {
  const text = [...chunks.map((chunk) => JSON.stringify(chunk)), "[DONE]"].map((data) => `data: ${data}\n\n`).join("");
  const bytes = Buffer.from(text);
  const size = Math.ceil(bytes.length / WRITES);
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
  response.socket.setNoDelay(true);
  for (let start = 0; start < bytes.length && !response.destroyed; start += size) {
    await sleep(ms / WRITES);
    response.write(bytes.subarray(start, start + size));
  }
  response.end();
}

function toChunks(answer, body, id) {
  const head = { id, object: "chat.completion.chunk", created: 0, model: JSON.parse(body).model };
  const chunk = (delta, finishReason = null) => ({
    ...head,
    choices: [{ index: 0, delta, finish_reason: finishReason }],
  });
  const deltas = answer.toolCalls
    ? toolCallDeltas(answer.toolCalls)
    : pieces(answer.content).map((content) => ({ content }));
  const promptTokens = countTokens(body);
  const completionTokens = countTokens(JSON.stringify(deltas));
  return [
    chunk({ role: "assistant", content: answer.toolCalls ? null : "" }),
    ...deltas.map((delta) => chunk(delta)),
    chunk({}, answer.toolCalls ? "tool_calls" : "stop"),
    {
      ...head,
      choices: [],
      usage: {
        prompt_tokens: promptTokens,
        completion_tokens: completionTokens,
        total_tokens: promptTokens + completionTokens,
      },
    },
  ];
}

/** A call comes in fragments: first its id and name, then its arguments in pieces. */
function toolCallDeltas(toolCalls) {
  return toolCalls.flatMap(({ id, name, arguments: text }, index) => [
    { tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] },
    ...pieces(text).map((piece) => ({ tool_calls: [{ index, function: { arguments: piece } }] })),
  ]);
}

/** Pieces of about one token that never split a character. */
function pieces(text) {
  return text.match(/.{1,5}/gsu) ?? [];
}

function countTokens(text) {
  return Math.ceil(text.length / 4);
}

function refuse(response, status, message) {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify({ error: { message, type: "invalid_request_error" } }));
}
