import type { TestCall } from "../testing/recording/seen.js";

/** An expected tool call. */
export interface ExpectedToolCall {
  readonly tool: string | RegExp;
  /** The input of the tool. May contain asymmetric matchers. Absent: any input. */
  readonly input?: unknown;
}

/** A tool name, a pattern, or a tool with an input. `"..."` matches any number of calls. */
export type TrajectoryStep = string | RegExp | ExpectedToolCall;

export type Equals = (actual: unknown, expected: unknown) => boolean;

/** True if the steps match all calls, in order. */
export function followsTrajectory(
  calls: readonly TestCall[],
  steps: readonly TrajectoryStep[],
  equals: Equals,
): boolean {
  // reached[i]: the steps so far can match exactly the first i calls.
  let reached = Array.from({ length: calls.length + 1 }, (_, index) => index === 0);
  for (const step of steps) {
    const next = reached.map(() => false);
    for (const [index, here] of reached.entries()) {
      if (step === "...") next[index] = here || (index > 0 && next[index - 1] === true);
      else if (here && index < calls.length) next[index + 1] = isStep(calls[index] as TestCall, step, equals);
    }
    reached = next;
  }
  return reached[calls.length] === true;
}

export function isStep(call: TestCall, step: TrajectoryStep, equals: Equals): boolean {
  if (typeof step === "string") return call.name === step;
  // True for patterns of other realms too.
  if (Object.prototype.toString.call(step) === "[object RegExp]") return matches(step as RegExp, call.name);
  const { tool, input } = step as ExpectedToolCall;
  const named = typeof tool === "string" ? call.name === tool : matches(tool, call.name);
  return named && (!("input" in (step as object)) || equals(call.input, input));
}

function matches(pattern: RegExp, text: string): boolean {
  return text.search(pattern) !== -1;
}
