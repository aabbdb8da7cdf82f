import { AbortError } from "../errors/context.js";
import { isError, messageOf } from "../errors/base.js";
import type { ErrorClass } from "../types/error-class.js";
import type { Message } from "../types/messages.js";
import type { ModelAdapter, StreamEvent, StreamOptions } from "../types/model.js";
import { defined } from "../values/defined.js";
import { AnswerReader, type AnswerOptions } from "./answer.js";
import { lazyClient, type OpenAIClient } from "./client.js";
import { isOpenAIModelError, OpenAIModelError } from "./error.js";
import { isRecord } from "../values/members.js";
import { checkOptions, type OpenAIModelOptions } from "./options.js";
import { costOf } from "./prices.js";
import { wireRequest, type WireRequest } from "./request.js";
import { ownModelOptions } from "./settings.js";

/**
 * Creates a model for any endpoint with OpenAI's chat-completions protocol. It sends requests with the package `openai`.
 *
 * Retries of the client are part of one recorded call. The call returns the complete answer, or fails with an
 * OpenAIModelError, or with an AbortError after an abort. It never returns an incomplete answer as a complete one.
 *
 * @throws TypeError that names the invalid option.
 */
export function createOpenAIModel(options: OpenAIModelOptions): ModelAdapter {
  checkOptions(options);
  const { model, id = model, provider = "openai", prices } = options;
  const client = lazyClient(model, options.client, options.clientOptions);
  const calculateCost = costOf(model, prices);
  return {
    id,
    provider,
    modelOptions: ownModelOptions(options),
    errors: errorClasses(options.client),
    ...(calculateCost === undefined ? {} : { calculateCost }),
    stream: (messages, asked = {}) => ask(client, options, messages, asked),
  };
}

/** The error classes of the client. Those of a client that is created later are not known when a failure is replayed. */
function errorClasses(client: OpenAIModelOptions["client"]): ErrorClass[] {
  const made: unknown = typeof client === "object" ? client.constructor : undefined;
  return typeof made === "function" ? [made as unknown as ErrorClass] : [];
}

async function* ask(
  client: () => Promise<OpenAIClient>,
  options: OpenAIModelOptions,
  messages: readonly Message[],
  asked: StreamOptions,
): AsyncGenerator<StreamEvent> {
  const { model, lengthLimit = "error", stream = true, includeUsage = true } = options;
  const { signal } = asked;
  throwIfAborted(signal);
  const request = wireRequest(model, messages, asked, { stream, includeUsage });
  const about = { model, lengthLimit, answerTool: request.answerTool };
  let reader: AnswerReader | undefined;
  try {
    const answer = await send(await client(), options, request, signal);
    reader = new AnswerReader({ ...about, ...answer.response });
    yield* readAnswer(answer, reader, signal);
  } catch (cause) {
    if (signal?.aborted === true) throw new AbortError(signal.reason);
    if (isOpenAIModelError(cause)) throw cause;
    if (isBrokenBody(cause)) reader ??= new AnswerReader(about);
    throw failureOf(cause, reader, model);
  }
}

/** The result of a request: a stream of chunks, or a whole body. */
interface Sent {
  readonly data: unknown;
  readonly response: Pick<AnswerOptions, "status" | "requestId">;
  readonly contentType: string;
}

async function send(
  client: OpenAIClient,
  { maxRetries, timeout, headers }: OpenAIModelOptions,
  { body }: WireRequest,
  signal: AbortSignal | undefined,
): Promise<Sent> {
  const options = defined({ signal, maxRetries, timeout, headers });
  const pending = client.chat.completions.create(body, options) as PromiseLike<unknown> & {
    withResponse?: () => Promise<{ data: unknown; response: Response }>;
  };
  if (typeof pending.withResponse !== "function") return { data: await pending, response: {}, contentType: "" };
  const { data, response } = await pending.withResponse();
  const contentType = response.headers.get("content-type") ?? "";
  // Some endpoints ignore `stream` and send the whole answer.
  const wasIgnored = body["stream"] === true && /^application\/json\b/i.test(contentType);
  const requestId = response.headers.get("x-request-id") ?? undefined;
  return {
    data: wasIgnored ? await response.json() : data,
    response: { status: response.status, requestId },
    contentType,
  };
}

async function* readAnswer(
  { data, contentType }: Sent,
  reader: AnswerReader,
  signal: AbortSignal | undefined,
): AsyncGenerator<StreamEvent> {
  if (!isAsyncIterable(data)) return yield* reader.whole(data);
  for await (const chunk of data) {
    throwIfAborted(signal);
    yield* reader.chunk(chunk);
  }
  // The client ends an aborted stream like a complete one.
  throwIfAborted(signal);
  const isStream = contentType === "" || /^text\/event-stream\b/i.test(contentType);
  yield* reader.end(isStream ? "" : `, and its content type is "${contentType}"`);
}

/** The error for a failure before the answer started (`reader` is undefined) or while it was read. */
function failureOf(cause: unknown, reader: AnswerReader | undefined, model: string): OpenAIModelError {
  const known = isRecord(cause) ? cause : {};
  const reason = known["code"] ?? known["type"];
  const facts = { cause, reason: typeof reason === "string" ? reason : undefined };
  if (reader !== undefined) return reader.failure(`broke off: ${reasonOf(cause)}`, "ERR_REWIND_OPENAI_STREAM", facts);
  const { status, requestID } = known;
  return new OpenAIModelError(
    `The call of the model "${model}" failed: ${reasonOf(cause)}`,
    "ERR_REWIND_OPENAI_REQUEST",
    {
      ...facts,
      model,
      status: typeof status === "number" ? status : undefined,
      requestId: typeof requestID === "string" ? requestID : undefined,
    },
  );
}

/** The message of fetch is only "terminated" or "fetch failed". The reason is in the causes. */
function reasonOf(cause: unknown): string {
  const inner = isError(cause) ? cause.cause : undefined;
  return isError(inner) ? `${messageOf(cause)} (${reasonOf(inner)})` : messageOf(cause);
}

/** True if an answer that is not streamed broke off. The client reads it itself, so its error is the only sign. */
function isBrokenBody(cause: unknown): boolean {
  return (
    isError(cause) && (cause.name === "SyntaxError" || (cause.name === "TypeError" && cause.message === "terminated"))
  );
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}

function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw new AbortError(signal.reason);
}
