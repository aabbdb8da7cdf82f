import { getContext, storage, type RunContext } from "../scope/run-context.js";
import { ContextNotFoundError } from "../../errors/index.js";
import { checkFunction, checkObject } from "../../errors/received.js";
import { EVENTS } from "../../events/names.js";
import type { EffectOptions } from "../../types/effect.js";
import type { ErrorClass } from "../../types/error-class.js";
import { checkErrorClasses } from "../../values/error-classes.js";
import type { CapturedStack } from "./identity/async-stack.js";
import { beginAttempt, type OlderRequest } from "./request.js";
import { answerOrCall } from "./answer-or-call.js";
import type { Class } from "../../values/inexact.js";
import { rejected } from "../scope/rejected.js";
import type { Scope } from "../scope/scope.js";
import { Span } from "../scope/span.js";
import { announceReplay, makeObserved, modelCall, type ModelCall } from "./observers.js";
import {
  keptInErrors,
  originOf,
  rememberFailure,
  type CallFailure,
  type CallSpec,
  type Ended,
  type Progress,
} from "./outcome.js";
import { dataFields } from "./call-data.js";
import { askedFrom, type AskedFrom } from "./identity/lanes.js";
import { checkEcho, type Echo } from "./echo.js";
import { checkEffect } from "./effects.js";
import type { StartedCall } from "./started-call.js";
import { failureFields, outputFields } from "./event-fields.js";
import { handOut, noteStart } from "./failures/hand-out.js";
import { keepQuiet } from "./failures/quiet.js";

/** A call to be journaled. */
export interface JournaledCall extends EffectOptions {
  /** `"prompt"`, `"tool"`, or your own kind, such as `"embedding"`. Each kind has its own journal. */
  kind: string;
  /** Name of the tool, model or service; part of the callId. */
  name: string;
  /**
   * The request. Its hash finds the recorded answer, so it must contain everything that the answer depends on, and
   * nothing that changes from run to run. For `"prompt"` it is the whole request document (`messages`, `model`, …).
   * For all other kinds the hashed document is `{ input: request, name }`.
   */
  request: unknown;
  /** The context in which the call is journaled. Default: the current one. */
  context?: RunContext;
  /**
   * Number of earlier attempts of a client that reports its retries. From 1 on, this is the same call as the failed one
   * that the asking code has asked before, and its outcome replaces the outcome of that one. Code that does not know its
   * earlier call, because a queue makes the calls, continues the only equal call of its frame that failed.
   */
  attempt?: number;
  /**
   * Classes that a replayed failure of this call comes back as, in addition to those of the run: see `errors` of
   * `runWith`.
   */
  errors?: readonly ErrorClass[];
  /**
   * True if all that the call does inside is sending its request: wrapped clients, such as `rewindFetch`, then pass
   * through unrecorded. Otherwise they are recorded inside this call, like every `journalCall`, agent or `runFrame`.
   */
  leaf?: boolean;
  /**
   * A text or number of the request that the answer repeats, such as an id that is new in every run. If they were equal
   * when recorded, a replayed answer has the one of the new request. Leave it out of the hash by a `normalize` rule.
   */
  echo?: Echo | readonly Echo[];
  /**
   * Classes whose instances in the request have no state but their enumerable fields. See `exact` of `runWith`, to which
   * they are added.
   */
  exact?: readonly Class[];
}

/** Arguments of the function that executes a call. */
export interface CallInfo {
  readonly callId: string;
  /** SHA-256 of the RFC 8785 form of the request document, 64 hex digits. */
  readonly contentHash: string;
  /**
   * Id of this call, 64 hex digits. It stays the same if the process is killed during the call and a resumed run
   * executes it again, so a service that it is passed to can recognize the repetition.
   */
  readonly idempotencyKey: string;
  readonly signal: AbortSignal;
}

/**
 * Journals one call in the current context. If the run replays a recording that contains the answer, the result is a
 * copy of that answer. Otherwise `make` executes the call, and its result or error is journaled. Prompts and tools are
 * built on this function, and your own agent loop can use it too.
 *
 * @throws ContextNotFoundError outside of runs and agents, if no `context` is given.
 * @throws the error of `make`, also if a failure is replayed.
 *
 * @example
 * ```ts
 * import { journalCall } from "agent-rewind";
 *
 * // In a run, a frame or a test. The request is everything that decides the answer.
 * export const search = (query: string): Promise<string[]> =>
 *   journalCall({ kind: "http", name: "search", request: { query } }, async ({ signal }) => {
 *     const response = await fetch(`https://example.com/search?q=${encodeURIComponent(query)}`, { signal });
 *     return (await response.json()) as string[];
 *   });
 * ```
 */
export function journalCall<T>(call: JournaledCall, make: (info: CallInfo) => T | Promise<T>): Promise<T> {
  try {
    checkFunction("journalCall: make", make);
    return journaled<T>(call, (info) => make(info)).then(({ value }) => value);
  } catch (error) {
    return rejected(error);
  }
}

/** For a call whose answer is returned before the call ends. */
export interface OpenCall<T> {
  /** Journals what has arrived as the answer that the program receives. */
  headReceived(value: T): void;
  /** Journals and reports the first chunk after the head. */
  firstChunk(value: T): void;
  /** Journals what has arrived so far. */
  progress(value: T): void;
  /** The run ends before the call: journals what has arrived, and emits it as the end of the call. */
  detach(value: T): void;
}

export interface EndedCall<T> extends Ended<T> {
  /** Only if the answer is returned before the call ends: the run ends before the call, so its end is emitted now. */
  readonly detach?: (() => void) | undefined;
  readonly continue?: (() => Promise<EndedCall<T>>) | undefined;
}

/** `meta` is read after a live call; the others are as in `CallSpec`. */
/**
 * Notes that the program receives the failure of a call. `received`: the answer that reports it, or the error. The stacks
 * are those of `handOut`.
 */
export type HandOut = (received?: unknown, ...stacks: readonly (CapturedStack | undefined)[]) => void;

interface JournaledOptions<T> extends Pick<CallSpec<T>, "meta" | "incompleteAnswer" | "failureIn" | "revive"> {
  /**
   * Receives what notes that the program receives the failure of the call, with the answer that reports it. For callers
   * that do not pass on the returned promise. Default: noted when that promise is settled.
   */
  readonly delayHandOut?: ((handOut: HandOut) => void) | undefined;
}

/**
 * Like {@link journalCall}, but also returns how the call ended.
 * @throws synchronously if the call cannot begin.
 */
export function journaled<T>(
  call: JournaledCall & { readonly older?: OlderRequest | undefined },
  make: (info: CallInfo, open: OpenCall<T>) => T | Promise<T>,
  more: JournaledOptions<T> = {},
): Promise<EndedCall<T>> {
  checkObject("journalCall: call", call);
  const context = call.context ?? getContext();
  if (context === undefined) throw new ContextNotFoundError("journalCall");
  // Two short functions and a long one, because of the stack that is captured here.
  return begin(context, askedFrom(context.scope), call, make, more);
}

function begin<T>(
  context: RunContext,
  from: AskedFrom,
  call: JournaledCall & { readonly older?: OlderRequest | undefined },
  make: (info: CallInfo, open: OpenCall<T>) => T | Promise<T>,
  more: JournaledOptions<T>,
): Promise<EndedCall<T>> {
  for (const field of ["kind", "name"] as const) {
    const value: unknown = call[field];
    if (typeof value !== "string" || value === "")
      throw new TypeError(`journalCall: call.${field} must be a non-empty string`);
  }
  checkErrorClasses(call.errors, "journalCall: call.errors");
  checkEffect("journalCall: call", call);
  const echoes = call.echo === undefined ? [] : [call.echo].flat();
  for (const echo of echoes) checkEcho(echo, "journalCall: call.echo");
  const { scope } = context;
  context.throwIfAborted();
  noteStart(scope);
  const started = beginAttempt(context, from, call);
  const { callId, contentHash } = started;
  const { within } = context;
  const about = { kind: call.kind, name: call.name, callId, contentHash, ...(within === undefined ? {} : { within }) };
  const events = new CallEvents<T>(started, context.trace.spanId, about, call.attempt ?? 0, more);
  const { spanId } = events.span;
  const inside = context.inside(started.entry, spanId, call.leaf === true);
  const makeInside = (progress: Progress<T>): T | Promise<T> =>
    storage.run(inside, () => make(started.info(), events.openCall(progress)));
  const called = (): Omit<ModelCall, "replayed"> =>
    modelCall(started, spanId, () => JSON.stringify(call.request) ?? "null");
  const asksModel = isModelRequest(call.kind, call.request);
  return events.follow(
    answerOrCall(started, {
      ...(asksModel ? { beforeReplay: () => announceReplay(called) } : {}),
      make: asksModel ? (progress) => makeObserved(called, () => makeInside(progress)) : makeInside,
      ...more,
      ...(echoes.length === 0 ? {} : { echo: { request: call.request, echoes } }),
      errors: call.errors,
      ...(call.effect === undefined ? {} : { effect: { rules: call, input: call.request } }),
    }),
  );
}

/** The events of a call: its start, its answer if that is returned before the call ends, and its end, once. */
class CallEvents<T> {
  readonly span: Span;
  readonly #call: StartedCall;
  readonly #scope: Scope;
  readonly #options: JournaledOptions<T>;
  #hasEnded = false;
  #isHandedOut = false;

  constructor(call: StartedCall, parentSpanId: string, about: object, attempt: number, options: JournaledOptions<T>) {
    const { scope } = call;
    this.#call = call;
    this.#scope = scope;
    this.#options = options;
    this.span = new Span(scope, "CALL", parentSpanId, () => about);
    this.span.start(() => ({
      ...(attempt > 0 ? { attempt } : {}),
      ...call.startFields,
      ...scope.takeSalt(),
      ...scope.takeHandled(),
    }));
  }

  openCall(progress: Progress<T>): OpenCall<T> {
    const { run, outerRecording } = this.#scope;
    return {
      headReceived: (value) => {
        const ended = progress(value, true);
        this.#answer(ended);
        this.#handOutAnswer(ended);
      },
      firstChunk: (value) => {
        if (run.emitter.observed && !this.#hasEnded) this.#answer(progress(value));
      },
      progress(value) {
        if (run.recording || outerRecording !== undefined) progress(value);
      },
      detach: (value) => this.#end(progress(value)),
    };
  }

  /** Emits the outcome of the call, and resolves with it. */
  async follow(ending: Promise<Ended<T>>): Promise<EndedCall<T>> {
    try {
      const ended = await ending;
      const { continue: continueCall, end } = ended;
      if (ended.failure !== undefined) this.#rememberContent(ended);
      if (continueCall === undefined && end === undefined) {
        this.#end(ended);
        this.#handOutAnswer(ended);
        return ended;
      }
      this.#answer(ended);
      this.#handOutAnswer(ended);
      return {
        ...ended,
        ...(continueCall === undefined ? {} : { continue: () => this.follow(continueCall()) }),
        end: end && {
          inOrder: () => end.inOrder().then(() => this.#end(ended)),
          now: () => end.now(),
        },
        detach: () => {
          end?.now();
          this.#end(ended);
        },
      };
    } catch (failure) {
      this.#emitEnd(() => failureFields(failure as CallFailure));
      this.#handOut(() => handOut(this.#call));
      throw (failure as CallFailure).error;
    }
  }

  /** Notes that the program receives an answer that reports a failure. */
  #handOutAnswer({ failure, cached, handledWhenRecorded }: Ended<T>): void {
    if (failure === undefined) return;
    this.#handOut((received, by, answeredTo) => {
      for (const kept of keptInErrors(received)) {
        rememberFailure(this.#call, kept, cached);
        if (cached) keepQuiet(kept);
      }
      if (handledWhenRecorded !== true) handOut(this.#call, by, answeredTo);
    });
  }

  /** Clients copy the content of an answer into the error that they make of it. */
  #rememberContent({ value, cached }: Ended<T>): void {
    const answer = this.#options.failureIn?.(value)?.answer;
    if (answer === undefined) return;
    const origin = originOf(this.#call, cached);
    if (origin !== undefined) this.#scope.rememberAnswer(answer, origin);
    if (cached) keepQuiet(undefined, answer);
  }

  #handOut(note: HandOut): void {
    if (this.#isHandedOut) return;
    this.#isHandedOut = true;
    const { delayHandOut } = this.#options;
    if (delayHandOut === undefined) note();
    else delayHandOut(note);
  }

  #answer(ended: Ended<T>): void {
    this.span.event(EVENTS.CALL_ANSWER, () => endedFields(ended));
  }

  #end(ended: Ended<T>): void {
    this.#emitEnd(() => endedFields(ended));
  }

  #emitEnd(fields: () => object): void {
    if (this.#hasEnded || !this.#scope.run.emitter.observed) return;
    this.#hasEnded = true;
    this.span.end(fields);
  }
}

function endedFields(ended: Ended<unknown>): object {
  const outcome =
    ended.failure === undefined
      ? { ...outputFields(ended), success: true }
      : { error: ended.failure, success: false, ...(ended.handledWhenRecorded === true ? { handled: true } : {}) };
  return { ...outcome, ...dataFields(ended), cache: ended.cached };
}

/** True for a conversation with a model, of any kind. */
function isModelRequest(kind: string, request: unknown): boolean {
  if (kind === "prompt") return true;
  if (kind === "tool" || typeof request !== "object" || request === null) return false;
  return "messages" in request && Array.isArray(request.messages);
}
