import type { Recording } from "../runtime/streamed-call.js";
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
const dropped = new FinalizationRegistry((tap: { cut(): void }) => tap.cut());

/** Passes a stream on, chunk by chunk as it is asked for, and keeps a copy. Does not refer to what it passes on. */
export class Tap<T> {
  readonly ended: Promise<Tapped<T>>;
  /** Of each chunk: its size, and milliseconds from the call. */
  readonly sizes: [size: number, atMs: number][] = [];
  readonly #reader: ReadableStreamDefaultReader<T>;
  readonly #options: TapOptions<T>;
  readonly #chunks: T[] = [];
  #told = -1;
  #end!: (end?: StreamEnd) => void;

  constructor(source: ReadableStream<T>, options: TapOptions<T>) {
    this.#reader = source.getReader();
    this.#options = options;
    this.ended = new Promise((resolve) => {
      this.#end = (end) => resolve({ chunks: this.#chunks, end });
    });
  }

  /** The stream as it is passed on. Call it once. */
  open(): ReadableStream<T> {
    const readable = new ReadableStream<T>(
      { pull: (controller) => this.#pull(controller), cancel: (reason) => this.#cancel(reason) },
      { highWaterMark: 0 },
    );
    dropped.register(readable, this);
    return readable;
  }

  /** What has come by now; `undefined` if nothing has since this was last asked. */
  soFar(): Tapped<T> | undefined {
    if (this.#told === this.#chunks.length) return undefined;
    this.#told = this.#chunks.length;
    return { chunks: this.#chunks, end: "open" };
  }

  /** Ends the recording with what has come, and the stream with it. */
  cut(): void {
    this.#end("left");
    this.#reader.cancel().catch(() => {});
  }

  async #pull(controller: ReadableStreamDefaultController<T>): Promise<void> {
    const { startedAt, signal, journaled, copy, size } = this.#options;
    try {
      const { done, value } = await this.#reader.read();
      if (done) {
        this.#end();
        await journaled();
        controller.close();
        return;
      }
      this.sizes.push([size(value), since(startedAt)]);
      this.#chunks.push(copy(value));
      controller.enqueue(value);
    } catch (error) {
      this.#end(signal?.aborted === true ? "aborted" : { error: toErrorInfo(error) });
      await journaled();
      controller.error(error);
    }
  }

  async #cancel(reason: unknown): Promise<void> {
    this.#end("left");
    await this.#options.journaled();
    await this.#reader.cancel(reason);
  }
}

/** What a call records of a stream. A function of its own, so that it cannot refer to what the program reads. */
export function recordingOf<T, Recorded>(
  tap: Tap<T>,
  recorded: (tapped: Tapped<T>) => Recorded,
  meta: () => CallMeta,
): Recording<Recorded> {
  return {
    ended: tap.ended.then(recorded),
    soFar() {
      const tapped = tap.soFar();
      return tapped && recorded(tapped);
    },
    cut: () => tap.cut(),
    meta,
  };
}

/** Milliseconds, to a hundredth. */
export function since(startedAt: number): number {
  return Math.round((performance.now() - startedAt) * 100) / 100;
}
