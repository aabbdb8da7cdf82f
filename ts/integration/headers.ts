// Which headers are hashed and recorded. All others are neither: that is where keys and cookies are.

import { received } from "../errors/received.js";

/** Of a request: what its answer depends on. */
const REQUEST = ["accept", "anthropic-beta", "anthropic-version", "content-type", "openai-beta"];

/** Of a response: what is the same each time. */
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

/** Of a response: what differs from time to time. It is kept beside the answer, so that equal answers are equal. */
const CHANGING = new Set(["age", "date", "request-id", "server-timing", "x-request-id"]);
const CHANGING_PATTERN = /(?:^|-)ratelimit-|-processing-ms$/;

export type HeaderList = [name: string, value: string][];

/** Names of headers, in lower case. */
export interface KeptHeaders {
  readonly request: readonly string[];
  readonly response: ReadonlySet<string>;
}

/**
 * Those that are kept, and those that a program wants kept too.
 * @throws TypeError for what cannot be the names of headers.
 */
export function keptHeaders(
  moreOfRequests: readonly string[] = [],
  moreOfResponses: readonly string[] = [],
): KeptHeaders {
  // In the order of their names, as Headers gives them.
  const request = [...new Set([...REQUEST, ...names(moreOfRequests, "requestHeaders")])].toSorted();
  return { request, response: new Set([...RESPONSE, ...names(moreOfResponses, "responseHeaders")]) };
}

function names(list: unknown, option: string): string[] {
  if (!Array.isArray(list)) {
    throw new TypeError(
      `rewindFetch: options.${option} must be an array of names of headers, received ${received(list)}`,
    );
  }
  return list.map((name: unknown, index) => {
    if (typeof name === "string" && isHeaderName(name)) return name.toLowerCase();
    throw new TypeError(
      `rewindFetch: options.${option}[${index}] must be the name of a header, received ${received(name)}`,
    );
  });
}

function isHeaderName(name: string): boolean {
  try {
    new Headers().has(name);
    return true;
  } catch {
    return false;
  }
}

/** Those of a request that count, by name. The boundary of a multipart body is drawn at random. */
export function requestHeaders(headers: Headers, { request }: KeptHeaders): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const name of request) {
    const value = headers.get(name);
    if (value !== null) kept[name] = name === "content-type" ? value.replace(/;\s*boundary=[^;]*/i, "") : value;
  }
  return kept;
}

export function responseHeaders(
  headers: Headers,
  { response }: KeptHeaders = ALWAYS,
): { kept: HeaderList; changing: HeaderList } {
  const all = [...headers];
  return {
    kept: all.filter(([name]) => response.has(name)),
    changing: all.filter(([name]) => !response.has(name) && (CHANGING.has(name) || CHANGING_PATTERN.test(name))),
  };
}

const ALWAYS = keptHeaders();
