import type { CallMeta } from "../types/snapshot.js";
import {
  Tap,
  recorderOf,
  replayStream,
  responseHeaders,
  since,
  untilAfter,
  type HeaderList,
  type KeptHeaders,
  type More,
  type IncompleteAnswer,
  type Piece,
  type StreamEnd,
  type StreamedAnswer,
  type Tapped,
  type Until,
} from "../integration/index.js";
import { jsonResponse, withOrigin } from "./json-response.js";
import { bodyBytes, recordBody, withoutCutWord, type RecordedBody } from "./recorded-body.js";

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
  readonly keep: KeptHeaders;
  /** How often the client had tried before. */
  readonly attempt: number | undefined;
  readonly journaled: () => Promise<void>;
  /** Whether what is recorded is redacted. */
  readonly redacted: boolean;
  /** What the program was given of this answer before, without its body. */
  readonly before: RecordedResponse | undefined;
}

/** Hands a response on while its body is read, and gives what is to be recorded of it. */
export function recordResponse(
  response: Response,
  { url, signal, startedAt, keep, attempt = 0, journaled, redacted, before }: RecordOptions,
): StreamedAnswer<Response, RecordedResponse> {
  const startMs = since(startedAt);
  const { kept, changing } = responseHeaders(response.headers, keep);
  const head: RecordedResponse = before ?? {
    status: response.status,
    ...(response.statusText === "" ? {} : { statusText: response.statusText }),
    headers: kept,
    ...(response.redirected && response.url !== url ? { url: response.url } : {}),
  };
  const stream = {
    startMs,
    ...(attempt === 0 ? {} : { attempt }),
    ...(changing.length === 0 ? {} : { headers: changing }),
  };
  // One of a status below 200 cannot be made by a program.
  if (before === undefined && (response.body === null || response.status < 200)) {
    const ended = Promise.resolve(head);
    return {
      answer: response,
      recorder: { ended, takeProgress: () => head, abort() {}, meta: () => ({ stream }) },
      whole: true,
    };
  }
  const copy = (chunk: Uint8Array): Uint8Array => chunk.slice();
  const size = (chunk: Uint8Array): number => chunk.byteLength;
  const source = before === undefined ? response.body : bodyUnder(before, response, url);
  const body = new Tap(source as ReadableStream<Uint8Array>, { startedAt, signal, journaled, copy, size });
  // Of one that is asked for its body alone, whatever its status is now.
  const answer = new Response(body.open(), before === undefined ? response : { status: before.status });
  const recorded = ({ chunks, end }: Tapped<Uint8Array>): RecordedResponse => {
    const bytes = Buffer.concat(chunks);
    if (end === undefined) return { ...head, body: recordBody(bytes) };
    return { ...head, body: recordBody(redacted ? withoutCutWord(bytes) : bytes), end };
  };
  const meta = (): CallMeta => ({ stream: { ...stream, chunks: body.sizes } });
  return { answer: withOrigin(answer, response), recorder: recorderOf(body, recorded, meta) };
}

/** The body of a request that was sent again: the program has the head of before. */
function bodyUnder({ status }: RecordedResponse, response: Response, url: string): Response["body"] {
  if (response.status === status) return response.body ?? new Response("").body;
  response.body?.cancel().catch(() => {});
  const message = `${url} answered with status ${status} when it was recorded; asked again for the body, it answers with ${response.status}`;
  return new ReadableStream({ start: (controller) => controller.error(new TypeError(message)) });
}

/** What a request comes to that fails when it is sent again for its body: who reads that has the head already. */
export function failedBody({ status }: RecordedResponse, error: unknown): Response {
  return new Response(new ReadableStream({ start: (controller) => controller.error(error) }), { status });
}

/** What answers with an error failed, whatever the program makes of it. */
export function failureIn({
  status,
  statusText = "",
}: RecordedResponse): { name: string; message: string } | undefined {
  return status < 400 ? undefined : { name: "HttpStatusError", message: `${status} ${statusText}`.trimEnd() };
}

export function headOf(recorded: RecordedResponse | undefined): RecordedResponse | undefined {
  if (recorded === undefined) return undefined;
  const { body: _body, end: _end, ...head } = recorded;
  return head;
}

/** A request is sent again where a part of its body had come; who has only seen its head keeps that. */
export function incompleteAnswer({ end, body }: RecordedResponse): IncompleteAnswer | undefined {
  if (end !== "open") return undefined;
  return body === undefined || bodyBytes(body).length === 0 ? "continueOnRead" : "restart";
}

export interface ReplayOptions {
  readonly url: string;
  readonly signal: AbortSignal | undefined;
  /** Whether the pieces come when they came, and not at once. */
  readonly timed: boolean;
  readonly more: More<Response>;
}

/** Makes the response that was recorded. */
export function replayResponse(
  recorded: RecordedResponse,
  { stream = {} }: CallMeta,
  options: ReplayOptions,
): Response | Promise<Response> {
  if (!options.timed) return responseOf(recorded, stream, options);
  const until = untilAfter(performance.now(), options.signal);
  return until(stream.startMs ?? 0).then(() => responseOf(recorded, stream, options, until));
}

type Stream = NonNullable<CallMeta["stream"]>;

/** @param until absent: all pieces of the body come at once. */
function responseOf(
  recorded: RecordedResponse,
  stream: Stream,
  { url, signal, more }: ReplayOptions,
  until?: Until,
): Response {
  const { continue: continueCall } = more;
  signal?.throwIfAborted();
  const { status, statusText = "", body, end } = recorded;
  // A program can make one of status 0 in no other way.
  if (status === 0) return Response.error();
  const init = { status, statusText, headers: replayedHeaders(recorded, stream) };
  const origin = { url: recorded.url ?? url, redirected: recorded.url !== undefined };
  if (body === undefined) return withOrigin(new Response(null, init), origin);
  const open = (): ReadableStream<Uint8Array> => {
    const bytes = bodyBytes(body);
    return replayStream(pieces(bytes, stream.chunks ?? []), {
      // An empty body is at its end when it has come: no abort changes that.
      signal: bytes.length === 0 && end === undefined ? undefined : signal,
      end,
      call: url,
      until,
      ...more,
      continue: continueCall && (async () => (await continueCall()).body as ReadableStream<Uint8Array>),
    });
  };
  if ("json" in body && end === undefined && until === undefined) {
    const { ended, dropped } = more;
    return jsonResponse(init, { json: body.json, signal, open, ended, dropped }, origin);
  }
  return withOrigin(new Response(open(), init), origin);
}

function replayedHeaders({ status, headers }: RecordedResponse, stream: Stream): HeaderList {
  const all = [...headers, ...(stream.headers ?? [])];
  if ((stream.attempt ?? 0) === 0 || status < 400) return all;
  // Its client had tried again in vain: it need not do so again, and wait.
  return [...all.filter(([name]) => name !== "x-should-retry"), ["x-should-retry", "false"]];
}

/** The body in the pieces in which it came; in one, where that is not known or does not fit any more. */
function pieces(body: Uint8Array, sizes: readonly (readonly [size: number, atMs: number])[]): Piece<Uint8Array>[] {
  const total = sizes.reduce((sum, [size]) => sum + size, 0);
  if (total !== body.length) return body.length === 0 ? [] : [[body, sizes.at(-1)?.[1] ?? 0]];
  let at = 0;
  return sizes.map(([size, atMs]): Piece<Uint8Array> => [body.slice(at, (at += size)), atMs]);
}
