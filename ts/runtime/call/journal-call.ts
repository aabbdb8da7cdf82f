import { RunContext, getContext, storage } from "../scope/run-context.js";
import { ContextNotFoundError } from "../../errors/index.js";
import { kindOf } from "../../errors/received.js";
import { EVENTS } from "../../events/names.js";
import { beginAttempt } from "./request.js";
import { answerOrCall, type CallFailure, type CallSpec, type Ended, type Progress } from "./answer-or-call.js";
import { newSpanId } from "../scope/ids.js";
import { announceReplay, makeObserved, type ModelCall } from "./observers.js";
import { failureFields, metaFields, outputFields } from "./event-fields.js";

/** A call to be journaled. */
export interface JournaledCall {
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
   * Number of earlier attempts of a client that reports its retries. From 1 on, this is the same call as the last one
   * with an equal request in its frame, and its outcome replaces the outcome of that one.
   */
  attempt?: number;
}

/** Arguments of the function that executes a call. */
export interface CallInfo {
  readonly callId: string;
  /** SHA-256 of the RFC 8785 form of the request document, 64 hex digits. */
  readonly contentHash: string;
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
export async function journalCall<T>(call: JournaledCall, make: (info: CallInfo) => T | Promise<T>): Promise<T> {
  if (typeof make !== "function") {
    throw new TypeError(`journalCall: make must be a function, received ${kindOf(make)}`);
  }
  const ended = await journaled(call, (info) => make(info));
  return ended.value;
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

/**
 * Like {@link journalCall}, but also returns how the call ended.
 * @param more `meta` is read after a live call; the others are as in `CallSpec`.
 * @throws synchronously if the call cannot begin.
 */
export function journaled<T>(
  call: JournaledCall,
  make: (info: CallInfo, open: OpenCall<T>) => T | Promise<T>,
  more: Pick<CallSpec<T>, "meta" | "incompleteAnswer" | "failureIn"> = {},
): Promise<EndedCall<T>> {
  const context = call.context ?? getContext();
  if (context === undefined) throw new ContextNotFoundError("journalCall");
  for (const field of ["kind", "name"] as const) {
    const value: unknown = call[field];
    if (typeof value !== "string" || value === "")
      throw new TypeError(`journalCall: call.${field} must be a non-empty string`);
  }
  const { scope } = context;
  context.throwIfAborted();
  const { begun, request, wireHash, callId } = beginAttempt(scope, call);
  const span = { spanId: newSpanId(), parentSpanId: context.trace.spanId };
  const about = { kind: call.kind, name: call.name, callId, contentHash: begun.contentHash };
  const startedAt = performance.now();
  const { attempt = 0 } = call;
  scope.emit(EVENTS.CALL_START, span, { ...about, ...(attempt > 0 ? { attempt } : {}) });
  const inside = new RunContext(scope, span.spanId, { inCall: true });
  let isEnded = false;
  const emit = (fields: () => object): void => {
    if (isEnded || !scope.run.observed) return;
    isEnded = true;
    scope.emit(EVENTS.CALL_END, span, { ...about, ...fields(), duration: performance.now() - startedAt });
  };
  const emitEnd = (ended: Ended<T>): void =>
    emit(() => ({ ...outcomeFields(ended), ...metaFields(ended), cache: ended.cached }));
  const emitAnswer = (ended: Ended<T>): void => {
    if (!scope.run.observed) return;
    const fields = { ...outcomeFields(ended), ...metaFields(ended), cache: ended.cached };
    scope.emit(EVENTS.CALL_ANSWER, span, { ...about, ...fields, duration: performance.now() - startedAt });
  };
  const makeInside = (progress: Progress<T>): T | Promise<T> => {
    const info = { callId, contentHash: begun.contentHash, signal: scope.signal };
    const { outerRecording } = scope;
    const { recording } = scope.run;
    const open: OpenCall<T> = {
      headReceived: (value) => emitAnswer(progress(value, true)),
      firstChunk(value) {
        if (scope.run.observed && !isEnded) emitAnswer(progress(value));
      },
      progress(value) {
        if (recording || outerRecording !== undefined) progress(value);
      },
      detach: (value) => emitEnd(progress(value)),
    };
    return storage.run(inside, () => make(info, open));
  };
  const called = (): Omit<ModelCall, "replayed"> => ({
    kind: call.kind,
    name: call.name,
    callId,
    contentHash: begun.contentHash,
    traceId: scope.run.traceId,
    spanId: span.spanId,
    agentId: scope.agentId,
    document: () => JSON.stringify(call.request) ?? "null",
  });
  const asksModel = isModelRequest(call.kind, call.request);
  const withEvents = async (ending: Promise<Ended<T>>): Promise<EndedCall<T>> => {
    try {
      const ended = await ending;
      const { continue: continueCall, end } = ended;
      if (continueCall === undefined && end === undefined) {
        emitEnd(ended);
        return ended;
      }
      emitAnswer(ended);
      return {
        ...ended,
        ...(continueCall === undefined ? {} : { continue: () => withEvents(continueCall()) }),
        end: end && {
          inOrder: () => end.inOrder().then(() => emitEnd(ended)),
          now: () => end.now(),
        },
        detach() {
          end?.now();
          emitEnd(ended);
        },
      };
    } catch (failure) {
      emit(() => failureFields(failure as CallFailure));
      throw (failure as CallFailure).error;
    }
  };
  return withEvents(
    answerOrCall(scope, begun, {
      kind: call.kind,
      name: call.name,
      callId,
      request,
      wireHash,
      ...(asksModel ? { beforeReplay: () => announceReplay(called) } : {}),
      make: asksModel ? (progress) => makeObserved(called, () => makeInside(progress)) : makeInside,
      ...more,
    }),
  );
}

function outcomeFields(ended: Ended<unknown>): object {
  return ended.failure === undefined
    ? { ...outputFields(ended), success: true }
    : { error: ended.failure, success: false, ...(ended.handledWhenRecorded === true ? { handled: true } : {}) };
}

/** True for a conversation with a model, of any kind. */
function isModelRequest(kind: string, request: unknown): boolean {
  if (kind === "prompt") return true;
  if (kind === "tool" || typeof request !== "object" || request === null) return false;
  return "messages" in request && Array.isArray(request.messages);
}
