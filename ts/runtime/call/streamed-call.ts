import { getContext } from "../scope/run-context.js";
import { ContextNotFoundError } from "../../errors/index.js";
import type { CallMeta } from "../../types/snapshot.js";
import type { CallSpec, IncompleteAnswer } from "./answer-or-call.js";
import { journaled, type CallInfo, type EndedCall, type JournaledCall, type OpenCall } from "./journal-call.js";
import { rejected } from "../scope/rejected.js";
import type { OpenStream, RunState } from "../scope/run-state.js";
import type { Scope } from "../scope/scope.js";

/** Records an answer while it arrives. */
export interface AnswerRecorder<Recorded> {
  /** Resolves when the first chunk after the head has arrived. */
  readonly firstChunk?: Promise<void>;
  /** All of it, at its end. */
  readonly ended: Promise<Recorded>;
  /** What has arrived, marked as incomplete; `undefined` if nothing has arrived since the last call. */
  takeProgress(): Recorded | undefined;
  /** Ends the recording with what has arrived. */
  abort(): void;
  readonly meta?: () => CallMeta;
}

/** A call whose answer is handed out before it has come to its end. */
export interface StreamedAnswer<Answer, Recorded> {
  readonly answer: Answer;
  /** Must not refer to the answer, or nobody could see that the program has dropped it. */
  readonly recorder: AnswerRecorder<Recorded>;
  /** There is nothing more to come: the answer is handed out when it has been journaled. */
  readonly whole?: boolean;
}

export interface StreamedCallInfo<Recorded> extends CallInfo {
  /** What was recorded of the answer, and given to the program, which asks for the rest. */
  readonly before: Recorded | undefined;
  /** Resolves when the end of the call stands in the journal: only then may the consumer see the end of its answer. */
  readonly journaled: () => Promise<void>;
  /** Whether what is recorded is redacted: then what breaks off must not end in half of a secret. */
  readonly redacted: boolean;
}

export interface StreamReplay<Answer, Recorded> {
  /** Makes the answer of what was recorded. */
  answer(recorded: Recorded, meta: CallMeta, more: More<Answer>): Answer | Promise<Answer>;
  /** As in `CallSpec`. */
  incompleteAnswer(recorded: Recorded): IncompleteAnswer | undefined;
  readonly failureIn?: CallSpec<Recorded>["failureIn"];
}

/** What comes after the recorded part of an answer. */
export interface More<Answer> {
  /**
   * Called when the reader reaches the end of an incomplete answer; makes the call again. Fails with a ReplayMissError
   * where no call may be made.
   */
  readonly continue?: (() => Promise<Answer>) | undefined;
  /** To be called at the end, before it is shown: resolves when the recorded order reaches it. */
  readonly ended?: (() => Promise<void>) | undefined;
  /** To be called when nobody can read the answer any more. */
  readonly dropped?: (() => void) | undefined;
}

/**
 * Journals a call as `journalCall` does, but gives its answer as soon as `make` has it; the entry ends when what is to
 * be recorded is there. A frame that has ended meanwhile stays open for it in the journal.
 *
 * The promises of a call are few here and in what it is made of: where async contexts are kept by hooks, as in Node 20,
 * each is felt in what a replayed call costs.
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
        const { answer, recorder, whole } = await make({
          ...info,
          before: this.#before,
          journaled: () => handOver.settled,
          redacted: scope.run.redaction !== undefined,
        });
        this.#meta = recorder.meta;
        // What was handed out before keeps its place.
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
      },
    );
  }

  start(): Promise<Answer> {
    return this.#follow(this.#ended);
  }

  /** Gives the answer as soon as it is there. */
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
    return handOver.take();
  }

  #replayed({ value, meta = {}, continue: continueCall, end, detach }: EndedCall<Recorded>): Answer | Promise<Answer> {
    if (detach === undefined) return this.#replay.answer(value, meta, {});
    const dropped = (): void => {
      detach();
      close();
    };
    const close = this.#keepOpen({ abort: dropped, progress() {}, detach, ended: Promise.resolve() });
    const restart =
      continueCall &&
      ((): Promise<Answer> => {
        this.#before = value;
        this.#handOver = new HandOver();
        const answer = this.#follow(continueCall());
        // Until the call that is made now keeps the frame open.
        void this.#handOver.settled.then(close);
        return answer;
      });
    const ended = (): Promise<void> => {
      if (end !== undefined) return end.inOrder().then(close);
      dropped();
      return Promise.resolve();
    };
    return this.#replay.answer(value, meta, { continue: restart, ended, dropped });
  }

  #hold(
    recorder: AnswerRecorder<Recorded>,
    open: OpenCall<Recorded>,
    { settled, headReceived }: { settled: Promise<void>; headReceived: boolean },
  ): void {
    let last = recorder.takeProgress();
    // At the place at which the answer is handed out.
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
    // Who resumes a killed run must know that it was on its way, and not only answered.
    const tellMore = (): void => {
      last = recorder.takeProgress() ?? last;
      if (last !== undefined) open.firstChunk(last);
    };
    if (this.#scope.run.observed) void recorder.firstChunk?.then(tellMore);
    const detach = (): void => {
      last = recorder.takeProgress() ?? last;
      if (last !== undefined) open.detach(last);
    };
    const close = this.#keepOpen({ abort: () => recorder.abort(), progress, detach, ended: settled });
    // Only now may the frame end: the entry has been journaled.
    void settled.then(close);
  }

  /** The frame may not end before the entry has been journaled; in the place of what this has kept open before. */
  #keepOpen(stream: OpenStream): () => void {
    const hold = this.#scope.holdOpen();
    this.#close();
    const forget = this.#register(stream);
    const close = (): void => {
      forget();
      hold.release();
    };
    this.#close = close;
    return close;
  }

  #register(stream: OpenStream): () => void {
    const { run, outerRecording } = this.#scope;
    // A recording session also records the live calls of a run in it that has a snapshot of its own.
    const around = outerRecording?.run;
    const runs = new Set<RunState>([run, run.outermost, ...(around === undefined ? [] : [around])]);
    for (const { openStreams } of runs) openStreams.add(stream);
    return () => {
      for (const { openStreams } of runs) openStreams.delete(stream);
    };
  }
}

/** Hands an answer to the program, and refers to it no more: what the program drops can be collected. */
class HandOver<Answer> {
  isMade: boolean = false;
  /** Resolves when the call has been journaled. */
  settled: Promise<void> = Promise.resolve();
  readonly #given: Promise<void>;
  #resolve!: () => void;
  #reject!: (error: unknown) => void;
  #answer: { value: Answer } | undefined;

  constructor() {
    this.#given = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  give(value: Answer): void {
    this.#answer = { value };
    this.#resolve();
  }

  giveSettled(value: Answer): void {
    void this.settled.then(() => this.give(value));
  }

  fail(error: unknown): void {
    this.#reject(error);
  }

  take(): Promise<Answer> {
    return this.#given.then(() => {
      const { value } = this.#answer as { value: Answer };
      this.#answer = undefined;
      return value;
    });
  }
}
