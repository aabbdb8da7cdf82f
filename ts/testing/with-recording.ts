import { resolve } from "node:path";
import { fileURLToPath } from "node:url";

import { checkFunction } from "../errors/received.js";
import { isCI, type SnapshotUpdate } from "./recording/mode.js";
import type { RecordingOptions } from "./recording/recorded-test.js";
import type { Recording } from "./recording/seen.js";

/** All attempts of this process. */
const TEST_RUN = {};

/**
 * Runs a function with a recording, in any test runner or script. The first run records its calls, and later runs replay
 * them. The modes are those of tests with vitest. `jest -u` and AGENT_REWIND_MODE=update accept changed calls.
 *
 * @param file the path of the recording. Parts that change in every run are in a `.lock` file beside it.
 * @returns the result of the function.
 * @throws RecordingStaleError, as soon as the function makes a call that is not recorded; RecordingMissingError in CI;
 * SecretInRecordingError; InvalidRecordingError; and the errors of the function.
 *
 * @example
 * ```ts
 * import { journalCall } from "agent-rewind";
 * import { withRecording } from "agent-rewind/testing";
 *
 * export const answer = await withRecording("recordings/hours.jsonl", () =>
 *   journalCall({ kind: "chat", name: "some-model", request: { question: "When?" } }, () => "From 9 to 5."),
 * );
 * ```
 */
export function withRecording<R>(file: string | URL, fn: (recording: Recording) => R | Promise<R>): Promise<R>;
export function withRecording<R>(
  file: string | URL,
  options: RecordingOptions,
  fn: (recording: Recording) => R | Promise<R>,
): Promise<R>;
export async function withRecording<R>(
  file: string | URL,
  ...rest:
    | [fn: (recording: Recording) => R | Promise<R>]
    | [options: RecordingOptions, fn: (recording: Recording) => R | Promise<R>]
): Promise<R> {
  const [options, fn] = rest.length === 1 ? [{}, ...rest] : rest;
  checkFunction("withRecording: fn", fn);
  const main = resolve(file instanceof URL ? fileURLToPath(file) : file);
  const { update, accept } = runner();
  // The mock model of this entry point needs no addon.
  const { RecordedTest } = await import("./recording/recorded-test.js");
  const test = new RecordedTest(
    {
      name: main.replace(/^.*[\\/]/, ""),
      paths: { main, timing: `${main.replace(/\.\w+$/, "")}.lock`, blobs: resolve(main, "..", "files") },
      update,
      accept,
      testRun: TEST_RUN,
      expectsFailure: false,
      hasFailed: () => false,
      ownsLostContexts: () => true,
    },
    options,
  );
  return test.run(() => fn(test));
}

/** How the test runner is asked to accept changes, and whether it was. */
function runner(): { update: SnapshotUpdate; accept: string } {
  const { expect: jest } = globalThis as { expect?: { getState?(): { snapshotState?: { _updateSnapshot?: string } } } };
  const update = jest?.getState?.().snapshotState?._updateSnapshot;
  if (update !== undefined) return { update: update as SnapshotUpdate, accept: "jest -u" };
  return { update: isCI() ? "none" : "new", accept: "AGENT_REWIND_MODE=update" };
}
