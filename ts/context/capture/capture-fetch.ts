// A fetch that captures every request to a model before it is sent.

import { getContext } from "../../runtime/scope/run-context.js";
import type { ModelCall } from "../../runtime/call/observers.js";
import type { BoundaryFacts, WireRequest } from "./boundary-types.js";
import { DocumentContent } from "../request/content.js";
import { JsonText } from "../request/json-text.js";
import { currentFacts, modelName, type Capture } from "./run-observer.js";

export type Fetch = typeof globalThis.fetch;

export interface CaptureFetchOptions {
  /**
   * Returns true if a request with a JSON body goes to a model. By default: a body with `messages`, with `contents`, or
   * with `input` if the path ends in `/responses`. Requests that only count tokens are excluded.
   */
  readonly isBoundary?: (request: { readonly url: URL; readonly method: string; readonly body: string }) => boolean;
}

interface Capturing {
  readonly capture: Capture;
  readonly captured: (call: ModelCall) => void;
  readonly report: (error: unknown) => void;
}

/** Header in which OpenAI and Anthropic clients send the number of earlier attempts. */
const RETRY_HEADER = "x-stainless-retry-count";

export function capturingFetch(capturing: Capturing, fetch: Fetch | undefined, options: CaptureFetchOptions): Fetch {
  const attempts = new Attempts();
  return async (input, init) => {
    const send = fetch ?? globalThis.fetch;
    let seen: Seen | undefined;
    try {
      seen = await see(input, init, options);
    } catch (error) {
      // If the request is invalid, the client's own fetch reports the error.
      capturing.report(error);
    }
    if (seen === undefined) return send(input, init);
    const { call, facts } = currentFacts();
    if (call !== undefined) capturing.captured(call);
    const waiting = capturing.capture(seen.content, {
      ...contextFacts(),
      ...facts,
      source: "wire",
      model: seen.model,
      attempt: attempts.next(call, seen.headers, seen.content.document.bytes),
      wire: seen.wire,
    });
    if (waiting !== undefined) await waiting;
    return send(input, init);
  };
}

/** The agent that the code runs in, for requests outside of model calls. */
function contextFacts(): Partial<BoundaryFacts> {
  const context = getContext();
  if (context === undefined) return {};
  const { agentId, trace } = context;
  return { traceId: trace.traceId, spanId: trace.spanId, ...(agentId === "" ? {} : { agentName: agentId }) };
}

interface Seen {
  readonly content: DocumentContent;
  readonly headers: Headers;
  readonly model: string;
  readonly wire: WireRequest;
}

async function see(
  input: Parameters<Fetch>[0],
  init: Parameters<Fetch>[1],
  { isBoundary }: CaptureFetchOptions,
): Promise<Seen | undefined> {
  const request = input instanceof Request ? input : undefined;
  const method = (init?.method ?? request?.method ?? "GET").toUpperCase();
  if (method !== "POST") return undefined;
  const url = new URL(input instanceof Request ? input.url : input);
  const bytes = await bodyBytes(request, init?.body);
  if (bytes === undefined || !looksLikeObject(bytes)) return undefined;
  const content = new DocumentContent(JsonText.ofBytes(bytes, true));
  const isSeen =
    isBoundary === undefined ? isModelRequest(url, content) : isBoundary({ url, method, body: bytes.toString("utf8") });
  if (!isSeen) return undefined;
  const headers = new Headers(init?.headers ?? request?.headers);
  return {
    content,
    headers,
    model: modelName(content.parameters.value) ?? "",
    wire: Object.freeze({ method, url: publicUrl(url), headers: publicHeaders(headers) }),
  };
}

function isModelRequest({ pathname }: URL, content: DocumentContent): boolean {
  if (/[/:]count_?tokens$/i.test(pathname)) return false;
  const name = messagesName(content);
  return name === "messages" || name === "contents" || (name === "input" && pathname.endsWith("/responses"));
}

function messagesName(content: DocumentContent): string | undefined {
  try {
    return content.messagesName;
  } catch {
    return undefined;
  }
}

/** The bytes of a body as they are sent. `undefined` for streams, forms and URL parameters. */
async function bodyBytes(request: Request | undefined, body: unknown): Promise<Buffer | undefined> {
  if (body === undefined || body === null) {
    return request?.body == null ? undefined : Buffer.from(await request.clone().arrayBuffer());
  }
  if (typeof body === "string") return Buffer.from(body, "utf8");
  if (body instanceof ArrayBuffer) return Buffer.from(body.slice(0));
  if (ArrayBuffer.isView(body))
    return Buffer.copyBytesFrom(new Uint8Array(body.buffer, body.byteOffset, body.byteLength));
  if (body instanceof Blob) return Buffer.from(await body.arrayBuffer());
  return undefined;
}

const WHITE_SPACE = new Set([0x20, 0x09, 0x0a, 0x0d]);

function looksLikeObject(bytes: Buffer): boolean {
  return bytes[bytes.findIndex((byte) => !WHITE_SPACE.has(byte))] === 0x7b;
}

/** Numbers the attempts at one request: by the client's own count, else by equal bodies in the same model call. */
class Attempts {
  readonly #last = new WeakMap<ModelCall, { readonly body: Buffer; readonly attempt: number }>();

  next(call: ModelCall | undefined, headers: Headers, body: Buffer): number {
    const retries = Number(headers.get(RETRY_HEADER) ?? Number.NaN);
    if (Number.isInteger(retries) && retries >= 0) return retries + 1;
    if (call === undefined) return 1;
    const last = this.#last.get(call);
    const attempt = last?.body.equals(body) === true ? last.attempt + 1 : 1;
    this.#last.set(call, { body, attempt });
    return attempt;
  }
}

/** Headers that are needed to understand a request and never contain a secret. */
const KEPT = ["accept", "anthropic-beta", "anthropic-version", "content-type", "openai-beta"];
const SECRET = /key|token|secret|sig|password|code|credential/i;

function publicHeaders(headers: Headers): Readonly<Record<string, string>> {
  const kept: Record<string, string> = {};
  for (const name of KEPT) {
    const value = headers.get(name);
    if (value !== null) kept[name] = value;
  }
  return Object.freeze(kept);
}

/** Removes the user, the password, and parameters whose names suggest a secret. */
function publicUrl(url: URL): string {
  const copy = new URL(url);
  copy.username = "";
  copy.password = "";
  const secret = [...copy.searchParams].filter(([name]) => SECRET.test(name));
  for (const [name] of secret) copy.searchParams.delete(name);
  return copy.href;
}
