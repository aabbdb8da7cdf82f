import { RequestDocument } from "../../runtime/call/request-document.js";
import { bodyMember } from "./body.js";
import { Secret, shown, type Digest } from "./secret-text.js";
import { readUrl } from "./url.js";
import { VOLATILE_PARTS, classOfHeader, isSecretValue } from "./volatile.js";

/** An HTTP request as a layer sends it. */
export interface SentRequest {
  readonly method: string;
  /** The whole URL. */
  readonly url: string;
  /** Names and values in their order. A name may repeat. */
  readonly headers: Iterable<readonly [name: string, value: string]>;
  readonly body?: string | Uint8Array | undefined;
  /** Overrides the header `content-type` for reading the body. */
  readonly bodyType?: string | undefined;
  /** How redirects are handled, if they are not followed. */
  readonly redirect?: string | undefined;
}

export interface RequestDocumentOptions {
  /** True if credentials count, by their digest. */
  readonly credentials?: boolean | undefined;
  /** Lower-case names of headers that count although they are on the list. */
  readonly counted?: ReadonlySet<string> | undefined;
}

/** The document of an HTTP request. It is the same whichever layer the request is read from. */
export class HttpRequest extends RequestDocument {
  /** The headers that count. */
  readonly headerNames: readonly string[];
  readonly hasSecretParameters: boolean;

  /**
   * @example
   * ```ts
   * import { HttpRequest, journaled } from "agent-rewind/integration";
   *
   * export const get = (url: string, headers: Record<string, string>): Promise<{ value: string }> =>
   *   journaled({
   *     kind: "http",
   *     name: new URL(url).host,
   *     request: new HttpRequest({ method: "GET", url, headers: Object.entries(headers) }),
   *     execute: async ({ signal }) => (await fetch(url, { headers, signal })).text(),
   *   });
   * ```
   */
  constructor(
    { method, url, headers, body = "", bodyType, redirect }: SentRequest,
    options: RequestDocumentOptions = {},
  ) {
    const { credentials = false } = options;
    const read = readUrl(url);
    const counted = countedHeaders(headers, options);
    const { value: type = "" } = counted.find(({ name }) => name === "content-type") ?? {};
    const kind = bodyType ?? (typeof type === "string" ? type : "");
    const content = bodyMember(body, kind, (list) => {
      const ofPart = countedHeaders(list, options);
      return (digest) => headersText(ofPart, digest);
    });
    const where = credentials ? read.withCredentials : read.counted;
    const how = redirect === "manual" || redirect === "error" ? `,"redirect":"${redirect}"` : "";
    super((digest) => {
      const head = `{"method":${JSON.stringify(method)},"url":${JSON.stringify(shown(where, digest))}`;
      return `${head},"headers":${headersText(counted, digest)}${how}${content(digest)}}`;
    });
    this.headerNames = counted.map(({ name }) => name);
    this.hasSecretParameters = typeof where !== "string";
  }
}

interface CountedHeader {
  readonly name: string;
  value: string | Secret;
}

/** The headers that count, sorted. Repeated ones are joined, as HTTP does it. */
function countedHeaders(
  headers: SentRequest["headers"],
  { credentials = false, counted }: RequestDocumentOptions,
): CountedHeader[] {
  const values = new Map<string, string>();
  for (const [anyCase, raw] of headers) {
    const name = anyCase.toLowerCase();
    const value = /^[\t ]|[\t ]$/.test(raw) ? raw.replace(/^[\t ]+|[\t ]+$/g, "") : raw;
    const found = classOfHeader(name);
    const isListed = counted?.has(name) === true;
    // HTTP/2 has the method and the URL among its headers.
    if (name.startsWith(":") || (found === "volatile" && !isListed)) continue;
    if (found === "credential" && !isListed && !credentials) continue;
    if (VOLATILE_PARTS.defaults[name]?.includes(value) === true && !isListed) continue;
    const before = values.get(name);
    values.set(name, before === undefined ? value : `${before}${name === "cookie" ? "; " : ", "}${value}`);
  }
  const sorted = [...values].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return sorted.map(([name, value]) => {
    const found = classOfHeader(name);
    const isSecret = found === "secret" || found === "credential" || isSecretValue(value);
    return { name, value: isSecret ? new Secret(value) : value };
  });
}

function headersText(headers: readonly CountedHeader[], digest: Digest): string {
  const members = headers.map(({ name, value }) => {
    const text = typeof value === "string" ? value : shown([value], digest);
    // The boundary of a multipart body is random.
    const kept = name === "content-type" ? text.replace(/;\s*boundary=(?:"[^"]*"|[^;]*)/i, "") : text;
    return `${JSON.stringify(name)}:${JSON.stringify(kept)}`;
  });
  return `{${members.join(",")}}`;
}
