import { getGlobalEventBus } from "../../events/bus.js";
import { TRACE_EVENT_SCHEMA_VERSION } from "../../events/names.js";
import type { Native } from "../../native.js";
import type { ReplayMissError } from "../../errors/index.js";
import type { TraceEvent } from "../../types/events.js";
import type { Miss } from "../../types/miss.js";
import type { ModelAdapter } from "../../types/model.js";
import type { ReplayReport } from "../../types/report.js";
import type { Redaction } from "../../redact/redaction.js";
import { newTraceId } from "./ids.js";
import type { Normalizer } from "../../values/normalize.js";
import { ReopenedRequests } from "../order/reopened-requests.js";
import { ReleaseQueue } from "../order/release-queue.js";
import { emptyReport } from "./replay-report.js";

/** Whoever takes events: a bus, a trace writer. */
export interface EventSink {
  emit(event: TraceEvent): void;
}

export interface RunSettings {
  readonly native: Native;
  readonly recording: boolean;
  readonly replaying: boolean;
  /** Keep what was asked with each call. */
  readonly requests: boolean;
  readonly mode: "live" | "resume" | "replay";
  readonly onMiss?: ((miss: Miss) => "live" | "error") | undefined;
  /** Whether somebody takes the report at the end. */
  readonly reported?: boolean;
  readonly completedFrames?: "rerun" | "reuse" | undefined;
  readonly normalizer?: Normalizer | undefined;
  readonly redaction?: Redaction | undefined;
  readonly maxDepth: number;
  readonly eventBus?: EventSink | undefined;
  readonly model?: ModelAdapter | undefined;
  readonly modelRegistry?: Readonly<Record<string, ModelAdapter>> | undefined;
  readonly traceId?: string | undefined;
  readonly attributes?: Readonly<Record<string, unknown>> | undefined;
  /** The run that this one is a frame of. */
  readonly outer?: RunState | undefined;
  /** Where it stands there. */
  readonly frameCallId?: string | undefined;
  /** Runs started inside become frames of this one. */
  readonly isRecordingSession?: boolean | undefined;
}

/** A call that was requested in a recording session. */
export interface SeenCall {
  readonly kind: string;
  readonly name: string;
  readonly callId: string;
  /** The document that was asked with, as JSON text. */
  readonly request: () => string;
  /** How it ended: absent until then. */
  ended?: SeenEnd;
}

export type SeenEnd =
  | {
      /** A value of its own, as it was when the call ended: the program may have changed what it got. */
      readonly output: () => unknown;
      readonly cached: boolean;
    }
  | { readonly error: unknown; readonly cached: boolean };

/** A call whose answer was handed out before it ended. */
export interface OpenStream {
  /** Ends the call with what has arrived. */
  abort(): void;
  /** Journals what has arrived since the last time. */
  progress(): void;
  /** Journals it and reports it as the end of the call: the run ends before the call does. */
  detach(): void;
  readonly ended: Promise<unknown>;
}

/** The place of an event in the tree of spans. */
export interface SpanRef {
  readonly spanId: string;
  readonly parentSpanId: string;
}

/** What is done to what a run records. */
export interface Rules {
  readonly normalizer: Normalizer | undefined;
  readonly redaction: Redaction | undefined;
}

/** What all frames of a run share. */
export class RunState {
  /** The addon that made the run's frames: with two copies of the package there are two. */
  readonly native: Native;
  readonly recording: boolean;
  readonly replaying: boolean;
  readonly requests: boolean;
  readonly mode: "live" | "resume" | "replay";
  /** Take the recorded results of frames that had ended, without running them. */
  readonly reusesFrames: boolean;
  readonly report: ReplayReport;
  /** What is left out of hashes; absent where there are no rules. */
  readonly normalizer: Normalizer | undefined;
  /** Replaces secrets in what is recorded; absent where nothing is to be replaced. */
  readonly redaction: Redaction | undefined;
  readonly maxDepth: number;
  readonly model: ModelAdapter | undefined;
  readonly modelRegistry: Readonly<Record<string, ModelAdapter>> | undefined;
  readonly traceId: string;
  readonly releases: ReleaseQueue;
  readonly reopenedRequests: ReopenedRequests;
  /** The run that this one is a frame of; itself for all others. */
  readonly outermost: RunState;
  readonly isRecordingSession: boolean;
  /** Path of the run's frame in the recording session that it was started in; absent for all others. */
  readonly frameCallId: string | undefined;
  /** Those of the runs inside too. */
  readonly openStreams: Set<OpenStream> = new Set();
  /** Ends of frames that wait for their streams. */
  readonly pendingEnds: Set<() => void> = new Set();
  /** Kept for recording sessions only. */
  readonly calls: SeenCall[] = [];
  readonly #sink: (EventSink & { readonly hasSubscribers?: boolean }) | undefined;
  readonly #attributes: Readonly<Record<string, unknown>> | undefined;
  readonly #reported: boolean;
  readonly #onMiss: ((miss: Miss) => "live" | "error") | undefined;
  #refused: ReplayMissError | undefined;
  #seq = 0;
  #sinkFailed = false;

  constructor(settings: RunSettings) {
    this.native = settings.native;
    this.recording = settings.recording;
    this.replaying = settings.replaying;
    this.requests = settings.requests;
    this.mode = settings.mode;
    this.reusesFrames = settings.completedFrames === "reuse";
    this.report = emptyReport(settings.mode);
    this.normalizer = settings.normalizer;
    this.redaction = settings.redaction;
    this.#onMiss = settings.onMiss;
    this.#reported = settings.reported === true;
    this.maxDepth = settings.maxDepth;
    this.model = settings.model;
    this.modelRegistry = settings.modelRegistry;
    this.traceId = settings.traceId ?? newTraceId();
    this.#sink = settings.eventBus;
    this.#attributes = settings.attributes;
    this.outermost = settings.outer ?? this;
    this.isRecordingSession = settings.isRecordingSession === true;
    this.frameCallId = settings.frameCallId;
    this.releases = settings.outer?.releases ?? new ReleaseQueue();
    this.reopenedRequests = settings.outer?.reopenedRequests ?? new ReopenedRequests();
  }

  /** Notes a call for the recording session. */
  seeCall(call: SeenCall): SeenCall {
    if (this.outermost.isRecordingSession) this.outermost.calls.push(call);
    return call;
  }

  /** Whether a call that the recording has no answer for may be made. */
  allowsMiss(miss: Miss): boolean {
    if (this.mode === "replay") return false;
    return this.#onMiss === undefined || this.#onMiss(miss) !== "error";
  }

  /** Remembers a call that was not allowed: the run fails with it, even if the agent catches it. */
  refuse(error: ReplayMissError): void {
    this.#refused ??= error;
    if (this.outermost !== this) this.outermost.refuse(error);
  }

  get refused(): ReplayMissError | undefined {
    return this.#refused;
  }

  /** Whether anybody would see an event. Nothing is built for nobody. */
  get observed(): boolean {
    const sink = this.#sink ?? getGlobalEventBus();
    return sink.hasSubscribers !== false;
  }

  /** Whether anybody would see the report. Nothing is counted for nobody. */
  get isReported(): boolean {
    return this.#reported || this.observed;
  }

  /** Hands out an event. `fields` are its own fields; nothing is done when nobody listens. */
  emit(type: string, agentId: string, span: SpanRef, fields: object, attributes?: Record<string, unknown>): void {
    if (!this.observed) return;
    const given = attributes || this.#attributes ? { ...this.#attributes, ...attributes } : undefined;
    const allAttributes = given === undefined ? undefined : (this.redaction?.fields(given) ?? given);
    const event = {
      type,
      agentId: agentId === "" ? agentId : (this.redaction?.name(agentId) ?? agentId),
      schemaVersion: TRACE_EVENT_SCHEMA_VERSION,
      timestamp: Date.now(),
      _seq: this.#seq++,
      trace: {
        traceId: this.traceId,
        spanId: span.spanId,
        parentSpanId: span.parentSpanId,
        ...(allAttributes === undefined ? {} : { attributes: allAttributes }),
      },
      ...(this.redaction?.fields(fields) ?? fields),
    } as unknown as TraceEvent;
    try {
      (this.#sink ?? getGlobalEventBus()).emit(event);
    } catch (error) {
      // Watching a run must not change it.
      if (this.#sinkFailed) return;
      this.#sinkFailed = true;
      console.warn("agent-rewind: the event bus threw; the run goes on, further errors of it are not shown.", error);
    }
  }
}
