import { relative } from "node:path";
import { expect } from "vitest";

import type { SnapshotUpdate } from "../testing/recording/mode.js";
import { isRecordingError, isRecordingStaleError, type StaleCall } from "../errors/index.js";
import { presented } from "./failure.js";
import { recordingPaths, testNames, type FileLike, type TaskLike } from "./names.js";
import { noticeObsolete, removeUnnamed } from "./obsolete.js";
import type { Recording } from "../testing/recording/seen.js";
import { RecordedTest, type RecordingOptions } from "../testing/recording/recorded-test.js";

const sessions = new WeakMap<TaskLike, RecordedTest>();

/** The tests whose functions run now, inside their recordings. */
const running = new Set<TaskLike>();

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
  const { file } = task;
  const update = snapshotUpdate();
  const name = testNames(file).get(task) ?? task.name;
  noticeObsolete(file, update === "all");
  running.add(task);
  let session: RecordedTest | undefined;
  let stale: StaleCall | undefined;
  try {
    session = new RecordedTest(
      {
        name,
        paths: recordingPaths(file.filepath, name),
        update,
        accept: "vitest -u",
        testRun: file,
        expectsFailure: task.fails === true,
        hasFailed: () => task.result?.state === "fail",
        // Otherwise it may be one of a hook, or of a test without a recording.
        ownsLostContexts: () => runningTasks(file.tasks).every((test) => running.has(test)),
      },
      options,
    );
    sessions.set(task, session);
    await session.run(fn);
    if (update === "all") removeUnnamed(file.filepath);
  } catch (error) {
    // A test that fails because of its recording has not failed as expected.
    if (isRecordingError(error)) task.fails = false;
    if (isRecordingStaleError(error)) {
      const accept = `npx vitest run -u ${relative(process.cwd(), file.filepath)} -t ${JSON.stringify(task.name)}`;
      stale = { ...error.call, accept };
    }
    throw presented(error);
  } finally {
    running.delete(task);
    if (session !== undefined) task.meta.agentRewind = { ...session.report, ...(stale === undefined ? {} : { stale }) };
  }
}

/** The innermost tasks that run now, also in their hooks. */
function runningTasks(tasks: FileLike["tasks"]): TaskLike[] {
  return tasks.flatMap((task) => {
    const { startTime, duration } = task.result ?? {};
    if (startTime === undefined || duration !== undefined) return [];
    const inside = "tasks" in task ? runningTasks(task.tasks) : [];
    return inside.length === 0 ? [task] : inside;
  });
}

/** The fixture `recording` of a test. The recording starts with the test's function, after the fixtures. */
export function recordingOf(task: TaskLike): Recording {
  const session = (): RecordedTest => {
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
