import { HttpRequest, readUrl, type KeptHeaders, type OlderRequest } from "../integration/index.js";
import { olderDocument, uncovered } from "./older-document.js";
import { readBody, type SentBody } from "./request-body.js";

/** A request, its document for the hash, and the arguments to send it. */
export interface ReadRequest {
  /** The `url` of its response. */
  readonly url: string;
  /** Absent if the URL has no host. */
  readonly host: string | undefined;
  readonly signal: AbortSignal | undefined;
  /** The number of earlier attempts, if the client reports it. */
  readonly attempt: number | undefined;
  readonly document: HttpRequest;
  readonly older: OlderRequest | undefined;
  /** The argument for fetch. A stream that was read for the hash is replaced by its bytes. */
  readonly init: RequestInit | undefined;
}

/** The first argument of `fetch`. */
export type FetchInput = string | URL | Request;

export interface ReadOptions {
  readonly keep: KeptHeaders;
  readonly credentials: boolean;
  /** True if a recording may need the document by older rules. */
  readonly older: boolean;
}

/** The flag of the current form of documents. */
export const WHOLE_REQUESTS = 7;

/** Returns a promise only if the body must be read first, so that calls start in the order of the requests. */
export function readRequest(
  input: FetchInput,
  init: RequestInit | undefined,
  options: ReadOptions,
): ReadRequest | Promise<ReadRequest> {
  const request = isRequest(input) ? input : undefined;
  const headers = new Headers(init?.headers ?? request?.headers);
  const text = isRequest(input) ? input.url : input.toString();
  const finish = (sent: SentBody): ReadRequest | Promise<ReadRequest> => {
    const method = sentMethod(init?.method ?? request?.method ?? "GET");
    const names = [...headers];
    if (sent.type !== undefined && !headers.has("content-type")) names.push(["content-type", sent.type]);
    const { keep, credentials } = options;
    const document = new HttpRequest(
      {
        method,
        url: text,
        headers: names,
        body: sent.content,
        bodyType: sent.form === undefined ? undefined : sent.type,
        redirect: init?.redirect ?? request?.redirect,
      },
      { credentials, counted: keep.request },
    );
    const { url, host } = readUrl(text);
    const read: ReadRequest = {
      url,
      host,
      signal: init?.signal ?? request?.signal,
      attempt: attemptOf(headers),
      document,
      older: undefined,
      init: sent.read === undefined ? init : { ...init, body: sent.read },
    };
    if (!options.older) return read;
    const withOlder = (older: object): ReadRequest => {
      const form = { flag: WHOLE_REQUESTS, request: older, uncovered: uncovered(document, older) };
      return { ...read, older: form };
    };
    const older = olderDocument({ method, url: text, headers, sent, listed: keep.request });
    return older instanceof Promise ? older.then(withOlder) : withOlder(older);
  };
  const sent = readBody(request, init);
  return sent instanceof Promise ? sent.then(finish) : finish(sent);
}

/** Also true for requests of other realms and implementations. */
function isRequest(input: FetchInput): input is Request {
  return typeof input === "object" && "url" in input && "headers" in input;
}

/** Fetch writes these methods in upper case, and sends others as they are. */
function sentMethod(given: { toString(): string }): string {
  const method = given.toString();
  return /^(?:delete|get|head|options|post|put)$/i.test(method) ? method.toUpperCase() : method;
}

function attemptOf(headers: Headers): number | undefined {
  const count = headers.get("x-stainless-retry-count");
  return count !== null && /^\d{1,6}$/.test(count) ? Number(count) : undefined;
}
