import type { CallMeta } from "../types/snapshot.js";
import type { StreamedAnswer } from "../runtime/streamed-call.js";
import { replayStream, untilAfter, type Piece } from "../streams/replay-stream.js";
import { since, Tap, type StreamEnd } from "../streams/tap.js";
import { responseHeaders, type ExtraHeaders, type HeaderList } from "./headers.js";
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
  /** How the body ended, if not by itself. */
  end?: StreamEnd;
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
    return { answer: response, recorded: Promise.resolve(head), whole: true, cut() {}, meta: () => ({ stream }) };
  }
  const copy = (chunk: Uint8Array): Uint8Array => chunk.slice();
  const size = (chunk: Uint8Array): number => chunk.byteLength;
  const body = new Tap(response.body, { startedAt, signal, journaled, copy, size });
  const answer = new Response(body.readable, response);
  return {
    answer: withUrl(answer, response.url, response.redirected),
    recorded: body.ended.then(({ chunks, end }) => ({
      ...head,
      body: recordBody(Buffer.concat(chunks)),
      ...(end === undefined ? {} : { end }),
    })),
    cut: () => body.cut(),
    meta: () => ({ stream: { ...stream, chunks: body.sizes } }),
  };
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
  const until = timed ? untilAfter(performance.now(), signal) : undefined;
  await until?.(stream.startMs ?? 0);
  signal?.throwIfAborted();
  const { status, statusText = "", headers, body, end } = recorded;
  const init = { status, statusText, headers: [...headers, ...(stream.headers ?? [])] };
  const readable =
    body === undefined
      ? null
      : replayStream(pieces(bodyBytes(body), stream.chunks ?? []), { signal, end, call: url, until });
  return withUrl(new Response(readable, init), recorded.url ?? url, recorded.url !== undefined);
}

/** The body in the pieces in which it came; in one, where that is not known or does not fit any more. */
function pieces(body: Uint8Array, sizes: readonly (readonly [size: number, atMs: number])[]): Piece<Uint8Array>[] {
  const total = sizes.reduce((sum, [size]) => sum + size, 0);
  if (total !== body.length) return body.length === 0 ? [] : [[body, sizes.at(-1)?.[1] ?? 0]];
  let at = 0;
  return sizes.map(([size, atMs]): Piece<Uint8Array> => [body.slice(at, (at += size)), atMs]);
}

/** A response that is constructed has no URL. */
function withUrl(response: Response, url: string, redirected: boolean): Response {
  return Object.defineProperties(response, {
    url: { value: url, configurable: true },
    redirected: { value: redirected, configurable: true },
    clone: { value: () => withUrl(Response.prototype.clone.call(response), url, redirected), configurable: true },
  });
}
