import type { expect } from "vitest";

import type { Recording, TestCall } from "../testing/recording/seen.js";
import { followsTrajectory, isStep, type Equals, type TrajectoryStep } from "./trajectory.js";

type MatcherState = ReturnType<typeof expect.getState>;
type MatchersObject = Parameters<typeof expect.extend>[0];

export interface CalledToolOptions {
  /** The exact number of calls. Default: at least one. */
  readonly times?: number;
}

/** Matchers for the fixture `recording` of a test. */
export interface RecordingMatchers<R = void> {
  /** Expects that every call was answered from the recording. */
  toBeReplayed(): R;
  /**
   * Expects a call of a tool. `input` may contain asymmetric matchers; if it is absent, any input matches. To pass
   * `options` and match any input, pass `expect.anything()`.
   */
  toHaveCalledTool(tool: string | RegExp, input?: unknown, options?: CalledToolOptions): R;
  /** Expects exactly these tool calls in this order. `"..."` matches any number of calls. */
  toHaveTrajectory(steps: readonly TrajectoryStep[]): R;
}

interface Result {
  pass: boolean;
  message: () => string;
  actual?: unknown;
  expected?: unknown;
}

/** The matchers for `expect.extend`. Importing `agent-rewind/vitest` registers them. */
export const matchers: MatchersObject = {
  toBeReplayed(this: MatcherState, received: unknown): Result {
    const { calls } = recordingFrom(received, "toBeReplayed");
    const live = calls.filter(({ replayed }) => !replayed);
    const hint = this.utils.matcherHint("toBeReplayed", "recording", "", { isNot: this.isNot });
    return {
      pass: live.length === 0,
      message: () => {
        const list = live.map((call) => `\n  ${call.kind} ${inOneLine(call, this)}`).join("");
        return live.length === 0
          ? `${hint}\n\nAll ${calls.length} calls were replayed.`
          : `${hint}\n\n${live.length} of ${calls.length} calls were live:${list}`;
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
        const wantedTimes = times === undefined ? "" : `, ${plural(times)}`;
        const list = toolCalls.map((call) => `\n  ${red(inOneLine(call, this))}`).join("");
        const expected = `Expected ${this.isNot ? "no" : "a"} call of ${green(stringify(tool))}${wanted}${wantedTimes}`;
        const found = `Matching calls: ${matching.length}`;
        return `${hint}\n\n${expected}. ${found}. Tool calls:${list === "" ? " none" : list}`;
      },
      // If only the input differs, vitest prints a diff.
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
        `${hint}\n\nExpected the tool calls ${this.isNot ? "not " : ""}to follow the trajectory. "..." matches any number of calls.`,
      actual: withInputs ? shown(toolCalls) : toolCalls.map(({ name }) => name),
      expected: steps,
    };
  },
};

function equalsOf({ equals, customTesters, utils }: MatcherState): Equals {
  return (actual, expected) => equals(actual, expected, [...customTesters, utils.iterableEquality]);
}

const DEPTH = 10;

function plural(times: number): string {
  return times === 1 ? "once" : `${times} times`;
}

function inOneLine({ name, input }: TestCall, { utils }: MatcherState): string {
  return `${name}(${utils.stringify(input, DEPTH, { min: true })})`;
}

function shown(calls: readonly TestCall[]): { tool: string; input: unknown }[] {
  return calls.map(({ name, input }) => ({ tool: name, input }));
}

function recordingFrom(received: unknown, matcher: string): Recording {
  if (typeof received === "object" && received !== null && "toolCalls" in received) return received as Recording;
  throw new TypeError(`${matcher}: expected the fixture \`recording\` of a test, received ${typeof received}`);
}
