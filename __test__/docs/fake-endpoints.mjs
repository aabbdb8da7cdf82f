// Loaded before a program of the documentation: answers the requests to model endpoints inside its process. So the
// programs run as they are printed, with their real clients, without a key and without a network. Every request is
// a line in the file DOCS_REQUESTS. Where DOCS_OFFLINE is set, every request fails.

import { appendFileSync } from "node:fs";

const HOSTS = new Set(["api.openai.com", "api.anthropic.com"]);

globalThis.fetch = async (input, init) => {
  const request = new Request(input, init);
  const { host, pathname } = new URL(request.url);
  const text = await request.text();
  if (process.env.DOCS_REQUESTS) appendFileSync(process.env.DOCS_REQUESTS, `${request.method} ${request.url}\n`);
  if (process.env.DOCS_OFFLINE || !HOSTS.has(host)) throw new TypeError(`no network for ${request.url}`);
  return answerTo(pathname, JSON.parse(text));
};

function answerTo(pathname, body) {
  if (pathname.endsWith("/embeddings")) {
    return Response.json({ object: "list", data: [{ index: 0, embedding: [1, 2] }], usage: { prompt_tokens: 1 } });
  }
  if (pathname.endsWith("/messages")) return Response.json(anthropicMessage(textFor(body)));
  return body.stream ? chatStream(body) : Response.json(chatCompletion(body));
}

/** The model answers by what is asked. */
function textFor({ messages, response_format: format }) {
  if (format !== undefined) return '{"advice":"a coat"}';
  if (messages.at(-1)?.role === "tool") return "Take a coat.";
  if (/open/i.test(JSON.stringify(messages))) return "We are open from 9 to 5.";
  return "An answer.";
}

/** The call of the first tool that the request offers and that was not called yet. */
function toolCallFor({ messages, tools = [] }) {
  const [tool] = tools;
  if (tool === undefined || messages.at(-1)?.role === "tool") return undefined;
  const city = /Oslo|Åre/.exec(JSON.stringify(messages))?.[0] ?? "Oslo";
  return {
    index: 0,
    id: "call_1",
    type: "function",
    function: { name: tool.function.name, arguments: JSON.stringify({ city }) },
  };
}

const USAGE = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 };

function chatCompletion(body) {
  const call = toolCallFor(body);
  const message = call
    ? { role: "assistant", content: null, tool_calls: [call] }
    : { role: "assistant", content: textFor(body) };
  const finish = call ? "tool_calls" : "stop";
  return {
    // LangChain merges messages of one id.
    id: `chatcmpl-${finish}`,
    object: "chat.completion",
    created: 1,
    model: body.model,
    choices: [{ index: 0, message, finish_reason: finish }],
    usage: USAGE,
  };
}

function chatStream(body) {
  const call = toolCallFor(body);
  const finish = call ? "tool_calls" : "stop";
  const about = { id: `chatcmpl-${finish}`, object: "chat.completion.chunk", created: 1, model: body.model };
  const chunk = (delta, reason = null) => ({ ...about, choices: [{ index: 0, delta, finish_reason: reason }] });
  const parts = call
    ? [{ tool_calls: [call] }]
    : textFor(body)
        .split(/(?<= )/)
        .map((content) => ({ content }));
  const chunks = [chunk({ role: "assistant", content: "" }), ...parts.map((part) => chunk(part)), chunk({}, finish)];
  if (body.stream_options?.include_usage) chunks.push({ ...about, choices: [], usage: USAGE });
  const lines = [...chunks.map((one) => JSON.stringify(one)), "[DONE]"].map((data) => `data: ${data}\n\n`);
  return new Response(lines.join(""), { headers: { "content-type": "text/event-stream" } });
}

function anthropicMessage(text) {
  return {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "claude",
    content: [{ type: "text", text, citations: null }],
    stop_reason: "end_turn",
    stop_sequence: null,
    usage: { input_tokens: 3, output_tokens: 4 },
  };
}
