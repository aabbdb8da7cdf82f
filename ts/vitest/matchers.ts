import type { expect } from "vitest";

import type { Recording, TestCall } from "./recording.js";
import { followsTrajectory, isStep, type Equals, type TrajectoryStep } from "./trajectory.js";

type MatcherState = ReturnType<typeof expect.getState>;
type MatchersObject = Parameters<typeof expect.extend>[0];

export interface CalledToolOptions {
  /** How often; by default at least once. */
  readonly times?: number;
}

/** Expectations of a test's recording. */
export interface RecordingMatchers<R = void> {
  /** Every call was answered from the recording. */
  toBeReplayed(): R;
  /**
   * A tool was called: with any input, or with one that equals `input`, which may hold asymmetric matchers.
   * Give `expect.anything()` for any input where `options` follow.
   */
  toHaveCalledTool(tool: string | RegExp, input?: unknown, options?: CalledToolOptions): R;
  /** The tool calls were these, in this order and no others; `"..."` stands for any number of calls. */
  toHaveTrajectory(steps: readonly TrajectoryStep[]): R;
}

interface Result {
  pass: boolean;
  message: () => string;
  actual?: unknown;
  expected?: unknown;
}

/** For `expect.extend`; importing `agent-rewind/vitest` does it. */
export const matchers: MatchersObject = {
  toBeReplayed(this: MatcherState, received: unknown): Result {
    const { calls } = recordingFrom(received, "toBeReplayed");
    const made = calls.filter(({ replayed }) => !replayed);
    const hint = this.utils.matcherHint("toBeReplayed", "recording", "", { isNot: this.isNot });
    return {
      pass: made.length === 0,
      message: () => {
        const list = made.map((call) => `\n  ${call.kind} ${inOneLine(call, this)}`).join("");
        return made.length === 0
          ? `${hint}\n\nAll ${calls.length} calls were replayed.`
          : `${hint}\n\n${made.length} of ${calls.length} calls were made:${list}`;
      },
    };
  },

  toHaveCalledTool(
    this: MatcherState,
    received: unknown,
    tool: string | RegExp,
    ...rest: [input?: unknown, options?: CalledToolOptions]
  ): Result {
    const { toolCalls } = recordingFrom(received, "toHaveCalledTool");
    const equals = equalsOf(this);
    const [input, { times } = {}] = rest;
    const hasInput = rest.length > 0 && input !== undefined;
    const named = toolCalls.filter((call) => isStep(call, { tool }, equals));
    const matching = hasInput ? named.filter((call) => equals(call.input, input)) : named;
    const pass = times === undefined ? matching.length > 0 : matching.length === times;
    const { matcherHint, EXPECTED_COLOR: green, RECEIVED_COLOR: red, stringify } = this.utils;
    const hint = matcherHint("toHaveCalledTool", "recording", stringify(tool), { isNot: this.isNot });
    const [nearest] = named;
    return {
      pass,
      message: () => {
        const wanted = hasInput ? ` with ${green(stringify(input, DEPTH, { min: true }))}` : "";
        const often = times === undefined ? "" : ` ${times} times`;
        const found = matching.length === 0 ? "never" : `${matching.length} times`;
        const list = toolCalls.map((call) => `\n  ${red(inOneLine(call, this))}`).join("");
        const expected = `Expected ${this.isNot ? "not " : ""}a call of ${green(stringify(tool))}${wanted}${often}`;
        return `${hint}\n\n${expected}, was called so ${found}. Tool calls:${list === "" ? " none" : list}`;
      },
      // Where only the input differs, the difference is shown.
      ...(hasInput && nearest !== undefined && matching.length === 0 ? { actual: nearest.input, expected: input } : {}),
    };
  },

  toHaveTrajectory(this: MatcherState, received: unknown, steps: readonly TrajectoryStep[]): Result {
    const { toolCalls } = recordingFrom(received, "toHaveTrajectory");
    const withInputs = steps.some((step) => typeof step === "object" && "tool" in step);
    const { matcherHint } = this.utils;
    const hint = matcherHint("toHaveTrajectory", "recording", "steps", { isNot: this.isNot });
    return {
      pass: followsTrajectory(toolCalls, steps, equalsOf(this)),
      message: () =>
        `${hint}\n\nExpected the tool calls ${this.isNot ? "not " : ""}to follow the trajectory, "..." being any number of calls.`,
      actual: withInputs ? shown(toolCalls) : toolCalls.map(({ name }) => name),
      expected: steps,
    };
  },
};

function equalsOf({ equals, customTesters, utils }: MatcherState): Equals {
  return (actual, expected) => equals(actual, expected, [...customTesters, utils.iterableEquality]);
}

const DEPTH = 10;

function inOneLine({ name, input }: TestCall, { utils }: MatcherState): string {
  return `${name}(${utils.stringify(input, DEPTH, { min: true })})`;
}

function shown(calls: readonly TestCall[]): { tool: string; input: unknown }[] {
  return calls.map(({ name, input }) => ({ tool: name, input }));
}

function recordingFrom(received: unknown, matcher: string): Recording {
  if (typeof received === "object" && received !== null && "toolCalls" in received) return received as Recording;
  throw new TypeError(`${matcher}: expected the fixture \`recording\` of the test, received ${typeof received}`);
}
