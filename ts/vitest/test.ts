import { test as plainTest, type TestAPI } from "vitest";

import type { TaskLike } from "./names.js";
import type { Recording } from "./recording.js";
import type { RecordingOptions } from "./session.js";
import { readAs, recorded, recordingOf, withRecording } from "./with-recording.js";

export interface RecordingFixtures {
  /** What the test asked so far, and what became of it. */
  recording: Recording;
}

/**
 * vitest's `test`, or one of your own, each of whose tests has its own recording.
 * @param options for all tests of it.
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

/** What gives another `test`. */
const CHAINED = new Set(["concurrent", "sequential", "skip", "only", "todo", "fails", "skipIf", "runIf", "extend"]);

/** The same `test`, with the functions of tests wrapped; hooks and suites stay as they are. */
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

/** `test.each` gives no context to its tests; `test.for` does. */
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

/** How a test of `each` reads to vitest: it wants no fixtures. */
const EACH = (_item: unknown, { task }: { task: unknown }): unknown => task;

/**
 * vitest's `test`, each of whose tests has its own recording.
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
