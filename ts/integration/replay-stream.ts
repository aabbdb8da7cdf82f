import { StreamCutError } from "../errors/index.js";
import type { More as RestOfAnswer } from "../runtime/call/streamed-call.js";
import type { ErrorInfo } from "../types/snapshot.js";
import { fromErrorInfo } from "../values/error-info.js";
import { delay } from "./delay.js";
import type { StreamEnd } from "./tap.js";
import { watchUnread } from "./watch-unread.js";

/** A recorded chunk, and its time in milliseconds from the start of the call. */
export type TimedChunk<T> = readonly [chunk: T, atMs: number];

/** Resolves at this number of milliseconds after the start of the call. Rejects if the call is aborted. */
export type WaitUntil = (atMs: number) => Promise<void>;

/** Returns the option `until` of `replayStream`, to replay chunks at their recorded times. */
export function recordedTiming(startedAt: number, signal: AbortSignal | undefined): WaitUntil {
  return (atMs) => delay(atMs - (performance.now() - startedAt), signal);
}

/** Spread the `rest` of `replay` into these options. */
export interface ReplayStreamOptions<T> extends RestOfAnswer<ReadableStream<T>> {
  readonly signal: AbortSignal | undefined;
  /** The recorded end. */
  readonly end: StreamEnd | undefined;
  /** The name of the call, for errors. */
  readonly call: string;
  /** Absent: chunks are replayed without delays. */
  readonly until?: WaitUntil | undefined;
  /** Converts recorded errors, for clients that recognize their errors by more than `name`. */
  readonly revive?: (error: unknown) => unknown;
}

/**
 * Creates a stream of recorded chunks that ends as the recorded stream did.
 *
 * @throws StreamCutError, from the stream, if the program reads further than it did when the stream was recorded.
 */
export function replayStream<T>(
  chunks: readonly TimedChunk<T>[],
  {
    signal,
    end,
    call,
    until,
    revive = (error) => error,
    restoreError = fromErrorInfo,
    continue: continueStream,
    ended,
    dropped,
  }: ReplayStreamOptions<T>,
): ReadableStream<T> {
  let next = 0;
  let live: ReadableStreamDefaultReader<T> | undefined;
  let errored: WeakRef<ReadableStreamDefaultController<T>> | undefined;
  let unwatch = (): void => {};
  const readable = new ReadableStream<T>(
    {
      start(controller) {
        errored = new WeakRef(controller);
      },
      async pull(controller) {
        const timed = chunks[next];
        next += 1;
        if (timed !== undefined) {
          if (until !== undefined) await until(timed[1]).catch(() => {});
          if (signal?.aborted !== true) controller.enqueue(timed[0]);
          return;
        }
        if (end === "open" && continueStream !== undefined) {
          live ??= (await continueStream()).getReader();
          const { done, value } = await live.read();
          if (!done) return controller.enqueue(value);
        }
        unwatch();
        if (live === undefined) await ended?.();
        if (end === undefined || live !== undefined) controller.close();
        else controller.error(revive(endError(end, call, restoreError)));
      },
      async cancel(reason) {
        unwatch();
        if (live === undefined) await ended?.();
        else await live.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
  // A recorded failure came before the abort, or was not read before it.
  const failure = (): unknown =>
    typeof end === "object" && live === undefined ? revive(endError(end, call, restoreError)) : signal?.reason;
  unwatch = watchUnread(readable, { signal, dropped, aborted: () => errored?.deref()?.error(failure()) });
  return readable;
}

function endError(end: StreamEnd, call: string, restoreError: (info: ErrorInfo) => unknown): unknown {
  if (end === "left" || end === "open") return new StreamCutError(call);
  if (end === "aborted") return new DOMException("This operation was aborted", "AbortError");
  return restoreError(end.error);
}
