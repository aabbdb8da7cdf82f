import type { CallMeta } from "../types/snapshot.js";
import {
  Tap,
  withoutPause,
  failureInStream,
  incompleteStream,
  millisecondsSince,
  recordedTiming,
  replayStream,
  responseHeaders,
  type AnsweredFailure,
  type HeaderList,
  type IncompleteAnswer,
  type KeptHeaders,
  type RestOfAnswer,
  type StreamEnd,
  type StreamedAnswer,
  type Tapped,
  type TimedChunk,
  type WaitUntil,
} from "../integration/index.js";
import { jsonResponse, withOrigin } from "./json-response.js";
import { hasEndMark } from "./end-marks.js";
import { bodyBytes, recordBody, withoutCutWord, type RecordedBody } from "./recorded-body.js";

/** A response as it is journaled. Headers that differ between equal responses are in the entry's `meta`. */
export interface RecordedResponse {
  status: number;
  statusText?: string;
  headers: HeaderList;
  /** The final URL of a redirected request. */
  url?: string;
  /** Absent if the response has no body. */
  body?: RecordedBody;
  /** Absent if the body was read to its end. */
  end?: StreamEnd;
}

interface RecordOptions {
  readonly url: string;
  readonly signal: AbortSignal;
  readonly startedAt: number;
  readonly keep: KeptHeaders;
  /** The number of earlier attempts. */
  readonly attempt: number | undefined;
  readonly journaled: () => Promise<void>;
  readonly endedCalls: () => number;
  /** True if the recording is redacted. */
  readonly redacted: boolean;
  readonly noteReaders: boolean;
  /** The head that the program already received, if the request is sent again for its body. */
  readonly before: RecordedResponse | undefined;
}

/** Passes a response to the program and records its body while the program reads it. */
export function recordResponse(
  response: Response,
  { url, signal, startedAt, keep, attempt = 0, journaled, endedCalls, redacted, noteReaders, before }: RecordOptions,
): StreamedAnswer<Response, RecordedResponse> {
  const startMs = millisecondsSince(startedAt);
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
  // The constructor of Response refuses a status below 200.
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
  const body = new Tap(source as ReadableStream<Uint8Array>, {
    startedAt,
    signal,
    journaled,
    endedCalls,
    noteReaders,
    copy,
    size,
  });
  // A request that is sent again for its body keeps the recorded status.
  const answer = new Response(body.open(), before === undefined ? response : { status: before.status });
  const recorded = ({ chunks, end }: Tapped<Uint8Array>): RecordedResponse => {
    const bytes = Buffer.concat(chunks);
    // Clients need not read on after the end mark.
    const isWhole = end === undefined || ((end === "open" || end === "left") && hasEndMark(bytes, head.headers));
    if (isWhole) return { ...head, body: recordBody(bytes) };
    return { ...head, body: recordBody(redacted ? withoutCutWord(bytes) : bytes), end };
  };
  const meta = (): CallMeta => ({ stream: { ...stream, chunks: body.sizes } });
  return { answer: withOrigin(answer, response), recorder: body.recorder(recorded, meta) };
}

/** The body of a request that was sent again. The program already has the recorded head. */
function bodyUnder({ status }: RecordedResponse, response: Response, url: string): Response["body"] {
  if (response.status === status) return response.body ?? new Response("").body;
  response.body?.cancel().catch(() => {});
  // The failure has passed. The program handles it by its status, as when it was recorded.
  if (status >= 400) return new Response("").body;
  const message = `${url}: the recorded status is ${status}, but the request that was sent again for the body returned status ${response.status}`;
  return new ReadableStream({ start: (controller) => controller.error(new TypeError(message)) });
}

/** A response whose body fails. The program already has the head, so only reading the body can fail. */
export function failedBody({ status }: RecordedResponse, error: unknown): Response {
  return new Response(new ReadableStream({ start: (controller) => controller.error(error) }), { status });
}

/** An error status and a body that fails are journaled as failures, so that the retry rule applies to them. */
export function failureIn({ status, statusText = "", body, end }: RecordedResponse): AnsweredFailure | undefined {
  if (status < 400) return failureInStream(end);
  return {
    name: "HttpStatusError",
    message: `${status} ${statusText}`.trimEnd(),
    ...(body === undefined ? {} : { answer: { status, body: new TextDecoder().decode(bodyBytes(body)) } }),
  };
}

export function headOf(recorded: RecordedResponse | undefined): RecordedResponse | undefined {
  if (recorded === undefined) return undefined;
  const { body: _body, end: _end, ...head } = recorded;
  return head;
}

/** A request whose body was arriving is restarted. If only the head had arrived, the program keeps that head. */
export function incompleteAnswer({ end, body }: RecordedResponse): IncompleteAnswer | undefined {
  const isHead = end === "open" && (body === undefined || bodyBytes(body).length === 0);
  return isHead ? "continueOnRead" : incompleteStream(end);
}

export interface ReplayOptions {
  readonly url: string;
  readonly signal: AbortSignal | undefined;
  /** True to deliver the chunks at their recorded times. */
  readonly timed: boolean;
  readonly rest: RestOfAnswer<Response>;
}

/** Recreates a recorded response. */
export function replayResponse(
  recorded: RecordedResponse,
  { stream = {} }: CallMeta,
  options: ReplayOptions,
): Response | Promise<Response> {
  if (!options.timed) return responseOf(recorded, stream, options);
  const until = recordedTiming(performance.now(), options.signal);
  return until(stream.startMs ?? 0).then(() => responseOf(recorded, stream, options, until));
}

type Stream = NonNullable<CallMeta["stream"]>;

/** @param until absent: the body is delivered without delays. */
function responseOf(
  recorded: RecordedResponse,
  stream: Stream,
  { url, signal, rest }: ReplayOptions,
  until?: WaitUntil,
): Response {
  const { continue: continueCall, askedAgain } = rest;
  signal?.throwIfAborted();
  const { status, statusText = "", body, end } = recorded;
  // The only way to create a response of status 0.
  if (status === 0) return Response.error();
  const recordedHeaders = new Headers([...recorded.headers, ...(stream.headers ?? [])]);
  const headers = askedAgain === true && until === undefined ? withoutPause(recordedHeaders) : recordedHeaders;
  const init = { status, statusText, headers };
  const origin = { url: recorded.url ?? url, redirected: recorded.url !== undefined };
  if (body === undefined) return withOrigin(new Response(null, init), origin);
  let readsAll = false;
  const open = (): ReadableStream<Uint8Array> => {
    const bytes = bodyBytes(body);
    return replayStream(chunksOf(bytes, stream.chunks ?? []), {
      // An empty body is complete at once, so an abort cannot change it.
      signal: bytes.length === 0 && end === undefined ? undefined : signal,
      end,
      call: url,
      until,
      readsAll: () => readsAll,
      ...rest,
      continue: continueCall && (async () => (await continueCall()).body as ReadableStream<Uint8Array>),
    });
  };
  if ("json" in body && end === undefined && until === undefined) {
    const { ended, dropped } = rest;
    return jsonResponse(init, { json: body.json, signal, open, ended, dropped }, origin);
  }
  const response = withOrigin(new Response(open(), init), origin);
  return end === "left" ? watchReaders(response, () => (readsAll = true)) : response;
}

/** Calls `onRead` when the program calls a method that reads the whole body. */
function watchReaders(response: Response, onRead: () => void): Response {
  const methods = response as unknown as Readonly<Record<string, (() => Promise<unknown>) | undefined>>;
  for (const name of ["arrayBuffer", "blob", "bytes", "formData", "json", "text"]) {
    const read = methods[name];
    const value = (): Promise<unknown> | undefined => {
      onRead();
      return read?.call(response);
    };
    if (read !== undefined) Object.defineProperty(response, name, { value, configurable: true, writable: true });
  }
  return response;
}

/** Splits the body into its recorded chunks. It is one chunk if the sizes are unknown or, after an edit, do not fit. */
function chunksOf(
  body: Uint8Array,
  sizes: readonly (readonly [size: number, atMs: number])[],
): TimedChunk<Uint8Array>[] {
  const total = sizes.reduce((sum, [size]) => sum + size, 0);
  if (total !== body.length) return body.length === 0 ? [] : [[body, sizes.at(-1)?.[1] ?? 0]];
  let at = 0;
  return sizes.map(([size, atMs]): TimedChunk<Uint8Array> => [body.slice(at, (at += size)), atMs]);
}
