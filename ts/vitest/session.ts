import { rmSync } from "node:fs";
import { relative } from "node:path";

import {
  isUnrecordedRequestError,
  RecordingMissingError,
  RecordingStaleError,
  SecretInRecordingError,
} from "../errors/index.js";
import {
  readRecording,
  recordingText,
  writeRecording,
  type RecordingPaths,
  type RecordingText,
} from "../recording/files.js";
import { fromLines } from "../recording/from-lines.js";
import type { BuiltinRedactRule } from "../redact/rules.js";
import { networkRules, RecordingSession, sessionContexts, type NetworkOptions } from "../integration/session/index.js";
import type { ErrorClass } from "../types/error-class.js";
import { checkErrorClasses } from "../values/error-classes.js";
import { Normalizer, type NormalizeRule } from "../values/normalize.js";
import type { Class } from "../values/inexact.js";
import { recordingMode, type RecordingMode, type SnapshotUpdate } from "./mode.js";
import { recordingPaths, testNames, type FileLike, type TaskLike } from "./names.js";
import { noticeObsolete, removeUnnamed } from "./obsolete.js";
import { testCall, type Recording, type TestCall } from "./recording.js";
import { SecretFinder } from "./secrets.js";
import { warn } from "../errors/printable.js";

export interface RecordingOptions extends Readonly<NetworkOptions> {
  /** Rules for values that change between runs, such as times, ids and ports. Same as in `runWith`. */
  readonly normalize?: readonly NormalizeRule[];
  /** Classes whose instances have no state but their enumerable fields. Same as in `runWith`. */
  readonly exact?: readonly Class[];
  /** Overrides the mode that vitest implies. AGENT_REWIND_MODE overrides this option. */
  readonly mode?: RecordingMode;
  /** Classes that replayed failures come back as. Same as in `runWith`. */
  readonly errors?: readonly ErrorClass[];
  /** Redaction rules whose findings are allowed in the recording, such as `["card-number"]` for invented numbers. */
  readonly allowSecrets?: readonly BuiltinRedactRule[];
}

/** The tests whose functions run now, inside their recordings. */
const running = new Set<TaskLike>();

/** One attempt of one test, with its recording. */
export class TestSession implements Recording {
  readonly mode: RecordingMode;
  readonly path: string;
  readonly #paths: RecordingPaths;
  readonly #name: string;
  readonly #options: RecordingOptions;
  readonly #task: TaskLike;
  readonly #run: RecordingSession;
  readonly #found: boolean;

  /** @throws InvalidRecordingError, InvalidSnapshotError, and TypeError for an unknown mode. */
  constructor(task: TaskLike, update: SnapshotUpdate, options: RecordingOptions) {
    this.#task = task;
    this.#options = options;
    this.mode = recordingMode(update, process.env["AGENT_REWIND_MODE"] ?? options.mode);
    this.#name = testNames(task.file).get(task) ?? task.name;
    this.#paths = recordingPaths(task.file.filepath, this.#name);
    this.path = relative(process.cwd(), this.#paths.main);
    noticeObsolete(task.file, update === "all");
    const replays = this.mode !== "record" && this.mode !== "live";
    const found = replays ? readRecording(this.#paths) : undefined;
    this.#found = found !== undefined;
    const strict = this.mode === "replay" || (this.mode === "once" && this.#found);
    const snapshot = found ?? (strict ? fromLines({}, [], []) : undefined);
    const { normalize, errors, exact } = options;
    const network = this.mode === "live" ? "allow" : strict || isCI() ? "refuse" : "report";
    checkErrorClasses(errors, "recording: options.errors");
    this.#run = new RecordingSession({
      snapshot,
      normalize,
      errors,
      exact,
      mode: strict ? "replay" : this.#found ? "resume" : "live",
      network: networkRules("recording: options", options, network),
      // Otherwise it may be one of a hook, or of a test without a recording.
      ownsLostContexts: () => runningTasks(task.file.tasks).every((test) => running.has(test)),
    });
  }

  get calls(): TestCall[] {
    return this.#run.calls.flatMap((call) => testCall(call) ?? []);
  }

  get toolCalls(): TestCall[] {
    return this.calls.filter(({ kind }) => kind === "tool");
  }

  /**
   * Runs the test inside the recording, and writes the recording if the test passes.
   * @throws RecordingMissingError, RecordingStaleError, SecretInRecordingError, and the errors of the test.
   */
  async run<R>(test: () => R | Promise<R>): Promise<R> {
    const { context } = this.#run;
    sessionContexts.add(context);
    running.add(this.#task);
    try {
      const result = await this.#run.run(test).finally(() => running.delete(this.#task));
      const snapshot = await this.#run.finish();
      this.#throwIfRefused();
      this.#keep(snapshot);
      return result;
    } catch (error) {
      // The refused call is the reason for the failure of the test.
      this.#throwIfRefused(error);
      throw error;
    } finally {
      sessionContexts.delete(context);
      this.#run.close();
    }
  }

  #throwIfRefused(error?: unknown): void {
    const { refused } = this.#run;
    if (refused === undefined) return;
    if (isUnrecordedRequestError(refused)) throw refused;
    const options = { cause: error ?? refused };
    if (!this.#found) {
      const call = `the ${refused.kind} call "${refused.calledName}" (${refused.callId})`;
      throw new RecordingMissingError(this.#name, this.path, call, options);
    }
    const why = refused.message.replace(/ Record the run again, or use mode "resume".*$/s, "");
    throw new RecordingStaleError(this.#name, this.path, why, options);
  }

  #keep(snapshot: Parameters<typeof recordingText>[0]): void {
    this.#reportUnused();
    const madeLiveCalls = this.#run.calls.some(({ ended }) => ended?.cached !== true);
    const writes =
      this.mode === "record" || (this.mode === "once" && !this.#found) || (this.mode === "auto" && madeLiveCalls);
    // A test can fail without an error: by its timeout or a soft assertion.
    if (!writes || this.#task.result?.state === "fail") return;
    if (this.#run.calls.length === 0) {
      for (const path of [this.#paths.main, this.#paths.timing]) rmSync(path, { force: true });
      return;
    }
    const { normalize = [] } = this.#options;
    const rules = normalize.length === 0 ? [] : new Normalizer(normalize).recorded;
    const text = recordingText(snapshot, this.#name, rules);
    this.#refuseSecrets(text);
    writeRecording(this.#paths, text);
    if (this.mode === "record") removeUnnamed(this.#task.file.filepath);
  }

  #reportUnused(): void {
    if (this.mode === "auto") return;
    let calls = 0;
    let frames = 0;
    for (const { unused } of this.#run.report.frames) {
      calls += unused?.calls ?? 0;
      frames += unused?.frames ?? 0;
    }
    if (calls + frames === 0) return;
    const counts = [calls === 0 ? "" : plural(calls, "call"), frames === 0 ? "" : plural(frames, "sub-agent")];
    warn(
      `the test did not request ${counts.filter(Boolean).join(" and ")} of ${this.path}. ` +
        "`vitest -u` records the test again.",
    );
  }

  #refuseSecrets({ main, timing, blobs }: RecordingText): void {
    const finder = new SecretFinder(this.#options.allowSecrets);
    const inLines = finder.inLines(main);
    const inTiming = finder.inLines(timing).map(({ rule }) => ({ rule, line: 0 }));
    const lineOf = (name: string): number => main.slice(0, main.indexOf(name)).split("\n").length;
    const inBlobs = [...blobs].flatMap(([name, content]) =>
      finder.inBytes(content).map((rule) => ({ rule, line: lineOf(name) })),
    );
    const secrets = [...inLines, ...inBlobs, ...inTiming];
    if (secrets.length > 0) throw new SecretInRecordingError(this.path, secrets);
  }
}

function isCI(): boolean {
  return !["", "0", "false"].includes(process.env["CI"] ?? "");
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

function plural(count: number, noun: string): string {
  return `${count} recorded ${noun}${count === 1 ? "" : "s"}`;
}
