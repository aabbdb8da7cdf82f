// Only the listed headers are hashed and recorded. The others may contain keys and cookies.

import { received } from "../errors/received.js";

/** Request headers that the answer depends on. */
const REQUEST = ["accept", "anthropic-beta", "anthropic-version", "content-type", "openai-beta"];

/** Response headers that are equal in equal responses. */
const RESPONSE = [
  "cache-control",
  "connection",
  "content-disposition",
  "content-encoding",
  "content-language",
  "content-length",
  "content-type",
  "etag",
  "keep-alive",
  "last-modified",
  "link",
  "location",
  "openai-version",
  "retry-after",
  "retry-after-ms",
  "transfer-encoding",
  "vary",
  "x-should-retry",
];

/** Response headers that differ between equal responses. They are recorded in `meta`, so that equal answers stay equal. */
const CHANGING = new Set(["age", "date", "request-id", "server-timing", "x-request-id"]);
const CHANGING_PATTERN = /(?:^|-)ratelimit-|-processing-ms$/;

export type HeaderList = [name: string, value: string][];

/** The lower-case names of the headers that are recorded. */
export interface KeptHeaders {
  readonly request: readonly string[];
  readonly response: ReadonlySet<string>;
}

/**
 * Returns the headers to record: the default ones, and those of the options of an adapter.
 *
 * @param apiName the adapter, for errors.
 * @throws TypeError if an option is not an array of header names.
 */
export function keptHeaders(
  apiName: string,
  options: { readonly requestHeaders?: readonly string[]; readonly responseHeaders?: readonly string[] } = {},
): KeptHeaders {
  const names = (option: "requestHeaders" | "responseHeaders"): string[] => {
    const list: unknown = options[option] ?? [];
    const path = `${apiName}: options.${option}`;
    if (!Array.isArray(list))
      throw new TypeError(`${path} must be an array of header names, received ${received(list)}`);
    return list.map((name: unknown, index) => {
      if (typeof name === "string" && isHeaderName(name)) return name.toLowerCase();
      throw new TypeError(`${path}[${index}] must be a header name, received ${received(name)}`);
    });
  };
  // Sorted, like the headers of a Headers object.
  const request = [...new Set([...REQUEST, ...names("requestHeaders")])].toSorted();
  return { request, response: new Set([...RESPONSE, ...names("responseHeaders")]) };
}

function isHeaderName(name: string): boolean {
  try {
    new Headers().has(name);
    return true;
  } catch {
    return false;
  }
}

/** The headers for the request of a call, by name. Removes the boundary of a multipart body, which is random. */
export function requestHeaders(headers: Headers, { request }: KeptHeaders): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const name of request) {
    const value = headers.get(name);
    if (value !== null) kept[name] = name === "content-type" ? value.replace(/;\s*boundary=[^;]*/i, "") : value;
  }
  return kept;
}

/** The headers of a response: `kept` for the answer, `changing` for `meta.stream.headers`. All others are dropped. */
export function responseHeaders(
  headers: Headers,
  { response }: KeptHeaders = DEFAULTS,
): { kept: HeaderList; changing: HeaderList } {
  const all = [...headers];
  return {
    kept: all.filter(([name]) => response.has(name)),
    changing: all.filter(([name]) => !response.has(name) && (CHANGING.has(name) || CHANGING_PATTERN.test(name))),
  };
}

/**
 * Lets a client send a replayed request again without its pause. This is the only header that a replay changes.
 * One millisecond, because clients read 0 as "no value": OpenAI's then prefers `retry-after`, Anthropic's its own pause.
 */
export function withoutPause(headers: Headers): Headers {
  headers.set("retry-after-ms", "1");
  return headers;
}

const DEFAULTS = keptHeaders("responseHeaders");
