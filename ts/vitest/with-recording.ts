import { expect } from "vitest";

import type { SnapshotUpdate } from "./mode.js";
import type { TaskLike } from "./names.js";
import type { Recording } from "./recording.js";
import { TestSession, type RecordingOptions } from "./session.js";

const sessions = new WeakMap<TaskLike, TestSession>();

/**
 * Gives a test a recording of its own: `test("answers", withRecording(async () => { … }))`. Runs, agents and wrapped
 * clients in it are recorded into it, and replayed from it. With `test` of this module all tests have one.
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

/** vitest reads from a function's text which fixtures it wants. */
export function readAs<F extends (...args: never[]) => unknown>(wrapped: F, original: object): F {
  Object.defineProperty(wrapped, "toString", { value: () => Function.prototype.toString.call(original) });
  return wrapped;
}

export async function recorded(task: TaskLike, options: RecordingOptions, fn: () => unknown): Promise<void> {
  const session = new TestSession(task, snapshotUpdate(), options);
  sessions.set(task, session);
  await session.run(fn);
}

/** The recording of a test, for its body; it begins with the body. */
export function recordingOf(task: TaskLike): Recording {
  const session = (): TestSession => {
    const found = sessions.get(task);
    if (found === undefined)
      throw new Error(`the recording of the test "${task.name}" begins with the test's function`);
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

/** The context that vitest gives a test comes last; a case of `test.for` may look like one. */
function taskOf(args: readonly unknown[]): TaskLike {
  for (const arg of args.toReversed()) {
    // The context is a function, which says so when it is called like the `done` of others.
    const isObject = (typeof arg === "object" && arg !== null) || typeof arg === "function";
    const task = isObject ? (arg as { task?: TaskLike }).task : undefined;
    if (task?.type === "test" || task?.type === "custom") return task;
  }
  throw new TypeError(
    "withRecording: vitest gave the test no context. For test.each, take test.for, or test of agent-rewind/vitest.",
  );
}

function snapshotUpdate(): SnapshotUpdate {
  const { snapshotState } = expect.getState() as unknown as {
    snapshotState?: { snapshotUpdateState?: SnapshotUpdate; _updateSnapshot?: SnapshotUpdate };
  };
  return snapshotState?.snapshotUpdateState ?? snapshotState?._updateSnapshot ?? "none";
}
