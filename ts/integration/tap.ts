import { isAbortError } from "../errors/index.js";
import { captureStack } from "../runtime/call/identity/async-stack.js";
import type { AnsweredFailure, IncompleteAnswer } from "../runtime/call/outcome.js";
import type { AnswerRecorder, StreamFailure } from "../runtime/call/streamed-call.js";
import type { CallMeta, ErrorInfo } from "../types/snapshot.js";
import { toErrorInfo } from "../values/error-info.js";

/**
 * How a stream ended before its regular end: the reader left it, its call was aborted, or it failed. "open": the
 * recording was taken while the stream was still open.
 */
export type StreamEnd = "left" | "aborted" | "open" | { error: ErrorInfo };

/** The failure that ended a stream, so that the retry rule applies to it. An abort is the program's own end. */
export function failureInStream(end: StreamEnd | undefined): AnsweredFailure | undefined {
  if (typeof end !== "object" || end.error.name === "AbortError") return undefined;
  return { name: end.error.name, message: end.error.message };
}

/**
 * The `incompleteAnswer` of a recorded stream. One that was still open is executed again. One that the program had left is
 * replayed up to there, and its call is executed only if the program reads further.
 */
export function incompleteStream(end: StreamEnd | undefined): IncompleteAnswer | undefined {
  if (end === "open") return "restart";
  return end === "left" ? "continueOnRead" : undefined;
}

/** Spread the `info` of `execute` into these options. */
export interface TapOptions<T> {
  /** The number of calls of the program that have ended. A stream that is not read while others end counts as left. */
  readonly endedCalls?: (() => number) | undefined;
  /** `performance.now()` at the start of the call. */
  readonly startedAt: number;
  /** The signal of the call, combined with that of the client if it has one. */
  readonly signal: AbortSignal | undefined;
  /** Resolves when the end is journaled. Only then may the reader see it. */
  readonly journaled: () => Promise<void>;
  /** False if it does not matter who reads the stream. Default: true. */
  readonly noteReaders?: boolean;
  /** Copies a chunk, because the reader may modify it. Default: `structuredClone`. */
  readonly copy?: (chunk: T) => T;
  /** The size of a chunk in a unit of your own, for `sizes`. Default: 1. */
  readonly size?: (chunk: T) => number;
}

/** The chunks that were read so far. */
export interface Tapped<T> {
  readonly chunks: readonly T[];
  /** Absent if the stream was read to its regular end. */
  readonly end: StreamEnd | undefined;
}

/** A stream that the program drops without reading it to the end counts as left. */
const dropped = new FinalizationRegistry((abort: () => void) => abort());

/**
 * Passes a stream on, chunk by chunk as the program reads it, and keeps a copy. It does not refer to the stream that it
 * passes on, so that a dropped stream is noticed.
 */
export class Tap<T> {
  /** Milliseconds from the start of the call to the creation of the tap. */
  readonly startMs: number;
  /** The size of each chunk, and its time in milliseconds from the start of the call. */
  readonly sizes: [size: number, atMs: number][] = [];
  readonly #options: TapOptions<T>;
  readonly #reader: ReadableStreamDefaultReader<T>;
  readonly #chunks: T[] = [];
  readonly #ended: Promise<Tapped<T>>;
  readonly #firstChunk: Promise<void>;
  #endedBy: StreamEnd | undefined = "open";
  #failure: StreamFailure | undefined;
  /** True while the reader waits for a chunk. */
  #isRead = false;
  /** The number of calls that had ended when the last chunk was read. */
  #endedBefore = 0;
  #end!: (end?: StreamEnd) => void;
  #resolveFirstChunk!: () => void;

  constructor(source: ReadableStream<T>, options: TapOptions<T>) {
    this.startMs = millisecondsSince(options.startedAt);
    this.#options = options;
    this.#reader = source.getReader();
    this.#firstChunk = new Promise((resolve) => (this.#resolveFirstChunk = resolve));
    this.#ended = new Promise((resolve) => {
      this.#end = (end) => {
        dropped.unregister(this);
        if (this.#endedBy === "open") this.#endedBy = end;
        resolve({ chunks: this.#chunks, end });
      };
    });
  }

  /** Returns the stream for the program. Call it once. */
  open(): ReadableStream<T> {
    const {
      startedAt,
      signal,
      journaled,
      noteReaders = true,
      copy = structuredClone<T>,
      size = () => 1,
    } = this.#options;
    const { sizes } = this;
    const reader = this.#reader;
    const chunks = this.#chunks;
    const resolveFirstChunk = this.#resolveFirstChunk;
    const end = this.#end;
    const failed = (failure: StreamFailure): void => void (this.#failure = failure);
    const reading = (is: boolean): void => {
      this.#isRead = is;
      this.#endedBefore = this.#options.endedCalls?.() ?? 0;
    };
    const pull = async (controller: ReadableStreamDefaultController<T>): Promise<void> => {
      // In the stack of the code that reads: it receives the failure.
      const readBy = noteReaders ? captureStack() : undefined;
      try {
        reading(true);
        const { done, value } = await reader.read().finally(() => reading(false));
        if (done) {
          end();
          await journaled();
          controller.close();
          return;
        }
        sizes.push([size(value), millisecondsSince(startedAt)]);
        chunks.push(copy(value));
        if (chunks.length === 1) resolveFirstChunk();
        controller.enqueue(value);
      } catch (error) {
        failed({ error, readBy });
        end(isPlainAbort(error, signal) ? "aborted" : { error: toErrorInfo(error) });
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
    dropped.register(readable, () => this.#abort(), this);
    return readable;
  }

  /**
   * Returns the recorder of the call. Neither function may refer to the answer or its stream: a dropped stream would not
   * be noticed.
   *
   * @param recorded converts chunks to the recorded form. `end` must be part of it.
   * @param meta default: the times of the chunks.
   */
  recorder<Recorded>(
    recorded: (tapped: Tapped<T>) => Recorded,
    meta: () => CallMeta = () => ({ stream: { startMs: this.startMs, chunks: this.sizes } }),
  ): AnswerRecorder<Recorded> {
    let taken = "";
    return {
      firstChunk: this.#firstChunk,
      ended: this.#ended.then(recorded),
      takeProgress: () => {
        const chunks = this.#chunks;
        const end = this.#endedBy === "open" && this.#hasBeenLeft() ? "left" : this.#endedBy;
        const state = `${chunks.length} ${end === "left"}`;
        if (taken === state) return undefined;
        taken = state;
        return recorded({ chunks, end });
      },
      failure: () => this.#failure,
      abort: () => this.#abort(),
      meta,
    };
  }

  /**
   * True if the program has left the stream, as far as can be seen: it does not wait for a chunk, and has ended a call
   * since the last one. Clients that split or buffer a stream do not cancel it when the program stops reading.
   */
  #hasBeenLeft(): boolean {
    const { endedCalls } = this.#options;
    return endedCalls !== undefined && !this.#isRead && this.#chunks.length > 0 && endedCalls() > this.#endedBefore;
  }

  #abort(): void {
    this.#end("left");
    this.#reader.cancel().catch(() => {});
  }
}

/** The message of the default reason of `abort()`. */
const PLAIN_ABORT = "This operation was aborted";

/** True for an abort without its own reason. A stream that nobody read may have failed before it was aborted. */
function isPlainAbort(error: unknown, signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true && isAbortError(error) && error.message === PLAIN_ABORT;
}

/** Milliseconds since a value of `performance.now()`, rounded to two decimals. The unit of the times in `CallMeta`. */
export function millisecondsSince(startedAt: number): number {
  return Math.round((performance.now() - startedAt) * 100) / 100;
}
