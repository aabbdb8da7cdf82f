import { isDeepStrictEqual } from "node:util";

import { StreamCutError } from "../errors/index.js";
import { captureStack } from "../runtime/call/identity/async-stack.js";
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
  /** True if the program is known to read all. Default: known if code of the program waits for a chunk. */
  readonly readsAll?: (() => boolean) | undefined;
  /** Converts recorded errors, for clients that recognize their errors by more than `name`. */
  readonly revive?: (error: unknown) => unknown;
}

/**
 * Creates a stream of recorded chunks that ends as the recorded stream did.
 *
 * If the program reads further than it did when the stream was recorded, `rest.continue` executes the call, and what
 * follows the recorded chunks in its answer is passed on.
 *
 * @throws StreamCutError, from the stream, if the program reads further without `rest.continue`, or if the new answer does
 * not begin with the recorded chunks.
 */
export function replayStream<T>(
  chunks: readonly TimedChunk<T>[],
  {
    signal,
    end,
    call,
    until,
    readsAll = () => false,
    revive = (error) => error,
    restoreError = fromErrorInfo,
    continue: continueStream,
    ended,
    dropped,
  }: ReplayStreamOptions<T>,
): ReadableStream<T> {
  const isContinued = end === "left" && continueStream !== undefined;
  let next = 0;
  let live: ReadableStreamDefaultReader<T> | undefined;
  let errored: WeakRef<ReadableStreamDefaultController<T>> | undefined;
  let unwatch = (): void => {};
  const readable = new ReadableStream<T>(
    {
      start(controller) {
        errored = new WeakRef(controller);
        if (!isContinued || until !== undefined || signal?.aborted === true) return;
        // The next pull is then in the stack of the code that reads further.
        for (const [chunk] of chunks) controller.enqueue(chunk);
        next = chunks.length;
      },
      async pull(controller) {
        const timed = chunks[next];
        next += 1;
        if (timed !== undefined) {
          if (until !== undefined) await until(timed[1]).catch(() => {});
          if (signal?.aborted !== true) controller.enqueue(timed[0]);
          return;
        }
        if (
          continueStream !== undefined &&
          (end === "open" || (isContinued && (live !== undefined || readsAll() || isReadByProgram())))
        ) {
          if (live === undefined) {
            live = (await continueStream()).getReader();
            const received = chunks.map(([chunk]) => chunk);
            const rest = await readPast(live, received, call);
            if (rest !== undefined) return controller.enqueue(rest);
          }
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

/** True if the program waits for the next chunk. Clients that buffer a stream read ahead of it. */
function isReadByProgram(): boolean {
  return captureStack()?.lane()?.complete === true;
}

/**
 * Reads what the program has received already.
 * @returns the part of the last chunk that follows it.
 */
async function readPast<T>(
  live: ReadableStreamDefaultReader<T>,
  received: readonly T[],
  call: string,
): Promise<T | undefined> {
  const next = async (isSame: (value: T) => boolean): Promise<T> => {
    const { done, value } = await live.read();
    if (!done && isSame(value)) return value;
    live.cancel().catch(() => {});
    throw new StreamCutError(call, "The new answer does not begin with the recorded part, so it cannot continue it.");
  };
  if (!received.every((chunk) => chunk instanceof Uint8Array)) {
    for (const chunk of received) await next((value) => isDeepStrictEqual(value, chunk));
    return undefined;
  }
  // The new chunks may be cut at other places.
  const bytes = Buffer.concat(received);
  for (let at = 0; at < bytes.length;) {
    let known = bytes.subarray(at);
    const chunk = await next((value) => {
      const start = value as Uint8Array;
      known = bytes.subarray(at, at + start.length);
      return known.equals(start.subarray(0, known.length));
    });
    at += known.length;
    const rest = (chunk as Uint8Array).subarray(known.length);
    if (rest.length > 0) return rest as T;
  }
  return undefined;
}

function endError(end: StreamEnd, call: string, restoreError: (info: ErrorInfo) => unknown): unknown {
  if (end === "left" || end === "open") return new StreamCutError(call);
  if (end === "aborted") return new DOMException("This operation was aborted", "AbortError");
  return restoreError(end.error);
}
