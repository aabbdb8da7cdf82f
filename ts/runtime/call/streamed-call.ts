import { getContext } from "../scope/run-context.js";
import { ContextNotFoundError } from "../../errors/index.js";
import type { CallMeta, ErrorInfo } from "../../types/snapshot.js";
import type { CallSpec, IncompleteAnswer } from "./outcome.js";
import { captureStack, type CapturedStack } from "./identity/async-stack.js";
import { HandOver } from "./hand-over.js";
import {
  journaled,
  type CallInfo,
  type EndedCall,
  type HandOut,
  type JournaledCall,
  type OpenCall,
} from "./journal-call.js";
import { rejected } from "../scope/rejected.js";
import type { OpenStream } from "../scope/open-streams.js";
import type { RunState } from "../scope/run-state.js";
import type { Scope } from "../scope/scope.js";

/** Records an answer while it arrives. */
/** A failure of an answer that the program had already received. */
export interface StreamFailure {
  readonly error: unknown;
  /** The stack of the code that received it. */
  readonly readBy?: object | undefined;
}

export interface AnswerRecorder<Recorded> {
  /** Resolves when the first chunk after the head has arrived. */
  readonly firstChunk?: Promise<void>;
  /** Resolves at the end, with the whole answer. */
  readonly ended: Promise<Recorded>;
  /** The part that has arrived, marked as incomplete; `undefined` if nothing has arrived since the last call. */
  takeProgress(): Recorded | undefined;
  /** The failure that the program received after the answer. */
  readonly failure?: () => StreamFailure | undefined;
  /** Ends the recording with the part that has arrived. */
  abort(): void;
  readonly meta?: () => CallMeta;
}

/** An answer that is returned to the program before it is complete. */
export interface StreamedAnswer<Answer, Recorded> {
  readonly answer: Answer;
  /** Must not refer to the answer: otherwise the answer is never collected when the program drops it. */
  readonly recorder: AnswerRecorder<Recorded>;
  /** True if the answer is already complete. It is then returned after it was journaled. */
  readonly whole?: boolean;
}

export interface StreamedCallInfo<Recorded> extends CallInfo {
  /** The recorded part of the answer, which the program has read. It now reads the rest. */
  readonly before: Recorded | undefined;
  /** Resolves when the end of the call is journaled. Only then may the consumer see the end of its answer. */
  readonly journaled: () => Promise<void>;
  /** The number of calls of the frame that have ended. */
  readonly endedCalls: () => number;
  /** True if the recording is redacted: a partial answer must not end in the middle of a secret. */
  readonly redacted: boolean;
  /** True if it matters who reads the answer: the run records or replays. */
  readonly noteReaders: boolean;
}

export interface StreamReplay<Answer, Recorded> {
  /** Creates the answer from its recording. */
  answer(recorded: Recorded, meta: CallMeta, more: More<Answer>): Answer | Promise<Answer>;
  /** As in `CallSpec`. */
  incompleteAnswer(recorded: Recorded): IncompleteAnswer | undefined;
  readonly failureIn?: CallSpec<Recorded>["failureIn"];
  readonly revive?: CallSpec<Recorded>["revive"];
}

/** Callbacks for the end of a replayed answer. */
export interface More<Answer> {
  /**
   * Called when the reader reaches the end of a partly recorded body; sends the request again. Fails with a
   * ReplayMissError if no call may be executed.
   */
  readonly continue?: (() => Promise<Answer>) | undefined;
  /** Call it before the reader sees the end of the answer. Resolves when the recorded order reaches that end. */
  readonly ended?: (() => Promise<void>) | undefined;
  /** Restores an error from its recording, with the classes that the call and its run name. */
  readonly restoreError?: ((info: ErrorInfo) => unknown) | undefined;
  /** Call it when nobody can read the answer any more. */
  readonly dropped?: (() => void) | undefined;
  /** True if the answer reports a failure, after which the recorded program sent the request again. */
  readonly askedAgain?: boolean | undefined;
}

/**
 * Journals a call as `journalCall` does, but returns its answer as soon as `make` has it. The journal entry ends when
 * the answer is complete.
 *
 * This path creates as few promises as possible. Where hooks track async contexts, as in Node 20, each promise makes a
 * replayed call measurably slower.
 *
 * @throws as `journalCall` does.
 */
export function journalStreamed<Answer, Recorded>(
  call: JournaledCall,
  make: (info: StreamedCallInfo<Recorded>) => Promise<StreamedAnswer<Answer, Recorded>>,
  replay: StreamReplay<Answer, Recorded>,
): Promise<Answer> {
  try {
    const context = call.context ?? getContext();
    if (context === undefined) throw new ContextNotFoundError("journalStreamed");
    return new StreamedCall({ ...call, context }, context.scope, make, replay).start();
  } catch (error) {
    return rejected(error);
  }
}

class StreamedCall<Answer, Recorded> {
  readonly #scope: Scope;
  readonly #replay: StreamReplay<Answer, Recorded>;
  readonly #ended: Promise<EndedCall<Recorded>>;
  #handOver = new HandOver<Answer>();
  #before: Recorded | undefined;
  #meta: (() => CallMeta) | undefined;
  #close: () => void = () => {};
  #failure: (() => StreamFailure | undefined) | undefined;
  #handOut: HandOut | undefined;
  #answeredTo: CapturedStack | undefined;

  constructor(
    call: JournaledCall,
    scope: Scope,
    make: (info: StreamedCallInfo<Recorded>) => Promise<StreamedAnswer<Answer, Recorded>>,
    replay: StreamReplay<Answer, Recorded>,
  ) {
    this.#scope = scope;
    this.#replay = replay;
    this.#ended = journaled<Recorded>(
      call,
      async (info, open) => {
        const handOver = this.#handOver;
        const { answer, recorder, whole } = await make(
          // A copy would compute the idempotency key.
          Object.assign(info, {
            before: this.#before,
            journaled: () => handOver.settled,
            endedCalls: () => scope.endedCalls,
            redacted: scope.run.redaction !== undefined,
            noteReaders: scope.run.recording || scope.run.replaying,
          }),
        );
        this.#meta = recorder.meta;
        this.#failure = recorder.failure;
        // An answer that was returned before keeps its position in the order.
        const headReceived = whole !== true && this.#before === undefined;
        this.#hold(recorder, open, { settled: handOver.settled, headReceived });
        handOver.isMade = true;
        if (whole === true) handOver.giveSettled(answer);
        else handOver.give(answer);
        return recorder.ended;
      },
      {
        meta: () => this.#meta?.() ?? {},
        incompleteAnswer: (recorded) => replay.incompleteAnswer(recorded),
        failureIn: replay.failureIn,
        revive: replay.revive,
        // The promise of the call is not the one that the program waits for.
        delayHandOut: (handOut) => {
          const failure = this.#failure?.();
          if (failure === undefined) this.#handOut = handOut;
          else handOut(failure.error, failure.readBy as CapturedStack | undefined, this.#answeredTo);
        },
      },
    );
  }

  start(): Promise<Answer> {
    return this.#follow(this.#ended);
  }

  /** Returns the answer as soon as it is available. */
  #follow(ended: Promise<EndedCall<Recorded>>): Promise<Answer> {
    const handOver = this.#handOver;
    const fail = (error: unknown): void => handOver.fail(error);
    const replayed = (end: EndedCall<Recorded>): void | Promise<void> => {
      if (handOver.isMade) return;
      try {
        const answer = this.#replayed(end);
        if (answer instanceof Promise) return answer.then((given: Answer) => handOver.give(given), fail);
        handOver.give(answer);
      } catch (error) {
        fail(error);
      }
    };
    handOver.settled = ended.then(replayed, fail);
    return handOver.take((answer) => {
      this.#handOut?.(answer);
      this.#handOut = undefined;
      if (this.#failure !== undefined) this.#answeredTo = captureStack();
    });
  }

  #replayed({ value, meta = {}, ...rest }: EndedCall<Recorded>): Answer | Promise<Answer> {
    const { continue: continueCall, end, detach, restoreError, askedAgain } = rest;
    if (detach === undefined) return this.#replay.answer(value, meta, { restoreError, askedAgain });
    const dropped = (): void => {
      detach();
      close();
    };
    const close = this.#list({ abort: dropped, progress() {}, detach, ended: Promise.resolve() });
    const restart =
      continueCall &&
      ((): Promise<Answer> => {
        this.#before = value;
        this.#handOver = new HandOver();
        const answer = this.#follow(continueCall());
        void this.#handOver.settled.then(close);
        return answer;
      });
    const ended = (): Promise<void> => {
      if (end !== undefined) return end.inOrder().then(close);
      dropped();
      return Promise.resolve();
    };
    return this.#replay.answer(value, meta, { continue: restart, restoreError, askedAgain, ended, dropped });
  }

  #hold(
    recorder: AnswerRecorder<Recorded>,
    open: OpenCall<Recorded>,
    { settled, headReceived }: { settled: Promise<void>; headReceived: boolean },
  ): void {
    let last = recorder.takeProgress();
    // At the position at which the answer is returned.
    if (last !== undefined) {
      if (headReceived) open.headReceived(last);
      else open.progress(last);
    }
    const progress = (): void => {
      const now = recorder.takeProgress();
      if (now === undefined) return;
      last = now;
      open.progress(now);
    };
    // A run that resumes a killed run must know that the body had started, not only the head.
    const noteFirstChunk = (): void => {
      last = recorder.takeProgress() ?? last;
      if (last !== undefined) open.firstChunk(last);
    };
    if (this.#scope.run.emitter.observed) void recorder.firstChunk?.then(noteFirstChunk);
    const detach = (): void => {
      last = recorder.takeProgress() ?? last;
      if (last !== undefined) open.detach(last);
    };
    const close = this.#list({ abort: () => recorder.abort(), progress, detach, ended: settled });
    void settled.then(close);
  }

  /** Lists the stream with its run until the entry is journaled. Replaces the previous stream of this call. */
  #list(stream: OpenStream): () => void {
    this.#close();
    const { run, outerRecording } = this.#scope;
    // A recording session also records the live calls of an inner run that has its own snapshot.
    const around = outerRecording?.run;
    const runs = new Set<RunState>([run, run.outermost, ...(around === undefined ? [] : [around])]);
    for (const { openStreams } of runs) openStreams.add(stream);
    this.#close = () => {
      for (const { openStreams } of runs) openStreams.delete(stream);
    };
    return this.#close;
  }
}
