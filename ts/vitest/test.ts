import { test as plainTest, type TestAPI } from "vitest";

import type { TaskLike } from "./names.js";
import type { Recording } from "../testing/recording/seen.js";
import type { RecordingOptions } from "../testing/recording/recorded-test.js";
import { readAs, recorded, recordingOf, withRecording } from "./with-recording.js";

export interface RecordingFixtures {
  /** The recording of the test, with its calls so far. */
  recording: Recording;
}

/**
 * Returns a `test` that gives each test its own recording.
 * @param base vitest's `test` or an extended one.
 * @param options apply to all its tests.
 */
export function recordingTest<Context = object>(
  base: TestAPI<Context> = plainTest as unknown as TestAPI<Context>,
  options: RecordingOptions = {},
): TestAPI<Context & RecordingFixtures> {
  const extended = (base as unknown as TestAPI).extend<RecordingFixtures>({
    recording: async ({ task }, use) => use(recordingOf(task)),
  });
  return wrapped(extended as unknown as Callable, options) as unknown as TestAPI<Context & RecordingFixtures>;
}

type Handler = (...args: unknown[]) => unknown;
type Callable = ((...args: unknown[]) => unknown) & Record<string, unknown>;

/** The members of `test` that return another `test`. */
const CHAINED = new Set(["concurrent", "sequential", "skip", "only", "todo", "fails", "skipIf", "runIf", "extend"]);

/** Wraps the functions of tests. Hooks and suites are not changed. */
function wrapped(api: Callable, options: RecordingOptions): Callable {
  const withHandler = (args: unknown[]): unknown[] =>
    args.map((arg) => (typeof arg === "function" ? withRecording(arg as Handler, options) : arg));
  const rewrap = (value: unknown): unknown =>
    typeof value === "function" ? wrapped(value as Callable, options) : value;
  return new Proxy(api, {
    apply: (target, self, args: unknown[]) => Reflect.apply(target, self, withHandler(args)),
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (typeof key !== "string" || typeof value !== "function") return value;
      if (key === "for") {
        return (...cases: unknown[]) => {
          const define = Reflect.apply(value, target, cases) as Handler;
          return (...args: unknown[]) => define(...withHandler(args));
        };
      }
      if (key === "each") return each(target, options);
      if (!CHAINED.has(key)) return value;
      if (key === "skipIf" || key === "runIf" || key === "extend") {
        return (...args: unknown[]) => rewrap(Reflect.apply(value, target, args));
      }
      return rewrap(value);
    },
  });
}

/** Implements `test.each` with `test.for`, because only `test.for` passes the context to its tests. */
function each(target: Callable, options: RecordingOptions): (...cases: unknown[]) => Handler {
  return (...cases) => {
    const define = Reflect.apply(target["for"] as Handler, target, cases) as Handler;
    const [list] = cases;
    const spreads = Array.isArray(list) && !("raw" in list) && list.every(Array.isArray);
    const spread = (fn: Handler): Handler => {
      const run = (item: unknown, { task }: { task: TaskLike }): Promise<void> =>
        recorded(task, options, () => (spreads ? fn(...(item as unknown[])) : fn(item)));
      return readAs(run, EACH) as Handler;
    };
    return (...args) => define(...args.map((arg) => (typeof arg === "function" ? spread(arg as Handler) : arg)));
  };
}

/** The source text that vitest reads from a test of `each`: it requests no fixtures. */
const EACH = (_item: unknown, { task }: { task: unknown }): unknown => task;

/**
 * vitest's `test` with a recording for each test.
 *
 * @example
 * ```ts
 * import { journalCall } from "agent-rewind";
 * import { test } from "agent-rewind/vitest";
 * import { expect } from "vitest";
 *
 * test("answers", async ({ recording }) => {
 *   const answer = await journalCall({ kind: "chat", name: "some-model", request: { q: "?" } }, () => "an answer");
 *   expect(answer).toBe("an answer");
 *   expect(recording.calls).toHaveLength(1);
 * });
 * ```
 */
export const test: TestAPI<RecordingFixtures> = recordingTest();
