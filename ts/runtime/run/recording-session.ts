import { RunContext } from "../scope/run-context.js";
import { calling, native } from "../../native.js";
import { dumpSnapshot } from "./dump.js";
import { openSnapshot } from "../../snapshot/open.js";
import type { ReplayReport } from "../../types/report.js";
import type { ReplayMissError } from "../../errors/index.js";
import type { AgentSnapshot } from "../../types/snapshot.js";
import { DEFAULT_MAX_DEPTH, frameStart } from "../frame/frame.js";
import { newSpanId } from "../scope/ids.js";
import { Normalizer, type NormalizeRule } from "../../values/normalize.js";
import { RunState, type SeenCall } from "../scope/run-state.js";
import { DEFAULT_SETTINGS, Scope } from "../scope/scope.js";

export interface RecordingSessionOptions {
  /** What is replayed. */
  readonly snapshot?: AgentSnapshot | undefined;
  /** As for `runWith`: "live" makes all calls, "replay" none. */
  readonly mode: "live" | "resume" | "replay";
  readonly normalize?: readonly NormalizeRule[] | undefined;
}

/**
 * A run whose end is controlled by the caller (a test), not by a function. It records what is called in its context.
 * Runs that are started there become frames of it.
 */
export class RecordingSession {
  readonly context: RunContext;
  readonly #scope: Scope;

  /** @throws as `runWith` does of a snapshot. */
  constructor({ snapshot, mode, normalize = [] }: RecordingSessionOptions) {
    const normalizer = normalize.length === 0 ? undefined : new Normalizer(normalize);
    const opened = snapshot === undefined || mode === "live" ? undefined : openSnapshot(snapshot, normalizer);
    const run = new RunState({
      native,
      recording: true,
      requests: true,
      replaying: opened !== undefined,
      mode: opened === undefined ? "live" : mode,
      // Each run inside has events of its own; those between them are for nobody.
      eventBus: SILENT,
      normalizer,
      maxDepth: DEFAULT_MAX_DEPTH,
      isRecordingSession: true,
      reported: true,
    });
    // What was recorded is what is tested: failures and memory are as they were.
    const settings = { recording: true, requests: true, failures: "replay", memory: "start" };
    const root = frameStart("root", "", undefined, { normalizer, redaction: undefined });
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

  /** What was asked so far, in order. */
  get calls(): readonly SeenCall[] {
    return this.#scope.run.calls;
  }

  /** What became of the frames so far; empty where nothing is replayed. */
  get report(): ReplayReport {
    return this.#scope.run.report;
  }

  /** The first call that was not allowed to be made. */
  get refused(): ReplayMissError | undefined {
    return this.#scope.run.refused;
  }

  /** Ends streams that nobody reads any more, with what has come, and gives all that was recorded. */
  async finish(): Promise<AgentSnapshot> {
    const { openStreams } = this.#scope.run;
    while (openStreams.size > 0) {
      const open = [...openStreams];
      for (const stream of open) stream.abort();
      await Promise.all(open.map(({ ended }) => ended));
      for (const stream of open) openStreams.delete(stream);
    }
    this.#scope.closeChildren();
    this.#scope.countUnused();
    return dumpSnapshot({ context: this.context });
  }

  /** Nothing is recorded any more, and what still runs is aborted. */
  close(): void {
    const { frame } = this.#scope;
    this.#scope.journalEnd("completed", () => frame.complete("null"));
    this.#scope.close();
  }
}

const SILENT = { emit(): void {}, hasSubscribers: false };
