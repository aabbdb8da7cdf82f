import { checkObject } from "../errors/received.js";
import type { ModelAdapter, StreamEvent } from "../types/model.js";
import { MockModelError } from "./error.js";
import { newText, ruleStates, type RuleState } from "./rules.js";
import { streamAnswer } from "./stream.js";
import type { MockAnswer, MockCall, MockModelOptions, MockReply, MockRequest } from "./types.js";

/** A scripted model for tests. */
export interface MockModel extends ModelAdapter {
  /** The requests that reached the model, in order. Replayed calls do not reach it. */
  readonly calls: readonly MockCall[];
  /** The rules that were used fewer than `times` times, or never if they have no `times`; one line each. */
  unusedRules(): string[];
  /** @throws MockModelError if a request was unexpected (even if the program handled the error), or if `unusedRules` is
   * not empty. */
  assertDone(): void;
  /** Forgets all calls and all uses of rules. */
  reset(): void;
}

/**
 * Creates a model that answers by rules, without a network. A request that no rule answers fails with a MockModelError
 * that lists the rules.
 *
 * @throws TypeError that names the invalid rule.
 */
export function createMockModel(options: MockModelOptions): MockModel {
  checkObject("createMockModel: options", options);
  const { id = "mock", provider, modelOptions, calculateCost } = options;
  let states = ruleStates(options.rules);
  let calls: MockCall[] = [];
  let unexpected: MockModelError | undefined;

  const take = (request: MockRequest): RuleState => {
    const index = states.findIndex((state) => !state.isUsedUp && state.matches(request));
    const state = states[index];
    calls.push({ ...request, rule: state === undefined ? undefined : index });
    if (state !== undefined) {
      state.used += 1;
      return state;
    }
    const error = unexpectedPrompt(id, request, states);
    unexpected ??= error;
    throw error;
  };

  return {
    id,
    ...(provider === undefined ? {} : { provider }),
    ...(modelOptions === undefined ? {} : { modelOptions }),
    ...(calculateCost === undefined ? {} : { calculateCost }),
    get calls() {
      return calls;
    },
    async *stream(messages, asked = {}): AsyncGenerator<StreamEvent> {
      const request = { messages: [...messages], options: asked, text: newText(messages), index: calls.length };
      const { reply } = take(request).rule;
      yield* streamAnswer(asAnswer(typeof reply === "function" ? await reply(request) : reply), request);
    },
    unusedRules: () => unused(states).map((state) => state.describe().trim()),
    assertDone() {
      if (unexpected !== undefined) throw unexpected;
      const left = unused(states);
      if (left.length === 0) return;
      throw new MockModelError(
        `The mock model "${id}" was called ${times(calls.length)}, and ${left.length} of its rules were used too few times.`,
        "ERR_REWIND_MOCK_UNUSED_RULES",
        left.map((state) => state.describe()),
      );
    },
    reset() {
      states = ruleStates(options.rules);
      calls = [];
      unexpected = undefined;
    },
  };
}

function asAnswer(reply: MockReply): MockAnswer {
  return typeof reply === "string" ? { text: reply } : reply;
}

function unused(states: readonly RuleState[]): RuleState[] {
  return states.filter((state) => !state.isDone);
}

function unexpectedPrompt(id: string, { text, index }: MockRequest, states: readonly RuleState[]): MockModelError {
  const shown = text.length > 500 ? `${text.slice(0, 500)}…` : text;
  return new MockModelError(
    `No rule of the mock model "${id}" answers call ${index} with the new text ${JSON.stringify(shown)}.`,
    "ERR_REWIND_MOCK_UNEXPECTED_PROMPT",
    states.map((state) => state.describe()),
    text,
  );
}

function times(count: number): string {
  return count === 1 ? "once" : `${count} times`;
}
