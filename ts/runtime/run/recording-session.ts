import { runProgram } from "../call/identity/async-stack.js";
import { RunContext } from "../scope/run-context.js";
import { calling, native } from "../../native.js";
import { dumpSession } from "./dump.js";
import { openSnapshot } from "../../snapshot/open.js";
import type { ReplayReport } from "../../types/report.js";
import type { AgentSnapshot } from "../../types/snapshot.js";
import { DEFAULT_MAX_DEPTH, frameStart } from "../frame/run-frame.js";
import { newRunId, newSpanId } from "../scope/ids.js";
import { activeRuns } from "../scope/active-runs.js";
import type { NetworkRules } from "../scope/network.js";
import { closeRun, loadGuard, openRun } from "./network.js";
import type { ErrorClass } from "../../types/error-class.js";
import { classSet, type Class } from "../../values/inexact.js";
import { Normalizer, type NormalizeRule } from "../../values/normalize.js";
import { RunState } from "../scope/run-state.js";
import { DEFAULT_SETTINGS, Scope } from "../scope/scope.js";
import type { SeenCall } from "../scope/seen-calls.js";

export interface RecordingSessionOptions {
  /** The snapshot to replay. */
  readonly snapshot?: AgentSnapshot | undefined;
  /** As for `runWith`: "live" executes all calls, "replay" none. */
  readonly mode: "live" | "resume" | "replay";
  readonly normalize?: readonly NormalizeRule[] | undefined;
  /** As for `runWith`. */
  readonly errors?: readonly ErrorClass[] | undefined;
  readonly exact?: readonly Class[] | undefined;
  readonly network?: NetworkRules | undefined;
  /** As in `RunSettings`. */
  readonly ownsLostContexts?: (() => boolean) | undefined;
}

/**
 * A run whose end is controlled by the caller (a test), not by a function. It records the calls in its context. Runs
 * that are started there become frames of it.
 */
export class RecordingSession {
  readonly context: RunContext;
  readonly #scope: Scope;

  /** @throws the errors of `runWith` for snapshots and rules. */
  constructor(options: RecordingSessionOptions) {
    const { snapshot, mode, normalize = [], errors, exact, network, ownsLostContexts } = options;
    const normalizer = normalize.length === 0 ? undefined : new Normalizer(normalize);
    const opened = snapshot === undefined || mode === "live" ? undefined : openSnapshot(snapshot, normalizer);
    const run = new RunState({
      native,
      recording: true,
      requests: true,
      replaying: opened !== undefined,
      mode: opened === undefined ? "live" : mode,
      // Each run inside emits its own events. Nobody receives events of the session itself.
      eventBus: SILENT,
      errors,
      normalizer,
      exactContent: opened?.handle.exactContent,
      exact: classSet("options.exact", exact),
      maxDepth: DEFAULT_MAX_DEPTH,
      isRecordingSession: true,
      reported: true,
      network,
      ownsLostContexts,
    });
    // A test replays exactly what was recorded, including failures and memory.
    const settings = { recording: true, requests: true, failures: "replay", memory: "start", firstRun: newRunId() };
    const root = frameStart("root", "", undefined, run);
    this.#scope = new Scope({
      run,
      parent: undefined,
      callId: "root",
      agentId: "",
      frame: calling(() => native.FrameHandle.startRun(root, settings, opened?.handle)),
      settings: DEFAULT_SETTINGS,
    });
    this.context = new RunContext(this.#scope, newSpanId());
  }

  /**
   * Runs the test inside the recording. A refused call ends it at once, whatever the program does with the error.
   * @throws the error of the test, or the first refused call.
   */
  async run<R>(test: () => R | Promise<R>): Promise<R> {
    const { run } = this.#scope;
    await loadGuard(run.network);
    openRun(run);
    activeRuns.executing.add(run);
    try {
      const refusal = new Promise<never>((_resolve, reject) => (run.misses.onRefused = reject));
      return await Promise.race([this.context.run(() => runProgram(test)), refusal]);
    } finally {
      activeRuns.executing.delete(run);
    }
  }

  /** The calls so far, in order. */
  get calls(): readonly SeenCall[] {
    return this.#scope.run.calls;
  }

  /** The replay report so far. Empty without a snapshot. */
  get report(): ReplayReport {
    return this.#scope.run.report;
  }

  /** Lines of the program's stack where it made the refused call. */
  get refusedAt(): readonly string[] {
    return this.#scope.run.misses.refusedAt;
  }

  /** The first call or request that was not allowed. */
  get refused(): Error | undefined {
    return this.#scope.run.misses.refused;
  }

  /**
   * Waits for returned streams that the program reads, ends the other ones after the parts that have arrived, and returns
   * the complete recording.
   * @param keepsUnused true to keep the recorded entries that the test did not request.
   */
  async finish(keepsUnused: boolean = true): Promise<AgentSnapshot> {
    const { openStreams, openRuns } = this.#scope.run;
    await Promise.all([...openRuns].map((run) => run.idle()));
    while (openStreams.size > 0) {
      const open = [...openStreams];
      for (const stream of open) stream.abort();
      await Promise.all(open.map(({ ended }) => ended));
      for (const stream of open) openStreams.delete(stream);
    }
    for (const run of openRuns) run.end();
    this.#scope.closeChildren();
    this.#scope.countUnused();
    this.#scope.markReturned();
    return dumpSession(this.context, keepsUnused);
  }

  /** Returns what is recorded so far, with the recorded entries that the test did not request. */
  dump(): AgentSnapshot {
    for (const stream of this.#scope.run.openStreams) stream.progress();
    return dumpSession(this.context, true);
  }

  /** Stops recording, and aborts everything that still runs. */
  close(): void {
    const { run } = this.#scope;
    if (run.misses.refused !== undefined) {
      run.isRejected = true;
      this.#scope.abort(run.misses.refused);
    }
    closeRun(run);
    this.#scope.complete({ text: "null", types: null }, () => {});
  }
}

const SILENT = { emit(): void {}, hasSubscribers: false };
