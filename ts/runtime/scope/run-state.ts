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

/** A receiver of events, such as a bus or a trace writer. */
export interface EventSink {
  emit(event: TraceEvent): void;
}

export interface RunSettings {
  readonly native: Native;
  readonly recording: boolean;
  readonly replaying: boolean;
  /** True if the request of each call is kept. */
  readonly requests: boolean;
  readonly mode: "live" | "resume" | "replay";
  readonly onMiss?: ((miss: Miss) => "live" | "error") | undefined;
  /** True if somebody reads the report at the end. */
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
  /** The callId of that frame. */
  readonly frameCallId?: string | undefined;
  /** Runs started inside become frames of this one. */
  readonly isRecordingSession?: boolean | undefined;
}

/** A call that was requested in a recording session. */
export interface SeenCall {
  readonly kind: string;
  readonly name: string;
  readonly callId: string;
  /** The request document as JSON text. */
  readonly request: () => string;
  /** Absent until the call ends. */
  ended?: SeenEnd;
}

export type SeenEnd =
  | {
      /** Returns a copy of the output at the end of the call. The program may have changed the object it received. */
      readonly output: () => unknown;
      readonly cached: boolean;
    }
  | { readonly error: unknown; readonly cached: boolean };

/** A call whose answer was returned to the program before the call ended. */
export interface OpenStream {
  /** Ends the call with the part of the answer that has arrived. */
  abort(): void;
  /** Journals the part that has arrived since the last time. */
  progress(): void;
  /** The run ends before the call: journals what has arrived, and emits it as the end of the call. */
  detach(): void;
  readonly ended: Promise<unknown>;
}

/** A span and its parent. */
export interface SpanRef {
  readonly spanId: string;
  readonly parentSpanId: string;
}

/** Rules that a run applies to everything it records. */
export interface Rules {
  readonly normalizer: Normalizer | undefined;
  readonly redaction: Redaction | undefined;
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
  readonly report: ReplayReport;
  /** Leaves volatile values out of hashes. Absent without rules. */
  readonly normalizer: Normalizer | undefined;
  /** Replaces secrets in everything that is recorded. Absent without rules. */
  readonly redaction: Redaction | undefined;
  readonly maxDepth: number;
  readonly model: ModelAdapter | undefined;
  readonly modelRegistry: Readonly<Record<string, ModelAdapter>> | undefined;
  readonly traceId: string;
  readonly releases: ReleaseQueue;
  readonly reopenedRequests: ReopenedRequests;
  /** The run that this one is a frame of, or this run itself. */
  readonly outermost: RunState;
  readonly isRecordingSession: boolean;
  /** The callId of the run's frame in the recording session around it. Absent without a session. */
  readonly frameCallId: string | undefined;
  /** Includes the streams of runs inside this one. */
  readonly openStreams: Set<OpenStream> = new Set();
  /** Ends of frames that wait for open streams. */
  readonly pendingEnds: Set<() => void> = new Set();
  /** Filled only in recording sessions. */
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

  /** Lists a call in the recording session, if there is one. */
  seeCall(call: SeenCall): SeenCall {
    if (this.outermost.isRecordingSession) this.outermost.calls.push(call);
    return call;
  }

  /** True if a call without a recorded answer may be executed. */
  allowsMiss(miss: Miss): boolean {
    if (this.mode === "replay") return false;
    return this.#onMiss === undefined || this.#onMiss(miss) !== "error";
  }

  /** Remembers a miss that was not allowed: the run fails with it, even if the agent catches the error. */
  refuse(error: ReplayMissError): void {
    this.#refused ??= error;
    if (this.outermost !== this) this.outermost.refuse(error);
  }

  get refused(): ReplayMissError | undefined {
    return this.#refused;
  }

  /** True if somebody receives events. Callers build no event otherwise. */
  get observed(): boolean {
    const sink = this.#sink ?? getGlobalEventBus();
    return sink.hasSubscribers !== false;
  }

  /** True if somebody reads the report. Callers count nothing otherwise. */
  get isReported(): boolean {
    return this.#reported || this.observed;
  }

  /** Emits an event with its own `fields`, if somebody receives events. */
  emit(
    type: string,
    agentId: string,
    span: SpanRef,
    fields: object,
    attributes?: Readonly<Record<string, unknown>>,
  ): void {
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
      // An observer must not change the run.
      if (this.#sinkFailed) return;
      this.#sinkFailed = true;
      console.warn(
        "agent-rewind: the event bus threw an error. The run continues; its further errors are not shown.",
        error,
      );
    }
  }
}
