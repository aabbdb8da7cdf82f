import type { Native } from "../../native.js";
import type { Redaction } from "../../redact/redaction.js";
import type { ModelAdapter } from "../../types/model.js";
import type { ReplayReport } from "../../types/report.js";
import type { ErrorClass } from "../../types/error-class.js";
import type { InputRules } from "../../values/encode.js";
import type { Normalizer } from "../../values/normalize.js";
import { EndTicks } from "../order/end-ticks.js";
import { ReleaseQueue } from "../order/release-queue.js";
import { ReopenedRequests } from "../order/reopened-requests.js";
import { Emitter, type EmitterOptions } from "./emitter.js";
import { Misses, type MissOptions } from "./misses.js";
import { ALLOW_ALL, type NetworkRules } from "./network.js";
import type { OpenStream } from "./open-streams.js";
import { emptyReport } from "./replay-report.js";
import type { SeenCall } from "./seen-calls.js";

export interface RunSettings extends EmitterOptions, MissOptions {
  readonly native: Native;
  readonly recording: boolean;
  readonly replaying: boolean;
  /** True if the request of each call is kept. */
  readonly requests: boolean;
  /** True if somebody reads the report at the end. */
  readonly reported?: boolean;
  readonly completedFrames?: "rerun" | "reuse" | undefined;
  readonly errors?: readonly ErrorClass[] | undefined;
  readonly normalizer?: Normalizer | undefined;
  /** True if the hashes of the recording cover the content of class instances. Default: true. */
  readonly exactContent?: boolean | undefined;
  readonly exact?: ReadonlySet<unknown> | undefined;
  readonly maxDepth: number;
  readonly model?: ModelAdapter | undefined;
  readonly modelRegistry?: Readonly<Record<string, ModelAdapter>> | undefined;
  /** The run that this one is a frame of. */
  readonly outer?: RunState | undefined;
  /** The callId of that frame. */
  readonly frameCallId?: string | undefined;
  /** Runs started inside become frames of this one. */
  readonly isRecordingSession?: boolean | undefined;
  /** Default: every request is allowed. */
  readonly network?: NetworkRules | undefined;
  /** The recording session that the run is started in, also if the run has its own snapshot. */
  readonly session?: RunState | undefined;
  /** False while a request without an async context may belong to code outside of runs. Default: true. */
  readonly ownsLostContexts?: (() => boolean) | undefined;
}

/** A run whose function has returned a stream that the program still reads. */
export interface OpenRun {
  /** Resolves when the program does not wait for more of the stream. */
  idle(): Promise<void>;
  end(): void;
}

/** Rules that a run applies to everything it records. */
export interface Rules {
  readonly normalizer: Normalizer | undefined;
  readonly redaction: Redaction | undefined;
  /** Classes whose instances have no state but their enumerable fields. */
  readonly exact: ReadonlySet<unknown>;
}

/** The state that all frames of a run share. */
export class RunState {
  /** The addon that created the run's frames. Two copies of the package have two addons. */
  readonly native: Native;
  readonly recording: boolean;
  readonly replaying: boolean;
  readonly requests: boolean;
  readonly mode: "live" | "resume" | "replay";
  /** True if frames that ended in the recording return their recorded result without running. */
  readonly reusesFrames: boolean;
  /** Classes that replayed failures come back as. */
  readonly errors: readonly ErrorClass[];
  readonly emitter: Emitter;
  readonly misses: Misses;
  readonly report: ReplayReport;
  /** Leaves volatile values out of hashes. Absent without rules. */
  readonly normalizer: Normalizer | undefined;
  /** Replaces secrets in everything that is recorded. Absent without rules. */
  readonly redaction: Redaction | undefined;
  readonly inputRules: InputRules;
  readonly maxDepth: number;
  readonly model: ModelAdapter | undefined;
  readonly modelRegistry: Readonly<Record<string, ModelAdapter>> | undefined;
  readonly releases: ReleaseQueue;
  readonly reopenedRequests: ReopenedRequests;
  readonly endTicks: EndTicks;
  /** The run that this one is a frame of, or this run itself. */
  readonly outermost: RunState;
  readonly isRecordingSession: boolean;
  /** The callId of the run's frame in the recording session around it. Absent without a session. */
  readonly frameCallId: string | undefined;
  /** Includes the streams of runs inside this one. */
  readonly openStreams: Set<OpenStream> = new Set();
  /** Runs whose function has returned a stream that the program still reads. Includes runs inside this one. */
  readonly openRuns: Set<OpenRun> = new Set();
  /** Filled only in recording sessions. */
  readonly calls: SeenCall[] = [];
  readonly network: NetworkRules;
  readonly session: RunState | undefined;
  readonly ownsLostContexts: () => boolean;
  hasEnded: boolean = false;
  /** True if a refused call has ended a test while its function still runs. Nothing that it does later may pass. */
  isRejected: boolean = false;
  readonly #reported: boolean;

  constructor(settings: RunSettings) {
    this.native = settings.native;
    this.recording = settings.recording;
    this.replaying = settings.replaying;
    this.requests = settings.requests;
    this.mode = settings.mode;
    this.reusesFrames = settings.completedFrames === "reuse";
    this.errors = settings.errors ?? [];
    this.emitter = new Emitter(settings);
    this.misses = new Misses(settings, settings.outer?.misses);
    this.report = emptyReport(settings.mode);
    this.normalizer = settings.normalizer;
    this.redaction = settings.redaction;
    this.inputRules = {
      exactContent: settings.exactContent !== false,
      ...(settings.exact === undefined ? {} : { exact: settings.exact }),
    };
    this.network = settings.network ?? ALLOW_ALL;
    this.session = settings.session;
    this.ownsLostContexts = settings.ownsLostContexts ?? (() => true);
    this.#reported = settings.reported === true;
    this.maxDepth = settings.maxDepth;
    this.model = settings.model;
    this.modelRegistry = settings.modelRegistry;
    this.outermost = settings.outer ?? this;
    this.isRecordingSession = settings.isRecordingSession === true;
    this.frameCallId = settings.frameCallId;
    this.releases = settings.outer?.releases ?? new ReleaseQueue();
    this.reopenedRequests = settings.outer?.reopenedRequests ?? new ReopenedRequests();
    this.endTicks = settings.outer?.endTicks ?? new EndTicks();
  }

  /** Lists a call in the recording session, if there is one. */
  seeCall(call: SeenCall): SeenCall {
    if (this.outermost.isRecordingSession) this.outermost.calls.push(call);
    return call;
  }

  /** Lists the calls inside a listed call, after it. */
  seeInside(outer: SeenCall, inside: () => readonly SeenCall[]): void {
    const { calls, isRecordingSession } = this.outermost;
    if (isRecordingSession) calls.splice(calls.indexOf(outer) + 1, 0, ...inside());
  }

  /** True if something that cannot be replayed is said: it is recorded, by rules that refuse to replay it. */
  get warns(): boolean {
    return this.recording && this.mode !== "replay" && this.inputRules.exactContent;
  }

  /** True if somebody reads the report. Callers count nothing otherwise. */
  get isReported(): boolean {
    return this.#reported || this.emitter.observed;
  }
}
