import { isAbortError } from "../errors/index.js";
import type { AnswerRecorder } from "../runtime/call/streamed-call.js";
import type { CallMeta, ErrorInfo } from "../types/snapshot.js";
import { toErrorInfo } from "../values/error-info.js";

/**
 * How a stream ended, if not by itself: its reader left it, its call was aborted, or it failed; "open" where the
 * recording was taken before any of these.
 */
export type StreamEnd = "left" | "aborted" | "open" | { error: ErrorInfo };

export interface TapOptions<T> {
  /** `performance.now()` of the call. */
  readonly startedAt: number;
  readonly signal: AbortSignal | undefined;
  /** Resolves when the end stands in the journal: only then does the reader see it. */
  readonly journaled: () => Promise<void>;
  /** A copy, for the reader may change what it gets. */
  readonly copy: (chunk: T) => T;
  readonly size: (chunk: T) => number;
}

export interface Tapped<T> {
  readonly chunks: readonly T[];
  readonly end: StreamEnd | undefined;
}

/** Streams that nobody can read any more are left, as if their readers had said so. */
const dropped = new FinalizationRegistry((tap: { abort(): void }) => tap.abort());

/** Passes a stream on, chunk by chunk as it is asked for, and keeps a copy. Does not refer to what it passes on. */
export class Tap<T> {
  readonly ended: Promise<Tapped<T>>;
  /** Resolves when the first chunk has come. */
  readonly firstChunk: Promise<void>;
  /** Of each chunk: its size, and milliseconds from the call. */
  readonly sizes: [size: number, atMs: number][] = [];
  readonly #reader: ReadableStreamDefaultReader<T>;
  readonly #options: TapOptions<T>;
  readonly #chunks: T[] = [];
  #taken = -1;
  /** As `Tapped` has it; "open" until then. */
  #endedBy: StreamEnd | undefined = "open";
  #resolveFirstChunk!: () => void;
  #end!: (end?: StreamEnd) => void;

  constructor(source: ReadableStream<T>, options: TapOptions<T>) {
    this.#reader = source.getReader();
    this.#options = options;
    this.firstChunk = new Promise((resolve) => (this.#resolveFirstChunk = resolve));
    this.ended = new Promise((resolve) => {
      this.#end = (end) => {
        dropped.unregister(this);
        if (this.#endedBy === "open") this.#endedBy = end;
        resolve({ chunks: this.#chunks, end });
      };
    });
  }

  /** The stream as it is passed on. Call it once. */
  open(): ReadableStream<T> {
    const { startedAt, signal, journaled, copy, size } = this.#options;
    const reader = this.#reader;
    const chunks = this.#chunks;
    const { sizes } = this;
    const resolveFirstChunk = this.#resolveFirstChunk;
    const end = this.#end;
    const pull = async (controller: ReadableStreamDefaultController<T>): Promise<void> => {
      try {
        const { done, value } = await reader.read();
        if (done) {
          end();
          await journaled();
          controller.close();
          return;
        }
        sizes.push([size(value), since(startedAt)]);
        chunks.push(copy(value));
        if (chunks.length === 1) resolveFirstChunk();
        controller.enqueue(value);
      } catch (error) {
        end(isAbort(error, signal) ? "aborted" : { error: toErrorInfo(error) });
        await journaled();
        controller.error(error);
      }
    };
    const cancel = async (reason: unknown): Promise<void> => {
      end("left");
      await journaled();
      await reader.cancel(reason);
    };
    const readable = new ReadableStream<T>({ pull, cancel }, { highWaterMark: 0 });
    dropped.register(readable, this, this);
    return readable;
  }

  /** What has arrived; `undefined` if nothing has arrived since the last call. */
  takeProgress(): Tapped<T> | undefined {
    if (this.#taken === this.#chunks.length) return undefined;
    this.#taken = this.#chunks.length;
    return { chunks: this.#chunks, end: this.#endedBy };
  }

  /** Ends the recording with what has come, and the stream with it. */
  abort(): void {
    this.#end("left");
    this.#reader.cancel().catch(() => {});
  }
}

/** What `abort()` gives as the reason where it is given none. */
const PLAIN_ABORT = "This operation was aborted";

/** By an abort without a reason of its own. A stream that nobody read may have failed before it was aborted. */
function isAbort(error: unknown, signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true && isAbortError(error) && error.message === PLAIN_ABORT;
}

/** What a call records of a stream. A function of its own, so that it cannot refer to what the program reads. */
export function recorderOf<T, Recorded>(
  tap: Tap<T>,
  recorded: (tapped: Tapped<T>) => Recorded,
  meta: () => CallMeta,
): AnswerRecorder<Recorded> {
  return {
    firstChunk: tap.firstChunk,
    ended: tap.ended.then(recorded),
    takeProgress() {
      const tapped = tap.takeProgress();
      return tapped && recorded(tapped);
    },
    abort: () => tap.abort(),
    meta,
  };
}

/** Milliseconds, to a hundredth. */
export function since(startedAt: number): number {
  return Math.round((performance.now() - startedAt) * 100) / 100;
}
