// A local server that answers like the providers of models. Each answer is another one.
import { EventStreamCodec } from "@smithy/eventstream-codec";
import { fromUtf8, toUtf8 } from "@smithy/util-utf8";
import { once } from "node:events";
import { createServer } from "node:http";

/**
 * @returns the server: `requests` are the bodies since the last `reset`; `failAt` is the position of the request that
 * fails; `gate`, if set, holds back the second half of each streamed text.
 */
export async function startServer() {
  const state = { requests: [], failAt: undefined, gate: undefined, count: 0 };
  const http = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request.setEncoding("utf8")) text += chunk;
    const body = JSON.parse(text || "{}");
    const index = state.requests.push(text) - 1;
    if (index === state.failAt) return json(response, { error: { message: "no luck", type: "invalid" } }, 400);
    const [, answer] = ANSWERS.find(([path]) => path.test(request.url)) ?? [];
    if (answer === undefined) return json(response, { error: { message: `no answer to ${request.url}` } }, 404);
    const next = () => ++state.count;
    await answer({ body, url: request.url, next, response, gate: state.gate });
  });
  // Only some clients close their connections.
  http.keepAliveTimeout = 120_000;
  await once(http.listen(0, "127.0.0.1"), "listening");
  return Object.assign(state, {
    url: `http://127.0.0.1:${http.address().port}`,
    reset({ count = state.count } = {}) {
      Object.assign(state, { requests: [], failAt: undefined, count });
    },
    async stop() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  });
}

const ANSWERS = [
  [/\/chat\/completions/, openaiChat],
  [/\/responses/, openaiResponses],
  [/\/v1\/messages/, anthropic],
  [/:(?:streamG|g)enerateContent/, gemini],
  [/\/api\/chat/, ollama],
  [/\/v2\/chat/, cohere],
  [/\/converse/, bedrock],
];

/** A call of the first tool, unless its result is there already, or a text. */
function decide({ next, tools = [], hasResult }) {
  const [tool] = tools;
  if (tool !== undefined && !hasResult) return { tool, id: `call_${next()}`, input: { city: `city ${next()}` } };
  return { text: `Answer ${next()}: take a coat, an umbrella and a hat, number ${next()}.` };
}

const pieces = (text) => text.match(/.{1,12}/gs);

function json(response, value, status = 200) {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
}

/** Writes the parts of a stream. The reader opens the gate when it has received the first half. */
async function stream(response, parts, { type = "text/event-stream", gate } = {}) {
  response.writeHead(200, { "content-type": type });
  response.socket.setNoDelay(true);
  for (const [index, part] of parts.entries()) {
    if (index === Math.ceil(parts.length / 2)) await gate?.opened();
    response.write(part);
  }
  response.end();
}

const sse = (data, event) => `${event ? `event: ${event}\n` : ""}data: ${JSON.stringify(data)}\n\n`;

async function openaiChat({ body, next, response, gate }) {
  const last = body.messages.findLastIndex(({ role }) => role === "user");
  const hasResult = body.messages.slice(last).some(({ role }) => role === "tool");
  const { tool, id, input, text } = decide({ next, tools: body.tools, hasResult });
  const calls = tool && [
    {
      index: 0,
      id: id.padEnd(9, "0"),
      type: "function",
      function: { name: tool.function.name, arguments: JSON.stringify(input) },
    },
  ];
  const common = { id: `chat_${next()}`, created: next(), model: body.model };
  const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
  const finish_reason = tool ? "tool_calls" : "stop";
  if (!body.stream) {
    const message = { role: "assistant", content: text ?? null, ...(calls && { tool_calls: calls }) };
    return json(response, {
      ...common,
      object: "chat.completion",
      choices: [{ index: 0, message, finish_reason }],
      usage,
    });
  }
  const chunk = (choices, more) => sse({ ...common, object: "chat.completion.chunk", choices, ...more });
  const delta = (part) => chunk([{ index: 0, delta: part, finish_reason: null }]);
  const parts = tool ? [delta({ tool_calls: calls })] : pieces(text).map((content) => delta({ content }));
  const ends = [chunk([{ index: 0, delta: {}, finish_reason }]), chunk([], { usage }), "data: [DONE]\n\n"];
  await stream(response, [delta({ role: "assistant", content: "" }), ...parts, ...ends], {
    gate: tool ? undefined : gate,
  });
}

async function openaiResponses({ body, next, response, gate }) {
  const items = typeof body.input === "string" ? [{ role: "user" }] : body.input;
  const last = items.findLastIndex(({ role }) => role === "user");
  const hasResult = items.slice(last).some(({ type }) => type === "function_call_output");
  const { tool, id, input, text } = decide({ next, tools: body.tools, hasResult });
  const item = tool
    ? {
        type: "function_call",
        id: `fc_${next()}`,
        call_id: id,
        name: tool.name,
        arguments: JSON.stringify(input),
        status: "completed",
      }
    : {
        type: "message",
        id: `msg_${next()}`,
        role: "assistant",
        status: "completed",
        content: [{ type: "output_text", text, annotations: [], logprobs: [] }],
      };
  const usage = {
    input_tokens: 1,
    output_tokens: 2,
    total_tokens: 3,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens_details: { reasoning_tokens: 0 },
  };
  const whole = {
    id: `resp_${next()}`,
    object: "response",
    created_at: next(),
    model: body.model,
    status: "completed",
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: {},
    parallel_tool_calls: true,
    temperature: 1,
    tool_choice: "auto",
    tools: [],
    top_p: 1,
    output: [item],
    usage,
  };
  if (!body.stream) return json(response, whole);
  let sequence_number = 0;
  const event = (type, more) => sse({ type, sequence_number: sequence_number++, ...more }, type);
  const at = { item_id: item.id, output_index: 0 };
  const content = { ...at, content_index: 0 };
  const parts = [event("response.created", { response: { ...whole, status: "in_progress", output: [], usage: null } })];
  if (tool) {
    parts.push(
      event("response.output_item.added", { output_index: 0, item: { ...item, status: "in_progress", arguments: "" } }),
      event("response.function_call_arguments.delta", { ...at, delta: item.arguments }),
      event("response.function_call_arguments.done", { ...at, name: item.name, arguments: item.arguments }),
    );
  } else {
    const part = { type: "output_text", text: "", annotations: [] };
    parts.push(
      event("response.output_item.added", { output_index: 0, item: { ...item, status: "in_progress", content: [] } }),
      event("response.content_part.added", { ...content, part }),
      ...pieces(text).map((delta) => event("response.output_text.delta", { ...content, delta, logprobs: [] })),
      event("response.output_text.done", { ...content, text, logprobs: [] }),
      event("response.content_part.done", { ...content, part: item.content[0] }),
    );
  }
  parts.push(
    event("response.output_item.done", { output_index: 0, item }),
    event("response.completed", { response: whole }),
  );
  await stream(response, parts, { gate: tool ? undefined : gate });
}

async function anthropic({ body, next, response, gate }) {
  const { text } = decide({ next });
  const message = {
    id: `msg_${next()}`,
    type: "message",
    role: "assistant",
    model: body.model,
    content: [{ type: "text", text }],
    stop_reason: "end_turn",
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 2 },
  };
  if (!body.stream) return json(response, message);
  const event = (type, more) => sse({ type, ...more }, type);
  await stream(
    response,
    [
      event("message_start", { message: { ...message, content: [], stop_reason: null } }),
      event("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
      ...pieces(text).map((piece) =>
        event("content_block_delta", { index: 0, delta: { type: "text_delta", text: piece } }),
      ),
      event("content_block_stop", { index: 0 }),
      event("message_delta", { delta: { stop_reason: "end_turn", stop_sequence: null }, usage: { output_tokens: 2 } }),
      event("message_stop"),
    ],
    { gate },
  );
}

async function gemini({ url, next, response, gate }) {
  const { text } = decide({ next });
  const responseId = `r${next()}`;
  const answer = (part, finishReason) => ({
    candidates: [
      { content: { role: "model", parts: [{ text: part }] }, index: 0, ...(finishReason && { finishReason }) },
    ],
    responseId,
    modelVersion: "gemini",
  });
  if (!url.includes("stream")) return json(response, answer(text, "STOP"));
  await stream(response, [...pieces(text).map((piece) => sse(answer(piece))), sse(answer("", "STOP"))], { gate });
}

async function ollama({ body, next, response, gate }) {
  const { text } = decide({ next });
  const part = (content, done) =>
    `${JSON.stringify({ model: body.model, created_at: "2026-01-01T00:00:00Z", message: { role: "assistant", content }, done })}\n`;
  if (!body.stream) return json(response, JSON.parse(part(text, true)));
  const parts = [...pieces(text).map((piece) => part(piece, false)), part("", true)];
  await stream(response, parts, { type: "application/x-ndjson", gate });
}

async function cohere({ body, next, response, gate }) {
  const { text } = decide({ next });
  const id = `c${next()}`;
  const usage = { tokens: { input_tokens: 1, output_tokens: 2 } };
  const message = { role: "assistant", content: [{ type: "text", text }] };
  if (!body.stream) return json(response, { id, finish_reason: "COMPLETE", message, usage });
  const content = (part) => ({ delta: { message: { content: part } }, index: 0 });
  await stream(
    response,
    [
      sse({ type: "message-start", id, delta: { message: { role: "assistant" } } }),
      sse({ type: "content-start", ...content({ type: "text", text: "" }) }),
      ...pieces(text).map((piece) => sse({ type: "content-delta", ...content({ text: piece }) })),
      sse({ type: "content-end", index: 0 }),
      sse({ type: "message-end", id, delta: { finish_reason: "COMPLETE", usage } }),
      "data: [DONE]\n\n",
    ],
    { gate },
  );
}

async function bedrock({ url, next, response, gate }) {
  const { text } = decide({ next });
  const usage = { inputTokens: 1, outputTokens: 2, totalTokens: 3 };
  const metrics = { latencyMs: 1 };
  if (!url.includes("stream")) {
    const message = { role: "assistant", content: [{ text }] };
    return json(response, { output: { message }, stopReason: "end_turn", usage, metrics });
  }
  const codec = new EventStreamCodec(toUtf8, fromUtf8);
  const header = (value) => ({ type: "string", value });
  const event = (type, body) =>
    codec.encode({
      headers: {
        ":event-type": header(type),
        ":content-type": header("application/json"),
        ":message-type": header("event"),
      },
      body: fromUtf8(JSON.stringify(body)),
    });
  await stream(
    response,
    [
      event("messageStart", { role: "assistant" }),
      ...pieces(text).map((piece) => event("contentBlockDelta", { contentBlockIndex: 0, delta: { text: piece } })),
      event("contentBlockStop", { contentBlockIndex: 0 }),
      event("messageStop", { stopReason: "end_turn" }),
      event("metadata", { usage, metrics }),
    ],
    { type: "application/vnd.amazon.eventstream", gate },
  );
}
