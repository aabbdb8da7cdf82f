// The headers of responses that are recorded. The others may contain keys and cookies.

import { received } from "../errors/received.js";

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
  "mcp-session-id",
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

/** Lower-case names of headers. */
export interface KeptHeaders {
  /** Request headers that count although they are volatile. */
  readonly request: ReadonlySet<string>;
  /** Response headers that are recorded. */
  readonly response: ReadonlySet<string>;
}

/**
 * Returns the headers that the options of an adapter name, and the response headers that are always recorded.
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
  return { request: new Set(names("requestHeaders")), response: new Set([...RESPONSE, ...names("responseHeaders")]) };
}

function isHeaderName(name: string): boolean {
  try {
    new Headers().has(name);
    return true;
  } catch {
    return false;
  }
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
