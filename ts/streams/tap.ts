import type { ErrorInfo } from "../types/snapshot.js";
import { toErrorInfo } from "../values/error-info.js";

/** How a stream ended, if not by itself: its reader left it, its call was aborted, or it failed. */
export type StreamEnd = "left" | "aborted" | { error: ErrorInfo };

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

/** Passes a stream on, chunk by chunk as it is asked for, and keeps a copy. */
export class Tap<T> {
  readonly readable: ReadableStream<T>;
  readonly ended: Promise<{ chunks: readonly T[]; end: StreamEnd | undefined }>;
  /** Of each chunk: its size, and milliseconds from the call. */
  readonly sizes: [size: number, atMs: number][] = [];
  readonly #reader: ReadableStreamDefaultReader<T>;
  readonly #chunks: T[] = [];
  #end!: (end?: StreamEnd) => void;

  constructor(source: ReadableStream<T>, { startedAt, signal, journaled, copy, size }: TapOptions<T>) {
    this.#reader = source.getReader();
    this.ended = new Promise((resolve) => {
      this.#end = (end) => resolve({ chunks: this.#chunks, end });
    });
    const pull = async (controller: ReadableStreamDefaultController<T>): Promise<void> => {
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
    };
    const cancel = async (reason: unknown): Promise<void> => {
      this.#end("left");
      await journaled();
      await this.#reader.cancel(reason);
    };
    this.readable = new ReadableStream({ pull, cancel }, { highWaterMark: 0 });
  }

  /** Ends the recording with what has come, and the stream with it. */
  cut(): void {
    this.#end("left");
    this.#reader.cancel().catch(() => {});
  }
}

/** Milliseconds, to a hundredth. */
export function since(startedAt: number): number {
  return Math.round((performance.now() - startedAt) * 100) / 100;
}
