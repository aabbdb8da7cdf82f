// The interface between the runtime and a model.

import type { ErrorClass } from "./error-class.js";
import type { Message, ToolChoice } from "./messages.js";

export interface TokenUsage {
  promptTokens: number;
  completionTokens: number;
  totalTokens: number;
  details?: Record<string, unknown>;
}

/** A part of a tool call. Parts of one call have the same `index`, and their `arguments` are concatenated. */
export interface ToolCallDelta {
  index: number;
  id?: string;
  name?: string;
  /** Next part of the JSON text. */
  arguments?: string;
  extra?: Record<string, unknown>;
}

export type StreamEvent =
  | { type: "text"; content: string }
  | { type: "reasoning"; content: string }
  | { type: "tool_call"; toolCall: ToolCallDelta }
  | { type: "extra"; extra: Record<string, unknown> }
  | { type: "usage"; usage: TokenUsage }
  | { type: "error"; error: unknown }
  | { type: "finish"; finishReason: string; usage?: TokenUsage };

/** The description of a tool that a model gets. */
export interface ToolSchema {
  name: string;
  description: string;
  /** JSON schema (draft-07) of the input. */
  parameters: Record<string, unknown>;
  middlewares?: readonly { name: string; config?: unknown }[];
}

export interface StreamOptions {
  /** JSON schema (draft-07) of the answer. */
  schema?: Record<string, unknown>;
  tools?: ToolSchema[];
  toolChoice?: ToolChoice;
  /** Aborts when the agent must stop. */
  signal?: AbortSignal;
  /** Model options, such as temperature or seed. They are part of the request's hash. */
  additionalOptions?: Record<string, unknown>;
}

export interface ModelAdapter {
  readonly id: string;
  readonly provider?: string;
  /** Default options of all calls, as JSON. Options of a prompt override them. They are part of the request's hash. */
  readonly modelOptions?: Readonly<Record<string, unknown>>;
  /** Sends the messages, and yields the answer as it arrives. */
  stream(messages: Message[], options?: StreamOptions): AsyncGenerator<StreamEvent>;
  /** Classes that its replayed failures come back as, such as those of its client. */
  readonly errors?: readonly ErrorClass[];
  /** Costs of a call by unit, as integers. */
  calculateCost?(usage: TokenUsage): Record<string, number>;
}
