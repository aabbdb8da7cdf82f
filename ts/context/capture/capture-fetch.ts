// A fetch that shows every request to a model before it leaves.

import { getContext } from "../../runtime/scope/run-context.js";
import type { ModelCall } from "../../runtime/call/observers.js";
import type { BoundaryFacts, WireRequest } from "./boundary-types.js";
import { DocumentContent } from "../request/content.js";
import { JsonText } from "../request/json-text.js";
import { currentFacts, modelName, type Capture } from "./run-observer.js";

export type Fetch = typeof globalThis.fetch;

export interface CaptureFetchOptions {
  /**
   * Whether a request with a JSON body goes to a model; by default one with `messages` (or `contents`, or, to a path
   * that ends in `/responses`, `input`), unless it only counts tokens.
   */
  readonly isBoundary?: (request: { readonly url: URL; readonly method: string; readonly body: string }) => boolean;
}

interface Capturing {
  readonly capture: Capture;
  readonly captured: (call: ModelCall) => void;
  readonly report: (error: unknown) => void;
}

/** How often a client says that it has tried before. */
const RETRY_HEADER = "x-stainless-retry-count";

export function capturingFetch(capturing: Capturing, fetch: Fetch | undefined, options: CaptureFetchOptions): Fetch {
  const attempts = new Attempts();
  return async (input, init) => {
    const send = fetch ?? globalThis.fetch;
    let seen: Seen | undefined;
    try {
      seen = await see(input, init, options);
    } catch (error) {
      // A request that cannot be read is for the client to fail with.
      capturing.report(error);
    }
    if (seen === undefined) return send(input, init);
    const { call, facts } = currentFacts();
    if (call !== undefined) capturing.captured(call);
    const told = capturing.capture(seen.content, {
      ...contextFacts(),
      ...facts,
      source: "wire",
      model: seen.model,
      attempt: attempts.next(call, seen.headers, seen.content.document.bytes),
      wire: seen.wire,
    });
    if (told !== undefined) await told;
    return send(input, init);
  };
}

/** Outside of model calls, the agent that the code runs in. */
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

/** None of what is not JSON. */
function messagesName(content: DocumentContent): string | undefined {
  try {
    return content.messagesName;
  } catch {
    return undefined;
  }
}

/** The bytes that a body is sent as; `undefined` for one that comes as a stream, or is no text. */
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

/** Tells the attempts at one request apart: by the client's own count, else by the same body in the same model call. */
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

/** Headers that a request needs to be understood, and none of them holds a secret. */
const KEPT = ["accept", "anthropic-beta", "anthropic-version", "content-type", "openai-beta"];
const SECRET = /key|token|secret|sig|password|code|credential/i;

export function publicHeaders(headers: Headers): Readonly<Record<string, string>> {
  const kept: Record<string, string> = {};
  for (const name of KEPT) {
    const value = headers.get(name);
    if (value !== null) kept[name] = value;
  }
  return Object.freeze(kept);
}

/** Without the user, the password, and parameters that by their name hold a secret. */
export function publicUrl(url: URL): string {
  const copy = new URL(url);
  copy.username = "";
  copy.password = "";
  const secret = [...copy.searchParams].filter(([name]) => SECRET.test(name));
  for (const [name] of secret) copy.searchParams.delete(name);
  return copy.href;
}
