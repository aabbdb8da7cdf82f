import type { AnsweredFailure, IncompleteAnswer } from "../runtime/call/outcome.js";
import { journaled as journal, type CallInfo, type JournaledCall } from "../runtime/call/journal-call.js";
import type { OlderRequest } from "../runtime/call/request.js";
import {
  journalStreamed as journalStream,
  type AnswerRecorder,
  type More as RestOfAnswer,
  type StreamFailure,
  type StreamedAnswer,
  type StreamedCallInfo as RuntimeCallInfo,
} from "../runtime/call/streamed-call.js";
import { rejected } from "../runtime/scope/rejected.js";
import type { CallMeta } from "../types/snapshot.js";

export type {
  AnsweredFailure,
  AnswerRecorder,
  CallInfo,
  IncompleteAnswer,
  JournaledCall,
  OlderRequest,
  RestOfAnswer,
  StreamFailure,
  StreamedAnswer,
};

/** A request in the form that recordings without a replay flag have. */
interface WithOlderRequest {
  /** See `AmbientContext.recordedWithout`. */
  older?: OlderRequest | undefined;
}

/** A call of a client. Unless `leaf` is false, what it does inside only sends its request and is not recorded. */
export interface ClientCall<T> extends JournaledCall, WithOlderRequest {
  /** Executes the call. Not called if the recording has the answer. */
  execute(info: CallInfo): T | Promise<T>;
  /** Data to record in addition to the answer, such as times. Called when the call has ended. */
  meta?(): CallMeta;
  /** Returns the failure that an answer describes, such as an error status. It is retried like a thrown error. */
  failureIn?(answer: T): AnsweredFailure | undefined;
  /**
   * Completes the error of a replayed failure, such as by marks that its client looks for. Returns the error to throw.
   * `askedAgain`: the recorded program sent the request again after it, so that the client need not pause.
   */
  revive?(error: unknown, askedAgain: boolean): unknown;
}

/** The result of a call. */
export interface CallResult<T> {
  /** The value of `execute`, or a copy of the recorded one. */
  readonly value: T;
  /** True if the value comes from the recording. */
  readonly cached: boolean;
  /** The data that was recorded in addition to the answer. */
  readonly meta?: CallMeta | undefined;
}

/**
 * Journals a call like `journalCall`, with the hooks that an adapter needs.
 *
 * @throws ReplayMissError in a strict replay that has no answer; AbortError if the agent was aborted;
 * ContextNotFoundError outside of runs, without `call.context`; TypeError if `kind` or `name` is empty.
 * @throws the errors of `execute`, also when they are replayed.
 */
export function journaled<T>(call: ClientCall<T>): Promise<CallResult<T>> {
  try {
    return journal<T>({ leaf: true, ...call }, (info) => call.execute(info), {
      meta: () => call.meta?.() ?? {},
      failureIn: (answer) => call.failureIn?.(answer),
      revive: call.revive,
    });
  } catch (error) {
    return rejected(error);
  }
}

export interface StreamedCallInfo<Recorded> extends RuntimeCallInfo<Recorded> {
  /** `performance.now()` at the start of the call. */
  readonly startedAt: number;
}

/**
 * A call whose answer is returned before it is complete. `Recorded` is the form of the answer in recordings. `leaf` is as in
 * {@link ClientCall}.
 */
export interface StreamedClientCall<Answer, Recorded> extends JournaledCall, WithOlderRequest {
  /** Executes the call. Not called if the recording has the answer. */
  execute(info: StreamedCallInfo<Recorded>): Promise<StreamedAnswer<Answer, Recorded>>;
  /** Creates the answer from its recorded form. Pass `rest` on to `replayStream`. */
  replay(recorded: Recorded, meta: CallMeta, rest: RestOfAnswer<Answer>): Answer | Promise<Answer>;
  /** How to complete an answer whose end was not recorded, because the run was dumped or killed first. */
  incompleteAnswer(recorded: Recorded): IncompleteAnswer | undefined;
  /** As in `ClientCall`. */
  failureIn?(recorded: Recorded): AnsweredFailure | undefined;
  /** As in `ClientCall`. */
  revive?(error: unknown, askedAgain: boolean): unknown;
}

/**
 * Journals a call whose answer is a stream, or contains one. Resolves to the answer as soon as `execute` or `replay`
 * returns it. The journal entry ends with the stream: read to its end, left early, aborted or failed.
 *
 * @throws as `journaled` does.
 */
export function journalStreamed<Answer, Recorded>(call: StreamedClientCall<Answer, Recorded>): Promise<Answer> {
  return journalStream<Answer, Recorded>(
    { leaf: true, ...call },
    // A copy would compute the idempotency key.
    (info) => call.execute(Object.assign(info, { startedAt: performance.now() })),
    {
      answer: (recorded, meta, rest) => call.replay(recorded, meta, rest),
      incompleteAnswer: (recorded) => call.incompleteAnswer(recorded),
      failureIn: (recorded) => call.failureIn?.(recorded),
      revive: call.revive,
    },
  );
}
