// A ModelAdapter for any endpoint that implements the OpenAI chat-completions protocol with streaming.
import { readSse } from "./sse.mjs";

/**
 * Thrown for every failure of the endpoint or of the connection to it. `status` is the HTTP status, if there is one.
 */
export class OpenAIModelError extends Error {
  constructor(message, { status, body, cause } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "OpenAIModelError";
    if (status !== undefined) this.status = status;
    if (body !== undefined) this.body = body;
  }
}

/**
 * @param {object} options
 * @param {string} options.baseURL Such as "https://api.openai.com/v1".
 * @param {string} options.model The name of the model at the endpoint.
 * @param {string} [options.apiKey] Sent as a bearer token.
 * @param {(body: string) => void} [options.onRequest] Receives the body of every request.
 * @returns A ModelAdapter.
 */
export function createOpenAIModel({ baseURL, model, apiKey, onRequest }) {
  const url = `${baseURL.replace(/\/+$/, "")}/chat/completions`;
  return {
    id: model,
    provider: "openai",

    async *stream(messages, options = {}) {
      const body = JSON.stringify(toRequest(model, messages, options));
      onRequest?.(body);
      const response = await post(url, body, apiKey, options.signal);
      const refusal = [];
      let finishReason = null;

      for await (const { data } of readSse(response.body)) {
        if (data === "[DONE]") break;
        const chunk = parseChunk(data, url);
        // The usage comes in a separate chunk without choices, after the one with the finish reason.
        if (chunk.usage) yield { type: "usage", usage: toUsage(chunk.usage) };
        const choice = chunk.choices?.[0];
        if (!choice) continue;
        if (choice.delta?.refusal) refusal.push(choice.delta.refusal);
        yield* toEvents(choice.delta ?? {});
        finishReason = choice.finish_reason ?? finishReason;
      }

      if (refusal.length > 0) throw new OpenAIModelError(`The model refused to answer: ${refusal.join("")}`);
      if (finishReason === null) {
        throw new OpenAIModelError(`The answer of ${url} broke off: the stream ended without a finish_reason.`);
      }
      yield { type: "finish", finishReason };
    },
  };
}

function toRequest(model, messages, { schema, tools, toolChoice, additionalOptions }) {
  return {
    ...additionalOptions,
    model,
    messages: messages.map(toWireMessage),
    ...(tools?.length > 0 && {
      tools: tools.map(({ name, description, parameters }) => ({
        type: "function",
        function: { name, description, parameters: withoutDialect(parameters) },
      })),
      ...(toolChoice !== undefined && { tool_choice: toolChoice }),
    }),
    ...(schema && {
      response_format: {
        type: "json_schema",
        json_schema: { name: "answer", schema: withoutDialect(schema), strict: true },
      },
    }),
    stream: true,
    stream_options: { include_usage: true },
  };
}

/** Strict mode rejects unknown keywords, including `$schema`. */
function withoutDialect({ $schema: _dialect, ...schema }) {
  return schema;
}

function toWireMessage({ role, content, tool_calls: toolCalls, tool_call_id: toolCallId }) {
  return {
    role,
    content: Array.isArray(content) ? content.map(toWirePart) : content,
    ...(toolCalls?.length > 0 && {
      tool_calls: toolCalls.map((call) => ({
        id: call.id,
        type: "function",
        function: { name: call.name, arguments: call.arguments },
      })),
    }),
    ...(toolCallId !== undefined && { tool_call_id: toolCallId }),
  };
}

function toWirePart(part) {
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text };
    case "image":
      return { type: "image_url", image_url: part.image };
    case "video":
      return { type: "video_url", video_url: part.video };
    default:
      throw new TypeError(`A message has a content part of type "${part.type}"; text, image and video can be sent.`);
  }
}

async function post(url, body, apiKey, signal) {
  let response;
  try {
    response = await fetch(url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "text/event-stream",
        ...(apiKey && { authorization: `Bearer ${apiKey}` }),
      },
      body,
      signal,
    });
  } catch (cause) {
    if (signal?.aborted) throw cause;
    // fetch reports only "fetch failed". The reason is in its cause.
    throw new OpenAIModelError(`POST ${url} failed: ${cause.cause?.message || cause.cause?.code || cause.message}`, {
      cause,
    });
  }
  if (response.ok) return response;

  const text = await response.text();
  throw new OpenAIModelError(
    `POST ${url} was answered with ${response.status} ${response.statusText}: ${errorMessage(text)}`,
    { status: response.status, body: text },
  );
}

/** The message of an error body: the protocol's own, or the beginning of the body. */
function errorMessage(text) {
  try {
    const { error } = JSON.parse(text);
    return typeof error === "string" ? error : (error.message ?? text.slice(0, 200));
  } catch {
    return text.slice(0, 200);
  }
}

function parseChunk(data, url) {
  let chunk;
  try {
    chunk = JSON.parse(data);
  } catch (cause) {
    throw new OpenAIModelError(`${url} sent an event that is not JSON: ${data.slice(0, 200)}`, {
      cause,
    });
  }
  // An error after the headers were sent can only come in the stream.
  if (chunk.error) {
    throw new OpenAIModelError(`${url} broke off with an error: ${errorMessage(data)}`, {
      ...(typeof chunk.error.code === "number" && { status: chunk.error.code }),
      body: data,
    });
  }
  return chunk;
}

/** The model events for a delta. */
function* toEvents(delta) {
  const reasoning = delta.reasoning_content ?? delta.reasoning;
  if (reasoning) yield { type: "reasoning", content: reasoning };
  if (delta.content) yield { type: "text", content: delta.content };
  for (const [position, call] of (delta.tool_calls ?? []).entries()) {
    yield {
      type: "tool_call",
      toolCall: {
        index: call.index ?? position, // some servers send complete calls without an index
        ...(call.id && { id: call.id }),
        ...(call.function?.name && { name: call.function.name }),
        ...(call.function?.arguments && { arguments: call.function.arguments }),
      },
    };
  }
}

function toUsage({ prompt_tokens: promptTokens = 0, completion_tokens: completionTokens = 0, total_tokens: total }) {
  return { promptTokens, completionTokens, totalTokens: total ?? promptTokens + completionTokens };
}
