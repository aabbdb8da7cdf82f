import { getContext } from "../run-context/context.js";
import { ContextNotFoundError } from "../errors/index.js";
import type { CallMeta } from "../types/snapshot.js";
import { journaled, type CallInfo, type JournaledCall } from "./journal-call.js";

/** A call whose answer is handed out before it has come to its end. */
export interface StreamedAnswer<Answer, Recorded> {
  readonly answer: Answer;
  /** What is to be recorded, once it is all there. */
  readonly recorded: Promise<Recorded>;
  /** There is nothing more to come: the answer is handed out when it has been journaled. */
  readonly whole?: boolean;
  /** Ends `recorded` with what has come so far. */
  cut(): void;
  readonly meta?: () => CallMeta;
}

export interface StreamedCallInfo extends CallInfo {
  /** Resolves when the end of the call stands in the journal: only then may the consumer see the end of its answer. */
  readonly journaled: () => Promise<void>;
}

/**
 * Journals a call as `journalCall` does, but gives its answer as soon as `make` has it; the entry ends when what is to
 * be recorded is there. A frame that has ended meanwhile stays open for it in the journal.
 *
 * @param replay makes the answer of what was recorded.
 * @throws as `journalCall` does.
 */
export function journalStreamed<Answer, Recorded>(
  call: JournaledCall,
  make: (info: StreamedCallInfo) => Promise<StreamedAnswer<Answer, Recorded>>,
  replay: (recorded: Recorded, meta: CallMeta) => Answer | Promise<Answer>,
): Promise<Answer> {
  const context = call.context ?? getContext();
  if (context === undefined) return Promise.reject(new ContextNotFoundError("journalStreamed"));
  const { scope } = context;
  let meta: (() => CallMeta) | undefined;
  return new Promise((resolve, reject) => {
    let made = false;
    const ended = journaled<Recorded>(
      { ...call, context },
      async (info) => {
        const streamed = await make({ ...info, journaled: () => settled });
        ({ meta } = streamed);
        made = true;
        const hold = scope.holdOpen();
        const { openStreams } = scope.run.outermost;
        const open = { cut: () => streamed.cut(), ended: settled };
        openStreams.add(open);
        const release = (): void => {
          openStreams.delete(open);
          // Only then may the frame end: the entry has been journaled.
          hold.release();
        };
        void settled.then(release);
        if (streamed.whole === true) void settled.then(() => resolve(streamed.answer));
        else resolve(streamed.answer);
        return streamed.recorded;
      },
      () => meta?.() ?? {},
    );
    const settled: Promise<void> = ended
      .then((end) => (made ? undefined : resolve(replay(end.value, end.meta ?? {}))))
      .catch(reject);
  });
}
