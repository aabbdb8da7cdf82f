import { checkFunction, checkText } from "../../errors/received.js";
import { requireContext, storage } from "./run-context.js";
import { EVENTS } from "../../events/names.js";
import { toErrorInfo } from "../../values/error-info.js";
import { newSpanId } from "./ids.js";
import type { SpanRef } from "./emitter.js";
import type { Scope } from "./scope.js";

/** The spans with an event for their start and one for their end. */
type SpanName =
  | "RUN_WITH"
  | "AGENT"
  | "GENERATION"
  | "PROMPT_AGENT"
  | "TURN"
  | "MODEL_CALL"
  | "TOOLS_EXECUTE"
  | "TOOL_CALL"
  | "CALL"
  | "CUSTOM_SPAN";

/**
 * A span of the trace, from its start to its end. Fields of its events are computed only if somebody receives events.
 * Those of `describe` are in all its events and computed once, at the first event: a subscriber may come after the start.
 */
export class Span implements SpanRef {
  readonly spanId: string = newSpanId();
  readonly parentSpanId: string;
  readonly #scope: Scope;
  readonly #name: SpanName;
  readonly #describe: () => object;
  readonly #attributes: Readonly<Record<string, unknown>> | undefined;
  readonly #startedAt = performance.now();
  #about: object | undefined;

  constructor(
    scope: Scope,
    name: SpanName,
    parentSpanId: string,
    describe: () => object,
    attributes?: Readonly<Record<string, unknown>>,
  ) {
    this.#scope = scope;
    this.#name = name;
    this.parentSpanId = parentSpanId;
    this.#describe = describe;
    this.#attributes = attributes;
  }

  start(fields?: () => object): void {
    if (this.#scope.run.emitter.observed) this.#emit(EVENTS[`${this.#name}_START`], fields?.());
  }

  end(fields: () => object): void {
    this.event(EVENTS[`${this.#name}_END`], fields);
  }

  endFailed(error: unknown, fields?: () => object): void {
    this.end(() => ({ ...fields?.(), error: toErrorInfo(error), success: false }));
  }

  /** An event between the start and the end. */
  event(type: string, fields: () => object): void {
    if (!this.#scope.run.emitter.observed) return;
    this.#emit(type, { ...fields(), duration: performance.now() - this.#startedAt });
  }

  #emit(type: string, fields: object | undefined): void {
    this.#about ??= this.#describe();
    this.#scope.emit(type, this, { ...this.#about, ...fields }, this.#attributes);
  }
}

/** Emits an event that is a span without duration. */
export function emitEvent(scope: Scope, type: string, parentSpanId: string, fields: () => object): void {
  if (scope.run.emitter.observed) scope.emit(type, { spanId: newSpanId(), parentSpanId }, fields());
}

/**
 * Runs a function in its own span: everything it does is below that span in the trace.
 *
 * @param name the name of the span in the trace.
 * @param attributes are added to `trace.attributes` of the span's two events.
 * @returns the result of `fn`.
 * @throws ContextNotFoundError outside of runs and agents.
 * @throws the error of `fn`.
 */
export async function withCustomSpan<Result>(
  name: string,
  fn: () => Result | Promise<Result>,
  attributes?: Readonly<Record<string, unknown>>,
): Promise<Result> {
  const context = requireContext("withCustomSpan");
  checkText("withCustomSpan: name", name);
  checkFunction("withCustomSpan: fn", fn);
  const { scope } = context;
  const span = new Span(scope, "CUSTOM_SPAN", context.trace.spanId, () => ({ name }), attributes);
  span.start();
  try {
    const result = await storage.run(context.inSpan(span.spanId), fn);
    span.end(() => ({ success: true }));
    return result;
  } catch (error) {
    span.endFailed(error);
    throw error;
  }
}
