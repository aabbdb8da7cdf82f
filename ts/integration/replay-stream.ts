import { StreamCutError } from "../errors/index.js";
import { fromErrorInfo } from "../values/error-info.js";
import { delay } from "./delay.js";
import type { StreamEnd } from "./tap.js";
import { watchUnread } from "./watch-unread.js";

export type Piece<T> = readonly [chunk: T, atMs: number];

/** Waits until so many milliseconds after the call; rejects when the call is aborted. */
export type Until = (atMs: number) => Promise<void>;

export function untilAfter(startedAt: number, signal: AbortSignal | undefined): Until {
  return (atMs) => delay(atMs - (performance.now() - startedAt), signal);
}

export interface ReplayStreamOptions<T> {
  readonly signal: AbortSignal | undefined;
  readonly end: StreamEnd | undefined;
  /** What was called, for errors. */
  readonly call: string;
  /** Absent: all pieces come at once. */
  readonly until?: Until | undefined;
  readonly revive?: (error: unknown) => unknown;
  /** Where the end was not recorded: called when the reader reaches the end of the pieces. */
  readonly continue?: (() => Promise<ReadableStream<T>>) | undefined;
  /** Resolves when the end may be shown. */
  readonly ended?: (() => Promise<void>) | undefined;
  /** Called when nobody can read the stream any more. */
  readonly dropped?: (() => void) | undefined;
}

/** A stream of what was recorded, which ends as the recorded one did. */
export function replayStream<T>(
  pieces: readonly Piece<T>[],
  {
    signal,
    end,
    call,
    until,
    revive = (error) => error,
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
        const piece = pieces[next];
        next += 1;
        if (piece !== undefined) {
          if (until !== undefined) await until(piece[1]).catch(() => {});
          if (signal?.aborted !== true) controller.enqueue(piece[0]);
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
        else controller.error(revive(endError(end, call)));
      },
      async cancel(reason) {
        unwatch();
        if (live === undefined) await ended?.();
        else await live.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
  // What had failed by itself did so before it was aborted, or was not read until then.
  const failure = (): unknown =>
    typeof end === "object" && live === undefined ? revive(endError(end, call)) : signal?.reason;
  unwatch = watchUnread(readable, { signal, dropped, aborted: () => errored?.deref()?.error(failure()) });
  return readable;
}

function endError(end: StreamEnd, call: string): unknown {
  if (end === "left" || end === "open") return new StreamCutError(call);
  if (end === "aborted") return new DOMException("This operation was aborted", "AbortError");
  return fromErrorInfo(end.error);
}
