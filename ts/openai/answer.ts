import type { StreamEvent } from "../types/model.js";
import { OpenAIModelError, type OpenAIFailure, type OpenAIModelErrorCode } from "./error.js";
import type { Loose } from "./loose.js";
import { isRecord } from "../values/members.js";
import { ToolCallReader } from "./tool-calls.js";
import { usageOf } from "./usage.js";

export interface AnswerOptions {
  model: string;
  /** The arguments of a call to this tool are the answer. */
  answerTool: string | undefined;
  lengthLimit: "error" | "accept";
  /** HTTP status. */
  status?: number | undefined;
  requestId?: string | undefined;
}

/** Converts the data from an endpoint to the events of a model, and checks that the answer is complete. */
export class AnswerReader {
  readonly #options: AnswerOptions;
  readonly #calls = new ToolCallReader();
  #answerIndex: number | undefined;
  #text = "";
  #refusal = "";
  #finishReason: string | undefined;
  #usage: unknown;

  constructor(options: AnswerOptions) {
    this.#options = options;
  }

  /**
   * The events of a chunk of a stream.
   * @throws OpenAIModelError if it is not a chunk.
   */
  *chunk(chunk: unknown): Generator<StreamEvent> {
    yield* this.#choice(this.#checked(chunk), "delta");
  }

  /**
   * The events of an answer that was not streamed.
   * @throws OpenAIModelError if it is not an answer.
   */
  *whole(body: unknown): Generator<StreamEvent> {
    yield* this.#choice(this.#checked(body), "message");
    yield* this.end();
  }

  /**
   * The events that end the answer.
   * @throws OpenAIModelError if the answer is incomplete.
   */
  *end(detail = ""): Generator<StreamEvent> {
    const reason = this.#finishReason;
    if (this.#refusal !== "") {
      throw this.failure(`refused to answer: ${this.#refusal.replace(/\.$/, "")}`, "ERR_REWIND_OPENAI_REFUSAL", {
        reason: "refusal",
      });
    }
    if (reason === undefined) {
      throw this.failure(`broke off: it ended without a finish_reason${detail}`, "ERR_REWIND_OPENAI_STREAM");
    }
    if (reason === "content_filter") {
      throw this.failure("was stopped by the endpoint's content filter", "ERR_REWIND_OPENAI_INCOMPLETE", { reason });
    }
    if (reason === "error") throw this.failure("ended with an error", "ERR_REWIND_OPENAI_STREAM", { reason });
    if (reason === "length" && this.#options.lengthLimit === "error") {
      throw this.failure(
        'reached the token limit; raise max_completion_tokens, or accept the partial answer with lengthLimit: "accept"',
        "ERR_REWIND_OPENAI_INCOMPLETE",
        { reason },
      );
    }
    const usage = usageOf(this.#usage);
    if (usage !== undefined) yield { type: "usage", usage };
    yield { type: "finish", finishReason: reason };
  }

  failure(what: string, code: OpenAIModelErrorCode, more: Partial<OpenAIFailure> = {}): OpenAIModelError {
    const { model, status, requestId } = this.#options;
    const subject =
      code === "ERR_REWIND_OPENAI_REFUSAL" ? `The model "${model}"` : `The answer of the model "${model}"`;
    return new OpenAIModelError(`${subject} ${what}.`, code, {
      model,
      status,
      requestId,
      partialText: this.#text,
      ...more,
    });
  }

  #malformed(value: unknown): OpenAIModelError {
    return this.failure(`violates the protocol: ${excerpt(value)}`, "ERR_REWIND_OPENAI_STREAM");
  }

  #checked(value: unknown): Loose {
    if (!isRecord(value)) throw this.#malformed(value);
    const { error } = value;
    // Once the headers are sent, an endpoint can report an error only in the stream.
    if (error !== undefined && error !== null) {
      throw this.failure(`broke off with an error: ${excerpt(error)}`, "ERR_REWIND_OPENAI_STREAM", {
        reason: codeOf(error),
      });
    }
    return value;
  }

  *#choice(chunk: Loose, member: "delta" | "message"): Generator<StreamEvent> {
    // The usage is cumulative: in a last chunk without choices, or in every chunk.
    this.#usage = chunk["usage"] ?? memberOf(chunk["x_groq"], "usage") ?? this.#usage;
    const choices = chunk["choices"] ?? [];
    if (!Array.isArray(choices)) throw this.#malformed(chunk);
    for (const choice of choices as unknown[]) {
      if (!isRecord(choice)) throw this.#malformed(chunk);
      if ((choice["index"] ?? 0) !== 0) continue;
      const delta = choice[member];
      if (isRecord(delta)) yield* this.#delta(delta);
      const reason = choice["finish_reason"];
      if (typeof reason === "string" && reason !== "") this.#finishReason = reason;
    }
  }

  *#delta(delta: Loose): Generator<StreamEvent> {
    if (typeof delta["refusal"] === "string") this.#refusal += delta["refusal"];
    const reasoning = delta["reasoning_content"] ?? delta["reasoning"];
    if (typeof reasoning === "string" && reasoning !== "") yield { type: "reasoning", content: reasoning };
    yield* this.#content(delta["content"]);
    const calls: unknown = delta["tool_calls"];
    for (const fragment of Array.isArray(calls) ? (calls as unknown[]) : []) yield* this.#toolCall(fragment);
    const extra = delta["extra_content"];
    if (extra !== undefined) yield { type: "extra", extra: { extra_content: extra } };
  }

  *#content(content: unknown): Generator<StreamEvent> {
    if (typeof content === "string") return yield* this.#textEvent(content);
    // A list of parts. A part of type "thinking" contains a list of parts itself.
    if (!Array.isArray(content)) return;
    for (const part of content as unknown[]) {
      if (!isRecord(part)) continue;
      if (part["type"] === "text" && typeof part["text"] === "string") yield* this.#textEvent(part["text"]);
      if (part["type"] !== "thinking" || !Array.isArray(part["thinking"])) continue;
      for (const thought of part["thinking"] as unknown[]) {
        const text = memberOf(thought, "text");
        if (typeof text === "string" && text !== "") yield { type: "reasoning", content: text };
      }
    }
  }

  *#textEvent(content: string): Generator<StreamEvent> {
    if (content === "") return;
    this.#text += content;
    yield { type: "text", content };
  }

  *#toolCall(fragment: unknown): Generator<StreamEvent> {
    const piece = this.#calls.read(fragment);
    if (piece === undefined)
      throw this.failure(`contains an invalid tool call: ${excerpt(fragment)}`, "ERR_REWIND_OPENAI_STREAM");
    const { delta, name } = piece;
    if (this.#options.answerTool === undefined || name !== this.#options.answerTool) {
      yield { type: "tool_call", toolCall: delta };
      return;
    }
    // Only the first call of the answer tool counts.
    this.#answerIndex ??= delta.index;
    if (this.#answerIndex === delta.index) yield* this.#textEvent(delta.arguments ?? "");
  }
}

function memberOf(value: unknown, name: string): unknown {
  return isRecord(value) ? value[name] : undefined;
}

function codeOf(error: unknown): string | undefined {
  const code = memberOf(error, "code") ?? memberOf(error, "type");
  return typeof code === "string" || typeof code === "number" ? String(code) : undefined;
}

function excerpt(value: unknown): string {
  const message = memberOf(value, "message");
  const text = typeof message === "string" ? message : (JSON.stringify(value) ?? String(value));
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
