import type { Message } from "../types/messages.js";
import type { StreamOptions, TokenUsage } from "../types/model.js";

/** A request to a mock model. */
export interface MockRequest {
  readonly messages: readonly Message[];
  readonly options: StreamOptions;
  /** The text of all messages after the last message of the model, joined by line feeds. */
  readonly text: string;
  /** The number of the call, from 0. Calls that no rule answered count too. */
  readonly index: number;
}

export interface MockToolCall {
  readonly name: string;
  /** The input. A string is used as the JSON text itself, so that it can be malformed. */
  readonly arguments?: unknown;
  /** Default: `call_<n>`, where n is the number of earlier calls in the conversation. */
  readonly id?: string;
}

/** An answer of a mock model. Absent members are not streamed. */
export interface MockAnswer {
  readonly text?: string;
  /** A value that is sent as JSON text. */
  readonly json?: unknown;
  readonly reasoning?: string;
  readonly toolCalls?: readonly MockToolCall[];
  readonly extra?: Readonly<Record<string, unknown>>;
  readonly usage?: TokenUsage;
  /** Default: "tool_calls" for an answer with tool calls, else "stop". `null` ends the stream without a reason. */
  readonly finishReason?: string | null;
  /** The error of the model, thrown after all events. */
  readonly error?: unknown;
  /** Milliseconds before the first event. */
  readonly delay?: number;
  /** Milliseconds between events. */
  readonly chunkDelay?: number;
  /** Splits text, reasoning and inputs into events of this many characters, or the text into these pieces. Default:
   * one event each. */
  readonly chunks?: number | readonly string[];
}

/** An answer, or its text. */
export type MockReply = MockAnswer | string;

/** Selects the requests that a rule answers: the new text contains the string or matches the expression, or the function
 * returns true. */
export type MockMatcher = string | RegExp | ((request: MockRequest) => boolean);

export interface MockRule {
  /** Shown in errors. */
  readonly name?: string;
  /** Absent: every request. */
  readonly when?: MockMatcher;
  readonly reply: MockReply | ((request: MockRequest) => MockReply | Promise<MockReply>);
  /** The number of requests that the rule answers. Default: 1 without `when` (so these rules answer in order), otherwise
   * unlimited. */
  readonly times?: number;
}

/** A request that reached the model. */
export interface MockCall extends MockRequest {
  /** The index of the rule that answered; `undefined` if none did. */
  readonly rule: number | undefined;
}

export interface MockModelOptions {
  /** Default: "mock". */
  id?: string;
  provider?: string;
  /** The first rule that matches and is not used up answers. A string or an answer is short for `{ reply }`. */
  rules: readonly (MockRule | MockReply)[];
  modelOptions?: Readonly<Record<string, unknown>>;
  calculateCost?: (usage: TokenUsage) => Record<string, number>;
}
