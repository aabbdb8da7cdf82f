import { isError } from "../errors/base.js";
import type { Message, ToolCall } from "../types/messages.js";
import type { StreamEvent, TokenUsage, ToolCallDelta } from "../types/model.js";

/** A complete answer of a model. */
export interface CollectedStream {
  /** The answer as an assistant message. */
  message: Message;
  /** All text. */
  rawText: string;
  /** All reasoning; "" if there is no reasoning. */
  reasoning: string;
  toolCalls: ToolCall[];
  usage: TokenUsage | undefined;
  /** `undefined` if the stream ended without a `finish`. */
  finishReason: string | undefined;
  /** Milliseconds until the first text, reasoning or tool call; `undefined` if there was none of them. */
  ttft: number | undefined;
}

/**
 * Reads a model's stream to its end. Events of unknown types are skipped. A stream may end without `finish`.
 *
 * @param onEvent called for every event as it arrives.
 * @throws the error of an `error` event (as an Error), and the errors of the stream.
 */
export async function collectStream(
  stream: AsyncIterable<StreamEvent>,
  onEvent?: (event: StreamEvent) => void,
): Promise<CollectedStream> {
  const answer = new Answer(performance.now());
  for await (const event of stream) {
    onEvent?.(event);
    answer.add(event);
  }
  return answer.collected();
}

class Answer {
  readonly #startedAt: number;
  readonly #toolCalls = new ToolCalls();
  #rawText = "";
  #reasoning = "";
  #extra: Record<string, unknown> | undefined;
  #usage: TokenUsage | undefined;
  #finishReason: string | undefined;
  #ttft: number | undefined;

  constructor(startedAt: number) {
    this.#startedAt = startedAt;
  }

  add(event: StreamEvent): void {
    switch (event.type) {
      case "text":
        this.#ttft ??= performance.now() - this.#startedAt;
        this.#rawText += event.content;
        return;
      case "reasoning":
        this.#ttft ??= performance.now() - this.#startedAt;
        this.#reasoning += event.content;
        return;
      case "tool_call":
        this.#ttft ??= performance.now() - this.#startedAt;
        this.#toolCalls.add(event.toolCall);
        return;
      case "extra":
        this.#extra = merge(this.#extra, event.extra);
        return;
      case "usage":
        this.#usage = event.usage;
        return;
      case "finish":
        this.#finishReason = event.finishReason;
        this.#usage = event.usage ?? this.#usage;
        return;
      case "error":
        throw asError(event.error);
    }
  }

  collected(): CollectedStream {
    const toolCalls = this.#toolCalls.finished();
    const message: Message = {
      role: "assistant",
      content: this.#rawText === "" && toolCalls.length > 0 ? null : this.#rawText,
      ...(this.#reasoning === "" ? {} : { reasoning_content: this.#reasoning }),
      ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls }),
      ...(this.#extra === undefined ? {} : { extra: this.#extra }),
    };
    return {
      message,
      rawText: this.#rawText,
      reasoning: this.#reasoning,
      toolCalls,
      usage: this.#usage,
      finishReason: this.#finishReason,
      ttft: this.#ttft,
    };
  }
}

class ToolCalls {
  readonly #byIndex = new Map<number, ToolCall>();

  add({ index, id, name, arguments: piece, extra }: ToolCallDelta): void {
    let call = this.#byIndex.get(index);
    if (call === undefined) {
      call = { id: "", name: "", arguments: "" };
      this.#byIndex.set(index, call);
    }
    // Some servers send id and name with every fragment, others send empty ones after the first.
    if (id) call.id = id;
    if (name) call.name = name;
    call.arguments += piece ?? "";
    if (extra !== undefined) call.extra = merge(call.extra, extra);
  }

  /** Sorted by index. */
  finished(): ToolCall[] {
    return [...this.#byIndex]
      .toSorted(([left], [right]) => left - right)
      .map(([index, call]) => ({ ...call, id: call.id || `call_${index}` }));
  }
}

function merge(into: Record<string, unknown> = {}, from: Record<string, unknown>): Record<string, unknown> {
  // fromEntries treats __proto__ as a normal key.
  return Object.fromEntries([...Object.entries(into), ...Object.entries(from)]);
}

function asError(error: unknown): Error {
  if (isError(error)) return error;
  const message = typeof error === "object" && error !== null && "message" in error ? error.message : error;
  return new Error(typeof message === "string" ? message : `the model's stream reported an error: ${shown(message)}`, {
    cause: error,
  });
}

function shown(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return "(a value that cannot be shown)";
  }
}
