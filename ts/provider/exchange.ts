import { native } from "../native.js";

/** The request and the answer of a model or a tool, in one form for all providers. */
export interface Exchange {
  /**
   * The form of the documents: "openai-chat", "openai-responses", "anthropic", "gemini", "bedrock", "ollama", "cohere",
   * "embeddings", "ai-sdk", "agent" (of this package), "tool", "mcp" or "http". Absent for other calls.
   */
  readonly api?: string;
  /** Method and path of an HTTP request. */
  readonly endpoint?: string;
  /** Status of an HTTP response. */
  readonly status?: number;
  readonly model?: string;
  /** The conversation that was sent, with system prompts first. */
  readonly messages?: readonly ExchangeMessage[];
  /** Names of the tools that the model was offered. */
  readonly tools?: readonly string[];
  /** The call of a tool. */
  readonly tool?: ExchangeToolCall;
  /** The answer of the model or tool. A streamed one is assembled. */
  readonly answer?: ExchangeMessage;
  /** As the provider names it. */
  readonly finishReason?: string;
  /** With cached and reasoning tokens. */
  readonly usage?: { readonly promptTokens: number; readonly completionTokens: number; readonly totalTokens: number };
}

export interface ExchangeMessage {
  /** "system", "user", "assistant", "tool", or another one of the provider. */
  readonly role: string;
  readonly text?: string;
  readonly reasoning?: string;
  readonly toolCalls?: readonly ExchangeToolCall[];
  /** In the result of a tool: the id of its call. */
  readonly toolCallId?: string;
  /** The name of the tool or participant. */
  readonly name?: string;
  /** The kinds of parts that are not text, such as "image". */
  readonly media?: readonly string[];
}

export interface ExchangeToolCall {
  readonly id?: string;
  readonly name: string;
  /** Parsed; a string if the model wrote no valid JSON. */
  readonly arguments: unknown;
}

/** A recorded call. The members are JSON text. */
export interface RecordedDocuments {
  readonly kind: string;
  /** The document that is hashed. */
  readonly request?: string | undefined;
  readonly output?: string | undefined;
  readonly meta?: string | undefined;
}

/** Reads a recorded call of any client. A document in an unknown form leaves its fields absent. */
export function exchangeOf({ kind, request, output, meta }: RecordedDocuments): Exchange {
  return JSON.parse(native.readExchange(kind, request, output, meta)) as Exchange;
}
