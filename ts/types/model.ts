// The interface between the runtime and a model.

import type { Message, ToolChoice } from "./messages.js";

export interface TokenUsage {
  promptTokens: number;
  completionTokens: number;
  totalTokens: number;
  details?: Record<string, unknown>;
}

/** A piece of a tool call; pieces of one call have the same `index`, and their `arguments` are joined. */
export interface ToolCallDelta {
  index: number;
  id?: string;
  name?: string;
  /** Next piece of the JSON text. */
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

/** A tool, as a model is told of it. */
export interface ToolSchema {
  name: string;
  description: string;
  /** JSON schema (draft-07) of the input. */
  parameters: Record<string, unknown>;
  middlewares?: readonly { name: string; config?: unknown }[];
}

export interface StreamOptions {
  /** JSON schema (draft-07) that the answer has to fit. */
  schema?: Record<string, unknown>;
  tools?: ToolSchema[];
  toolChoice?: ToolChoice;
  /** Aborts when the agent is to stop. */
  signal?: AbortSignal;
  /** Model options such as temperature or seed; part of the request's hash. */
  additionalOptions?: Record<string, unknown>;
}

export interface ModelAdapter {
  readonly id: string;
  readonly provider?: string;
  /** Options for every call, which those of a prompt override; part of the request's hash. JSON. */
  readonly modelOptions?: Readonly<Record<string, unknown>>;
  /** Sends the messages and gives the answer as it comes. */
  stream(messages: Message[], options?: StreamOptions): AsyncGenerator<StreamEvent>;
  /** Costs of a call by unit, in whole numbers. */
  calculateCost?(usage: TokenUsage): Record<string, number>;
}
