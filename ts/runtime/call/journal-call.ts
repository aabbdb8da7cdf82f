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
  /** What is called: `"prompt"`, `"tool"`, or a kind of your own such as `"embedding"`. Each kind has its own journal. */
  kind: string;
  /** Name of what is called (a tool, a model); part of the callId. */
  name: string;
  /**
   * What is asked. The answer is found again by the hash of it, so it must hold all that the answer
   * depends on, and nothing that changes from run to run. For `"prompt"` it is the whole request
   * document (`messages`, `model`, …); for all other kinds the document hashed is `{ input: request, name }`.
   */
  request: unknown;
  /** The context to journal in; by default the current one. */
  context?: RunContext;
  /**
   * How often the client that calls had tried before: 0 or more for a client that says so. From 1 on, the call is the
   * same one as the last with an equal request in its frame, and what it ends with replaces how that one had ended.
   */
  attempt?: number;
}

/** What is told to the function that makes a call. */
export interface CallInfo {
  readonly callId: string;
  /** SHA-256 of the RFC 8785 form of the request document, 64 hex digits. */
  readonly contentHash: string;
  readonly signal: AbortSignal;
}

/**
 * Journals one call in the current context: if the run replays a recording that holds the answer,
 * gives a copy of that; else makes the call with `make` and journals what it gives or fails with.
 * This is what prompts and tools are made of, and what an agent loop of your own can use.
 *
 * @throws ContextNotFoundError outside of runs and agents, when no `context` is given.
 * @throws whatever `make` throws, also when a failure is replayed.
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

/** For a call whose answer is handed out before the call ends. */
export interface OpenCall<T> {
  /** Journals what has arrived as the answer that the program gets. */
  headReceived(value: T): void;
  /** Journals and reports the first chunk after the head. */
  firstChunk(value: T): void;
  /** Journals what has arrived so far. */
  progress(value: T): void;
  /** Journals what has arrived and reports it as the end of the call: the run ends before the call does. */
  detach(value: T): void;
}

export interface EndedCall<T> extends Ended<T> {
  /** Only of an answer that is handed out before its call ends: reports that the run ends before the call does. */
  readonly detach?: (() => void) | undefined;
  readonly continue?: (() => Promise<EndedCall<T>>) | undefined;
}

/**
 * As {@link journalCall}, with what else is known of the call.
 * @param more `meta` is asked once the call has been made; the others are as in `CallSpec`.
 * @throws also at once, where the call cannot be begun.
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
      throw new TypeError(`journalCall: call.${field} must be a string that is not empty`);
  }
  const { scope } = context;
  context.throwIfAborted();
  const { begun, request, wireHash, inexact, callId } = beginAttempt(scope, call);
  const span = { spanId: newSpanId(), parentSpanId: context.trace.spanId };
  const about = { kind: call.kind, name: call.name, callId, contentHash: begun.contentHash };
  const startedAt = performance.now();
  const { attempt = 0 } = call;
  scope.emit(EVENTS.CALL_START, span, { ...about, ...(attempt > 0 ? { attempt } : {}) });
  const inside = new RunContext(scope, span.spanId, { inCall: true });
  let isTold = false;
  const tell = (fields: () => object): void => {
    if (isTold || !scope.run.observed) return;
    isTold = true;
    scope.emit(EVENTS.CALL_END, span, { ...about, ...fields(), duration: performance.now() - startedAt });
  };
  const tellEnd = (ended: Ended<T>): void =>
    tell(() => ({ ...outcomeFields(ended), ...metaFields(ended), cache: ended.cached }));
  const tellAnswer = (ended: Ended<T>): void => {
    if (!scope.run.observed) return;
    const fields = { ...outcomeFields(ended), ...metaFields(ended), cache: ended.cached };
    scope.emit(EVENTS.CALL_ANSWER, span, { ...about, ...fields, duration: performance.now() - startedAt });
  };
  const makeInside = (progress: Progress<T>): T | Promise<T> => {
    const info = { callId, contentHash: begun.contentHash, signal: scope.signal };
    const { outerRecording } = scope;
    const { recording } = scope.run;
    const open: OpenCall<T> = {
      headReceived: (value) => tellAnswer(progress(value, true)),
      firstChunk(value) {
        if (scope.run.observed && !isTold) tellAnswer(progress(value));
      },
      progress(value) {
        if (recording || outerRecording !== undefined) progress(value);
      },
      detach: (value) => tellEnd(progress(value)),
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
  const told = async (ending: Promise<Ended<T>>): Promise<EndedCall<T>> => {
    try {
      const ended = await ending;
      const { continue: continueCall, end } = ended;
      if (continueCall === undefined && end === undefined) {
        tellEnd(ended);
        return ended;
      }
      tellAnswer(ended);
      return {
        ...ended,
        ...(continueCall === undefined ? {} : { continue: () => told(continueCall()) }),
        end: end && {
          inOrder: () => end.inOrder().then(() => tellEnd(ended)),
          now: () => end.now(),
        },
        detach() {
          end?.now();
          tellEnd(ended);
        },
      };
    } catch (failure) {
      tell(() => failureFields(failure as CallFailure));
      throw (failure as CallFailure).error;
    }
  };
  return told(
    answerOrCall(scope, begun, {
      kind: call.kind,
      name: call.name,
      callId,
      request,
      wireHash,
      inexact,
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

/** A conversation with a model, whatever its kind is called. */
function isModelRequest(kind: string, request: unknown): boolean {
  if (kind === "prompt") return true;
  if (kind === "tool" || typeof request !== "object" || request === null) return false;
  return "messages" in request && Array.isArray(request.messages);
}
