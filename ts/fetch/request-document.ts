import { createHash } from "node:crypto";

import { requestHeaders, type KeptHeaders } from "../integration/index.js";
import { readUrl } from "./request-url.js";

/** A request, its document for the hash, and the arguments to send it. */
export interface ReadRequest {
  /** The `url` of its response. */
  readonly url: string;
  /** Absent if the URL has no host. */
  readonly host: string | undefined;
  readonly signal: AbortSignal | undefined;
  /** The number of earlier attempts, if the client reports it. */
  readonly attempt: number | undefined;
  readonly document: object;
  /** The argument for fetch. A stream that was read for the hash is replaced by its bytes. */
  readonly init: RequestInit | undefined;
}

/** The first argument of `fetch`. */
export type FetchInput = string | URL | Request;

/** Returns a promise only if the body must be read first, so that calls start in the order of the requests. */
export function readRequest(
  input: FetchInput,
  init: RequestInit | undefined,
  keep: KeptHeaders,
): ReadRequest | Promise<ReadRequest> {
  const request = isRequest(input) ? input : undefined;
  const headers = new Headers(init?.headers ?? request?.headers);
  const { url, host, shown: shownUrl } = readUrl(isRequest(input) ? input.url : input.toString());
  const sent = bodyOf(request, init);
  if (!headers.has("content-type") && sent.type !== undefined) headers.set("content-type", sent.type);
  const type = headers.get("content-type") ?? "";
  const finish = ({ shown, body }: Described): ReadRequest => ({
    url,
    host,
    signal: init?.signal ?? request?.signal,
    attempt: attemptOf(headers),
    document: {
      method: asText(init?.method ?? request?.method ?? "GET").toUpperCase(),
      url: shownUrl,
      headers: requestHeaders(headers, keep),
      ...(shown === undefined ? {} : { body: shown }),
    },
    init: body === undefined ? init : { ...init, body },
  });
  const described = describe(sent.body, type);
  return described instanceof Promise ? described.then(finish) : finish(described);
}

/** Also true for requests of other realms and implementations. */
function isRequest(input: FetchInput): input is Request {
  return typeof input === "object" && "url" in input && "headers" in input;
}

function attemptOf(headers: Headers): number | undefined {
  const count = headers.get("x-stainless-retry-count");
  return count !== null && /^\d{1,6}$/.test(count) ? Number(count) : undefined;
}

interface Described {
  /** The body in the document: JSON, a text, or the hash of other bytes. */
  readonly shown: unknown;
  readonly body?: NonNullable<RequestInit["body"]>;
}

function bodyOf(request: Request | undefined, init: RequestInit | undefined): { body: unknown; type?: string } {
  const body: unknown = init?.body;
  if (body == null) return { body: request?.body == null ? undefined : request.clone().body };
  if (body instanceof URLSearchParams) return { body: body.toString(), type: "application/x-www-form-urlencoded" };
  if (typeof body === "string") return { body, type: "text/plain" };
  if (body instanceof Blob) return { body, type: body.type };
  if (body instanceof FormData) return { body, type: "multipart/form-data" };
  const isRead = body instanceof ArrayBuffer || ArrayBuffer.isView(body) || isAsyncIterable(body);
  // Like fetch, convert everything else to a string.
  return isRead ? { body } : { body: asText(body), type: "text/plain" };
}

/** JavaScript callers may pass any value. */
function asText(value: { toString(): string }): string {
  return String(value);
}

function isAsyncIterable(body: unknown): boolean {
  return typeof body === "object" && body !== null && Symbol.asyncIterator in body;
}

function describe(body: unknown, type: string): Described | Promise<Described> {
  if (body === undefined) return { shown: undefined };
  if (typeof body === "string") return { shown: shownText(body, type) };
  if (body instanceof FormData) return describeForm(body);
  if (body instanceof Blob) return body.arrayBuffer().then((bytes) => describeBytes(Buffer.from(bytes), type));
  if (body instanceof ArrayBuffer) return describeBytes(Buffer.from(body), type);
  if (ArrayBuffer.isView(body)) {
    return describeBytes(Buffer.from(body.buffer, body.byteOffset, body.byteLength), type);
  }
  return describeStream(body as AsyncIterable<Uint8Array | string>, type);
}

/** A stream can be read only once, so the bytes that were read are sent. */
async function describeStream(stream: AsyncIterable<Uint8Array | string>, type: string): Promise<Described> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(Buffer.from(chunk as Uint8Array));
  const bytes = Buffer.concat(chunks);
  const { shown } = await describeBytes(bytes, type);
  return { shown, body: bytes };
}

function describeBytes(bytes: Buffer, type: string): Described | Promise<Described> {
  if (/^multipart\/form-data/i.test(type)) return describeMultipart(bytes, type);
  if (/json|^text\/|x-www-form-urlencoded/i.test(type)) {
    const text = bytes.toString("utf8");
    if (Buffer.from(text).equals(bytes)) return { shown: shownText(text, type) };
  }
  return { shown: digest(bytes) };
}

async function describeMultipart(bytes: Buffer, type: string): Promise<Described> {
  try {
    const form = await new Response(bytes, { headers: { "content-type": type } }).formData();
    const { shown } = await describeForm(form);
    return { shown };
  } catch {
    return { shown: digest(bytes) };
  }
}

async function describeForm(form: FormData): Promise<Described> {
  const parts = [...form].map(async ([name, value]): Promise<object> => {
    if (typeof value === "string") return { name, value };
    const bytes = Buffer.from(await value.arrayBuffer());
    return { name, file: value.name, type: value.type, ...digest(bytes) };
  });
  return { shown: { form: await Promise.all(parts) } };
}

function digest(bytes: Buffer): { bytes: number; sha256: string } {
  return { bytes: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") };
}

function shownText(text: string, type: string): unknown {
  // Some clients send JSON with another content type.
  if (!/json/i.test(type) && !/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
