import type { Message } from "../types/messages.js";
import type { StreamOptions, TokenUsage } from "../types/model.js";

/** What a model was asked. */
export interface MockRequest {
  readonly messages: readonly Message[];
  readonly options: StreamOptions;
  /** Text of what is new: of all messages after the model's last one, joined by line feeds. */
  readonly text: string;
  /** Number of the call, from 0, counting those that no rule answered. */
  readonly index: number;
}

export interface MockToolCall {
  readonly name: string;
  /** The input; a string is taken for JSON text as it stands, so that a broken one can be given. */
  readonly arguments?: unknown;
  /** By default `call_<n>`, with the number of calls before it in the conversation. */
  readonly id?: string;
}

/** What a model answers; members that are absent are not streamed. */
export interface MockAnswer {
  readonly text?: string;
  /** Text that is this value as JSON. */
  readonly json?: unknown;
  readonly reasoning?: string;
  readonly toolCalls?: readonly MockToolCall[];
  readonly extra?: Readonly<Record<string, unknown>>;
  readonly usage?: TokenUsage;
  /** By default "tool_calls" for an answer with tool calls, else "stop"; `null` ends the stream without one. */
  readonly finishReason?: string | null;
  /** What the model fails with, after all that it streams. */
  readonly error?: unknown;
  /** Milliseconds before the first event. */
  readonly delay?: number;
  /** Milliseconds between events. */
  readonly chunkDelay?: number;
  /** How texts, reasoning and inputs are cut: after so many characters, or into these pieces (of the text only). By
   * default each is one event. */
  readonly chunks?: number | readonly string[];
}

/** An answer, or its text. */
export type MockReply = MockAnswer | string;

/** Which requests a rule answers: those whose new text holds the string, fits the expression, or for which the
 * function gives true. */
export type MockMatcher = string | RegExp | ((request: MockRequest) => boolean);

export interface MockRule {
  /** Shown in errors. */
  readonly name?: string;
  /** Absent: any request. */
  readonly when?: MockMatcher;
  readonly reply: MockReply | ((request: MockRequest) => MockReply | Promise<MockReply>);
  /** How many requests the rule answers: by default one without `when` (so such rules answer in order), else any number. */
  readonly times?: number;
}

/** A request that reached the model. */
export interface MockCall extends MockRequest {
  /** Place of the rule that answered, in the list; `undefined` for none. */
  readonly rule: number | undefined;
}

export interface MockModelOptions {
  /** By default "mock". */
  id?: string;
  provider?: string;
  /** The first one that matches and is not used up answers. A string or an answer stands for `{ reply }`. */
  rules: readonly (MockRule | MockReply)[];
  modelOptions?: Readonly<Record<string, unknown>>;
  calculateCost?: (usage: TokenUsage) => Record<string, number>;
}
