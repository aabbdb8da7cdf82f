// Which headers are hashed and recorded. All others are neither: that is where keys and cookies are.

/** Of a request: what its answer depends on. */
const REQUEST = new Set(["accept", "anthropic-beta", "anthropic-version", "content-type", "openai-beta"]);

/** Of a response: what is the same each time. */
const RESPONSE = new Set([
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
]);

/** Of a response: what differs from time to time. It is kept beside the answer, so that equal answers are equal. */
const CHANGING = new Set(["age", "date", "request-id", "server-timing", "x-request-id"]);
const CHANGING_PATTERN = /(?:^|-)ratelimit-|-processing-ms$/;

export type HeaderList = [name: string, value: string][];

export interface ExtraHeaders {
  readonly request: ReadonlySet<string>;
  readonly response: ReadonlySet<string>;
}

/** Those of a request that count, by name. The boundary of a multipart body is drawn at random. */
export function requestHeaders(headers: Headers, { request }: ExtraHeaders): Record<string, string> {
  const kept = [...headers].filter(([name]) => REQUEST.has(name) || request.has(name));
  return Object.fromEntries(
    kept.map(([name, value]) => [name, name === "content-type" ? value.replace(/;\s*boundary=[^;]*/i, "") : value]),
  );
}

export function responseHeaders(
  headers: Headers,
  { response }: ExtraHeaders,
): { kept: HeaderList; changing: HeaderList } {
  const all = [...headers];
  const isKept = (name: string): boolean => RESPONSE.has(name) || response.has(name);
  return {
    kept: all.filter(([name]) => isKept(name)),
    changing: all.filter(([name]) => !isKept(name) && (CHANGING.has(name) || CHANGING_PATTERN.test(name))),
  };
}
