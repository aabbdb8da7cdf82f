import { StreamCutError } from "../errors/index.js";
import type { CallMeta, ErrorInfo } from "../types/snapshot.js";
import { fromErrorInfo, toErrorInfo } from "../values/error-info.js";
import type { StreamedAnswer } from "../runtime/streamed-call.js";
import { responseHeaders, type ExtraHeaders, type HeaderList } from "./headers.js";
import { delay } from "./delay.js";
import { bodyBytes, recordBody, type RecordedBody } from "./recorded-body.js";

/** A response as it is journaled; what differs from time to time stands in the entry's `meta`. */
export interface RecordedResponse {
  status: number;
  statusText?: string;
  headers: HeaderList;
  /** Where the request was redirected to. */
  url?: string;
  /** Absent where there was none. */
  body?: RecordedBody;
  /** How the body ended, if not by itself: its reader left it, its request was aborted, or it failed. */
  end?: "left" | "aborted" | { error: ErrorInfo };
}

interface RecordOptions {
  readonly url: string;
  readonly signal: AbortSignal;
  readonly startedAt: number;
  readonly extra: ExtraHeaders;
  readonly journaled: () => Promise<void>;
}

/** Hands a response on while its body is read, and gives what is to be recorded of it. */
export function recordResponse(
  response: Response,
  { url, signal, startedAt, extra, journaled }: RecordOptions,
): StreamedAnswer<Response, RecordedResponse> {
  const startMs = since(startedAt);
  const { kept, changing } = responseHeaders(response.headers, extra);
  const head: RecordedResponse = {
    status: response.status,
    ...(response.statusText === "" ? {} : { statusText: response.statusText }),
    headers: kept,
    ...(response.redirected && response.url !== url ? { url: response.url } : {}),
  };
  const stream = { startMs, ...(changing.length === 0 ? {} : { headers: changing }) };
  // One of a status below 200 cannot be made by a program.
  if (response.body === null || response.status < 200) {
    return { answer: response, recorded: Promise.resolve(head), cut() {}, meta: () => ({ stream }) };
  }
  const body = new BodyRecorder(response.body, { startedAt, signal, journaled });
  const answer = new Response(body.readable, response);
  return {
    answer: withUrl(answer, response.url, response.redirected),
    recorded: body.ended.then((recorded) => ({ ...head, ...recorded })),
    cut: () => body.cut(),
    meta: () => ({ stream: { ...stream, chunks: body.sizes } }),
  };
}

/** Passes a body on, chunk by chunk as it is asked for, and keeps a copy. */
class BodyRecorder {
  readonly readable: ReadableStream<Uint8Array>;
  readonly ended: Promise<Pick<RecordedResponse, "body" | "end">>;
  readonly sizes: [size: number, atMs: number][] = [];
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #chunks: Uint8Array[] = [];
  #end!: (end?: RecordedResponse["end"]) => void;

  constructor(
    source: ReadableStream<Uint8Array>,
    { startedAt, signal, journaled }: Pick<RecordOptions, "startedAt" | "signal" | "journaled">,
  ) {
    this.#reader = source.getReader();
    this.ended = new Promise((resolve) => {
      this.#end = (end) => {
        const body = recordBody(Buffer.concat(this.#chunks));
        resolve({ body, ...(end === undefined ? {} : { end }) });
      };
    });
    const pull = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
      try {
        const { done, value } = await this.#reader.read();
        if (done) {
          this.#end();
          await journaled();
          controller.close();
          return;
        }
        this.sizes.push([value.byteLength, since(startedAt)]);
        this.#chunks.push(value.slice());
        controller.enqueue(value);
      } catch (error) {
        this.#end(signal.aborted ? "aborted" : { error: toErrorInfo(error) });
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

  cut(): void {
    this.#end("left");
    this.#reader.cancel().catch(() => {});
  }
}

export interface ReplayOptions {
  readonly url: string;
  readonly signal: AbortSignal | undefined;
  /** Whether the pieces come when they came, and not at once. */
  readonly timed: boolean;
}

/** Makes the response that was recorded. */
export async function replayResponse(
  recorded: RecordedResponse,
  { stream = {} }: CallMeta,
  { url, signal, timed }: ReplayOptions,
): Promise<Response> {
  const startedAt = performance.now();
  const until = (atMs: number): Promise<void> => delay(atMs - (performance.now() - startedAt), signal);
  if (timed) await until(stream.startMs ?? 0);
  signal?.throwIfAborted();
  const { status, statusText = "", headers, body, end } = recorded;
  const init = { status, statusText, headers: [...headers, ...(stream.headers ?? [])] };
  const readable =
    body === undefined
      ? null
      : replayBody(pieces(bodyBytes(body), stream.chunks ?? []), {
          signal,
          end,
          url,
          until: timed ? until : undefined,
        });
  return withUrl(new Response(readable, init), recorded.url ?? url, recorded.url !== undefined);
}

type Piece = readonly [bytes: Uint8Array, atMs: number];

/** The body in the pieces in which it came; in one, where that is not known or does not fit any more. */
function pieces(bytes: Uint8Array, sizes: readonly (readonly [size: number, atMs: number])[]): Piece[] {
  const total = sizes.reduce((sum, [size]) => sum + size, 0);
  if (total !== bytes.length) return bytes.length === 0 ? [] : [[bytes, sizes.at(-1)?.[1] ?? 0]];
  let at = 0;
  return sizes.map(([size, atMs]): Piece => [bytes.slice(at, (at += size)), atMs]);
}

function replayBody(
  chunks: readonly Piece[],
  {
    signal,
    end,
    url,
    until,
  }: {
    signal: AbortSignal | undefined;
    end: RecordedResponse["end"];
    url: string;
    until: ((atMs: number) => Promise<void>) | undefined;
  },
): ReadableStream<Uint8Array> {
  let next = 0;
  let unlink = (): void => {};
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const abort = (): void => controller.error(signal?.reason);
        signal?.addEventListener("abort", abort, { once: true });
        unlink = () => signal?.removeEventListener("abort", abort);
      },
      async pull(controller) {
        const chunk = chunks[next];
        next += 1;
        if (chunk !== undefined) {
          if (until !== undefined) await until(chunk[1]).catch(() => {});
          if (signal?.aborted !== true) controller.enqueue(chunk[0]);
          return;
        }
        unlink();
        if (end === undefined) controller.close();
        else controller.error(endError(end, url));
      },
      cancel: () => unlink(),
    },
    { highWaterMark: 0 },
  );
}

function endError(end: NonNullable<RecordedResponse["end"]>, url: string): unknown {
  if (end === "left") return new StreamCutError(url);
  if (end === "aborted") return new DOMException("This operation was aborted", "AbortError");
  return fromErrorInfo(end.error);
}

/** A response that is constructed has no URL. */
function withUrl(response: Response, url: string, redirected: boolean): Response {
  return Object.defineProperties(response, {
    url: { value: url, configurable: true },
    redirected: { value: redirected, configurable: true },
    clone: { value: () => withUrl(Response.prototype.clone.call(response), url, redirected), configurable: true },
  });
}

function since(startedAt: number): number {
  return Math.round((performance.now() - startedAt) * 100) / 100;
}
