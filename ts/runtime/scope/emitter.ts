import { getGlobalEventBus } from "../../events/bus.js";
import { TRACE_EVENT_SCHEMA_VERSION } from "../../events/names.js";
import type { Redaction } from "../../redact/redaction.js";
import type { Effect } from "../../types/effect.js";
import type { TraceEvent } from "../../types/events.js";
import { newTraceId } from "./ids.js";
import { warn } from "../../errors/printable.js";

/** A receiver of events, such as a bus or a trace writer. */
export interface EventSink {
  emit(event: TraceEvent): void;
  /**
   * A call is about to be executed. The call waits for the result, and fails with its error. A store writes everything
   * that it has received so far. Called for calls whose `effect` is not "none".
   *
   * @returns for `effect: "once"`, what is known of an earlier execution of the same call.
   */
  beforeCall?(call: CallAhead): Promise<EarlierExecution | undefined> | undefined;
}

/** A call that is about to be executed. */
export interface CallAhead {
  readonly kind: string;
  readonly name: string;
  readonly callId: string;
  readonly effect: Effect;
  /** The same in each run that resumes this one. */
  readonly idempotencyKey: string;
}

/** An earlier execution of a call, whose answer is not part of the recording. */
export interface EarlierExecution {
  readonly startedAt?: Date | undefined;
  /** Its output, if somebody has found it: JSON text, and the types that JSON lacks. */
  readonly output?: { readonly text: string; readonly types: string | null } | undefined;
}

/** A span and its parent. */
export interface SpanRef {
  readonly spanId: string;
  readonly parentSpanId: string;
}

export interface EmitterOptions {
  /** Default: the global bus. */
  readonly eventBus?: EventSink | undefined;
  readonly traceId?: string | undefined;
  readonly attributes?: Readonly<Record<string, unknown>> | undefined;
  readonly redaction?: Redaction | undefined;
}

/** Emits the events of a run. */
export class Emitter {
  readonly traceId: string;
  readonly #sink: (EventSink & { readonly hasSubscribers?: boolean }) | undefined;
  readonly #attributes: Readonly<Record<string, unknown>> | undefined;
  readonly #redaction: Redaction | undefined;
  #seq = 0;
  #sinkFailed = false;

  constructor({ eventBus, traceId, attributes, redaction }: EmitterOptions) {
    this.traceId = traceId ?? newTraceId();
    this.#sink = eventBus;
    this.#attributes = attributes;
    this.#redaction = redaction;
  }

  /** True if somebody receives events. Callers build no event otherwise. */
  get observed(): boolean {
    const sink = this.#sink ?? getGlobalEventBus();
    return sink.hasSubscribers !== false;
  }

  beforeCall(call: CallAhead): Promise<EarlierExecution | undefined> | undefined {
    return this.#sink?.beforeCall?.(call);
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
    const allAttributes = given === undefined ? undefined : (this.#redaction?.fields(given) ?? given);
    const event = {
      type,
      agentId: agentId === "" ? agentId : (this.#redaction?.name(agentId) ?? agentId),
      schemaVersion: TRACE_EVENT_SCHEMA_VERSION,
      timestamp: Date.now(),
      _seq: this.#seq++,
      trace: {
        traceId: this.traceId,
        spanId: span.spanId,
        parentSpanId: span.parentSpanId,
        ...(allAttributes === undefined ? {} : { attributes: allAttributes }),
      },
      ...(this.#redaction?.fields(fields) ?? fields),
    } as unknown as TraceEvent;
    try {
      (this.#sink ?? getGlobalEventBus()).emit(event);
    } catch (error) {
      // An observer must not change the run.
      if (this.#sinkFailed) return;
      this.#sinkFailed = true;
      warn("the event bus threw an error. The run continues; its further errors are not shown.", error);
    }
  }
}
