import { relative } from "node:path";

import { isReplayMissError, RecordingMissingError, SecretInRecordingError } from "../../errors/index.js";
import { warn } from "../../errors/printable.js";
import {
  networkRules,
  RecordingSession,
  sessionContexts,
  type NetworkOptions,
} from "../../integration/session/index.js";
import { readRecording, recordingText, writeRecording, type RecordingPaths } from "../../recording/files.js";
import { fromLines } from "../../recording/from-lines.js";
import { findSecrets } from "../../recording/secrets.js";
import type { BuiltinRedactRule } from "../../redact/rules.js";
import type { ErrorClass } from "../../types/error-class.js";
import type { AgentSnapshot } from "../../types/snapshot.js";
import { checkErrorClasses } from "../../values/error-classes.js";
import type { Class } from "../../values/inexact.js";
import { Normalizer, type NormalizeRule } from "../../values/normalize.js";
import { draftPaths, removeRecording } from "./drafts.js";
import { isCI, recordingMode, type RecordingMode, type SnapshotUpdate } from "./mode.js";
import { testCall, type Recording, type RecordingReport, type TestCall } from "./seen.js";
import { placeAt, staleError } from "./stale.js";

export interface RecordingOptions extends Readonly<NetworkOptions> {
  /** Rules for values that change between runs, such as times, ids and ports. Same as in `runWith`. */
  readonly normalize?: readonly NormalizeRule[];
  /** Classes whose instances have no state but their enumerable fields. Same as in `runWith`. */
  readonly exact?: readonly Class[];
  /** Overrides the mode that the test runner implies. AGENT_REWIND_MODE overrides this option. */
  readonly mode?: RecordingMode;
  /** Classes that replayed failures come back as. Same as in `runWith`. */
  readonly errors?: readonly ErrorClass[];
  /** Redaction rules whose findings are allowed in the recording, such as `["card-number"]` for invented numbers. */
  readonly allowSecrets?: readonly BuiltinRedactRule[];
}

/** What a test runner knows about one attempt of a test. */
export interface TestAttempt {
  readonly name: string;
  readonly paths: RecordingPaths;
  readonly update: SnapshotUpdate;
  /** The command that accepts a changed call. */
  readonly accept: string;
  /** Attempts with the same object do not use the drafts of each other. */
  readonly testRun: object;
  readonly expectsFailure: boolean;
  /** True if the test has failed without an error: by its timeout or a soft assertion. */
  hasFailed(): boolean;
  /** False while a request without an async context may belong to something else. */
  ownsLostContexts(): boolean;
}

/** The drafts that each run of a test file has written. */
const ownDrafts = new WeakMap<object, Set<string>>();

/** One attempt of one test, with its recording. */
export class RecordedTest implements Recording {
  readonly mode: RecordingMode;
  readonly path: string;
  readonly #attempt: TestAttempt;
  readonly #options: RecordingOptions;
  readonly #draft: RecordingPaths;
  /** True if no call may be live. */
  readonly #isStrict: boolean;
  readonly #source: "recording" | "draft" | undefined;
  readonly #run: RecordingSession;
  #written = false;

  /** @throws InvalidRecordingError, InvalidSnapshotError, and TypeError for an unknown mode. */
  constructor(attempt: TestAttempt, options: RecordingOptions) {
    const { paths, update, testRun } = attempt;
    this.#attempt = attempt;
    this.#options = options;
    this.mode = recordingMode(update, options.mode);
    this.path = relative(process.cwd(), paths.main);
    this.#draft = draftPaths(paths);
    const { mode } = this;
    const mayReplay = mode !== "record" && mode !== "live";
    const recorded = mayReplay ? readRecording(paths) : undefined;
    const mayContinue =
      mode === "update" || mode === "auto" || (mode === "once" && recorded === undefined)
        ? ownDrafts.get(testRun)?.has(this.#draft.main) !== true
        : false;
    const draft = mayContinue ? readRecording(this.#draft) : undefined;
    this.#source = draft === undefined ? (recorded === undefined ? undefined : "recording") : "draft";
    const strict = mode === "replay" || (mode === "once" && recorded !== undefined);
    this.#isStrict = strict;
    const snapshot = draft ?? recorded ?? (strict ? fromLines({}, [], []) : undefined);
    const { normalize, errors, exact } = options;
    const network = mode === "live" ? "allow" : strict || isCI() ? "refuse" : "report";
    checkErrorClasses(errors, "recording: options.errors");
    this.#run = new RecordingSession({
      snapshot,
      normalize,
      errors,
      exact,
      mode: strict ? "replay" : snapshot === undefined ? "live" : "resume",
      network: networkRules("recording: options", options, network),
      ownsLostContexts: () => attempt.ownsLostContexts(),
    });
  }

  get calls(): TestCall[] {
    return this.#run.calls.flatMap((call) => testCall(call) ?? []);
  }

  get toolCalls(): TestCall[] {
    return this.calls.filter(({ kind }) => kind === "tool");
  }

  get report(): Omit<RecordingReport, "stale"> {
    const { calls } = this.#run;
    const replayed = calls.filter(({ ended }) => ended?.cached === true).length;
    return {
      recording: this.path,
      mode: this.mode,
      replayed,
      live: this.#isStrict ? 0 : calls.length - replayed,
      written: this.#written,
    };
  }

  /**
   * Runs the test inside the recording, and writes the recording if the test passes.
   * @throws RecordingMissingError, RecordingStaleError, SecretInRecordingError, and the errors of the test.
   */
  async run<R>(test: () => R | Promise<R>): Promise<R> {
    const { context } = this.#run;
    const { expectsFailure } = this.#attempt;
    sessionContexts.add(context);
    let outcome: { result: R } | { error: unknown };
    try {
      outcome = await this.#run.run(test).then(
        (result) => ({ result }),
        (error: unknown) => ({ error }),
      );
      this.#throwIfRefused();
      // A test can fail without an error.
      const hasFailed = "error" in outcome || this.#attempt.hasFailed();
      if (hasFailed !== expectsFailure) {
        this.#keepDraft();
      } else {
        const snapshot = await this.#run.finish(this.mode === "auto");
        this.#throwIfRefused();
        this.#keep(snapshot);
      }
    } finally {
      sessionContexts.delete(context);
      this.#run.close();
    }
    if ("error" in outcome) throw outcome.error;
    return outcome.result;
  }

  #throwIfRefused(): void {
    const { refused, refusedAt } = this.#run;
    if (refused === undefined) return;
    const { name, accept } = this.#attempt;
    if (!isReplayMissError(refused)) throw placeAt(refused, refusedAt);
    if (this.#source !== undefined)
      throw placeAt(staleError(refused, { test: name, path: this.path, accept }), refusedAt);
    const call = `the ${refused.kind} call "${refused.calledName}" (${refused.callId})`;
    throw placeAt(new RecordingMissingError(name, this.path, call), refusedAt);
  }

  get #hasLiveCalls(): boolean {
    const { calls, report } = this.#run;
    return this.#source === undefined ? calls.length > 0 : report.frames.some(({ live }) => live > 0);
  }

  /** Keeps what was paid for, so that the next run of the test need not pay again. */
  #keepDraft(): void {
    if (this.mode === "live" || this.mode === "record" || !this.#hasLiveCalls) return;
    const snapshot = this.#run.dump();
    const text = recordingText(snapshot, this.#attempt.name, this.#rules);
    if (findSecrets(snapshot, text.blobs, this.#options.allowSecrets).length > 0) return;
    writeRecording(this.#draft, text);
    const { testRun } = this.#attempt;
    ownDrafts.set(testRun, (ownDrafts.get(testRun) ?? new Set()).add(this.#draft.main));
  }

  #keep(snapshot: AgentSnapshot): void {
    const { mode } = this;
    const unused = this.#unused();
    if (this.#isStrict || mode === "live") {
      if (unused !== "") {
        warn(`the test did not request ${unused} of ${this.path}. \`${this.#attempt.accept}\` removes what is unused.`);
      }
      return;
    }
    const { paths, name } = this.#attempt;
    const isUnchanged = this.#source === "recording" && !this.#hasLiveCalls && (unused === "" || mode === "auto");
    if (!isUnchanged || mode === "record") {
      if (this.#run.calls.length === 0) {
        removeRecording(paths);
      } else {
        const text = recordingText(snapshot, name, this.#rules);
        const secrets = findSecrets(snapshot, text.blobs, this.#options.allowSecrets);
        if (secrets.length > 0) throw new SecretInRecordingError(this.path, secrets);
        writeRecording(paths, text);
        this.#written = true;
      }
    }
    removeRecording(this.#draft);
  }

  get #rules(): Normalizer["recorded"] {
    const { normalize = [] } = this.#options;
    return normalize.length === 0 ? [] : new Normalizer(normalize).recorded;
  }

  /** The recorded entries that the test did not request, in words. */
  #unused(): string {
    let calls = 0;
    let frames = 0;
    for (const { unused } of this.#run.report.frames) {
      calls += unused?.calls ?? 0;
      frames += unused?.frames ?? 0;
    }
    const counts = [calls === 0 ? "" : plural(calls, "call"), frames === 0 ? "" : plural(frames, "sub-agent")];
    return counts.filter(Boolean).join(" and ");
  }
}

function plural(count: number, noun: string): string {
  return `${count} recorded ${noun}${count === 1 ? "" : "s"}`;
}
