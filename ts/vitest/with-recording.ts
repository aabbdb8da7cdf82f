import { expect } from "vitest";

import type { SnapshotUpdate } from "./mode.js";
import type { TaskLike } from "./names.js";
import type { Recording } from "./recording.js";
import { TestSession, type RecordingOptions } from "./session.js";

const sessions = new WeakMap<TaskLike, TestSession>();

/**
 * Wraps the function of a test to give it its own recording: `test("answers", withRecording(async () => { … }))`. Runs,
 * agents and wrapped clients in the test are recorded and replayed. The `test` of this module does this for all tests.
 */
export function withRecording<Args extends unknown[]>(
  fn: (...args: Args) => unknown,
  options: RecordingOptions = {},
): (...args: Args) => Promise<void> {
  const wrapped = async (...args: Args): Promise<void> => {
    await recorded(taskOf(args), options, () => fn(...args));
  };
  return readAs(wrapped, fn);
}

/** vitest reads the fixtures that a test requests from the source text of its function. */
export function readAs<F extends (...args: never[]) => unknown>(wrapped: F, original: object): F {
  Object.defineProperty(wrapped, "toString", { value: () => Function.prototype.toString.call(original) });
  return wrapped;
}

export async function recorded(task: TaskLike, options: RecordingOptions, fn: () => unknown): Promise<void> {
  const session = new TestSession(task, snapshotUpdate(), options);
  sessions.set(task, session);
  await session.run(fn);
}

/** The fixture `recording` of a test. The recording starts with the test's function, after the fixtures. */
export function recordingOf(task: TaskLike): Recording {
  const session = (): TestSession => {
    const found = sessions.get(task);
    if (found === undefined)
      throw new Error(
        `The recording of the test "${task.name}" has not started. Use it in the test's function, not in a hook or fixture.`,
      );
    return found;
  };
  return {
    get mode() {
      return session().mode;
    },
    get path() {
      return session().path;
    },
    get calls() {
      return session().calls;
    },
    get toolCalls() {
      return session().toolCalls;
    },
  };
}

/** Finds the context of the test. It is the last argument; a case of `test.for` before it may look like one. */
function taskOf(args: readonly unknown[]): TaskLike {
  for (const arg of args.toReversed()) {
    // vitest passes the context as a function, which throws when called like a `done` callback.
    const isObject = (typeof arg === "object" && arg !== null) || typeof arg === "function";
    const task = isObject ? (arg as { task?: TaskLike }).task : undefined;
    if (task?.type === "test" || task?.type === "custom") return task;
  }
  throw new TypeError(
    "withRecording: vitest passed no context to the test. Replace test.each by test.for, or use test of agent-rewind/vitest.",
  );
}

function snapshotUpdate(): SnapshotUpdate {
  const { snapshotState } = expect.getState() as unknown as {
    snapshotState?: { snapshotUpdateState?: SnapshotUpdate; _updateSnapshot?: SnapshotUpdate };
  };
  return snapshotState?.snapshotUpdateState ?? snapshotState?._updateSnapshot ?? "none";
}
