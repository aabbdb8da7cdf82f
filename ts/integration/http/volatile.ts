// The parts of a request that do not count: the published list. docs/fetch.md prints it.

/** Parts of requests that differ between equal requests. Names are in lower case, `*` stands for any characters. */
export interface VolatileParts {
  /** Names of headers. */
  readonly headers: readonly string[];
  /** Values that a layer adds to a header if the program sets none. */
  readonly defaults: Readonly<Record<string, readonly string[]>>;
  /** Names of URL parameters. */
  readonly parameters: readonly string[];
  /** Names of headers with credentials that only say who pays. They count with `credentials: true`. */
  readonly credentials: readonly string[];
  /** Hosts whose URL parameter `key` is such a credential. */
  readonly keyHosts: readonly string[];
}

const names = (text: string): string[] => text.split(" ");

/** The parts of HTTP requests that are not part of their documents. Everything else is. */
export const VOLATILE_PARTS: VolatileParts = {
  headers: [
    // Versions of the client and of Node, and the machine.
    ...names("user-agent x-user-agent x-stainless-* x-fern-* x-goog-api-client x-firebase-client"),
    ...names("x-amz-user-agent x-ms-useragent x-openai-client-user-agent x-client-info x-elastic-client-meta"),
    ...names("x-stripe-client-* sec-ch-ua* ai-o11y-*"),
    // The connection, and layers on the way: fetch, node:http, HTTP/2, proxies.
    ...names("host connection keep-alive proxy-connection proxy-authorization transfer-encoding te"),
    ...names("trailer upgrade http2-settings expect priority content-length accept-encoding date"),
    ...names("sec-fetch-* upgrade-insecure-requests via forwarded x-forwarded-* x-real-ip"),
    // Signatures, and what is made for them.
    ...names("amz-sdk-* x-amz-date x-amz-content-sha256 x-amz-checksum-* x-amz-sdk-checksum-algorithm"),
    ...names("signature signature-input content-digest content-md5 digest x-ms-date x-date"),
    ...names("x-content-sha256 x-acs-date x-acs-content-sha256 x-acs-signature-nonce x-tc-timestamp"),
    // Traces, and ids of single requests.
    ...names("traceparent tracestate baggage sentry-trace b3 x-b3-* uber-trace-id uberctx-*"),
    ...names("x-cloud-trace-context grpc-trace-bin x-amzn-trace-id x-datadog-* newrelic x-newrelic-*"),
    ...names("elastic-apm-traceparent x-ot-span-context ot-tracer-* x-instana-* x-dynatrace x-dynatrace-*"),
    ...names("x-honeycomb-trace correlation-context request-context request-id x-request-id correlation-id"),
    ...names("x-correlation-id x-client-request-id x-ms-client-request-id x-trace-id x-span-id"),
    // Made for each call that is sent.
    ...names("idempotency-key x-idempotency-key"),
  ],
  defaults: {
    accept: ["*/*"],
    "accept-language": ["*"],
    "cache-control": ["no-cache", "max-age=0"],
    pragma: ["no-cache"],
    cookie: [""],
  },
  parameters: [
    ...names("x-amz-date x-amz-signature x-amz-credential x-amz-security-token"),
    ...names("x-goog-date x-goog-signature x-goog-credential x-algolia-agent"),
  ],
  credentials: [
    ...names("authorization api-key apikey *-api-key ocp-apim-subscription-key x-rapidapi-key"),
    ...names("x-subscription-token x-amz-security-token x-firebase-appcheck helicone-auth cf-aig-authorization"),
  ],
  keyHosts: ["googleapis.com", "*.googleapis.com"],
};

const SECRET_NAME =
  /(?:^|[-_.])(?:key|api-?key|token|secret|password|passwd|pwd|cookie|session|session-?id|credentials?|signature|sig|auth|jwt)$/;
const SECRET_VALUE =
  /^(?:bearer|basic|token|apikey) +\S|\bsk-[\w-]{16}|\beyJ[\w-]{8,}\.[\w-]+\.|\b(?:gh[pousr]|xox[abprs])[-_]\w{10}|\bAKIA[0-9A-Z]{16}/i;

/** How a header or parameter counts: not at all, only with `credentials: true`, by a digest, or by its value. */
export type PartClass = "volatile" | "credential" | "secret" | "plain";

const isVolatile = matcher(VOLATILE_PARTS.headers);
const isCredential = matcher(VOLATILE_PARTS.credentials);
const isVolatileParameter = matcher(VOLATILE_PARTS.parameters);
const isKeyHost = matcher(VOLATILE_PARTS.keyHosts);

/** Programs use few names, over and over. */
const classes = new Map<string, PartClass>();
const MOST_NAMES = 1_000;

/** @param name in lower case. */
export function classOfHeader(name: string): PartClass {
  let found = classes.get(name);
  if (found === undefined) {
    if (classes.size === MOST_NAMES) classes.clear();
    found = isCredential(name) ? "credential" : isVolatile(name) ? "volatile" : isSecretName(name) ? "secret" : "plain";
    classes.set(name, found);
  }
  return found;
}

export function classOfParameter(name: string, host: string): PartClass {
  const lower = name.toLowerCase();
  if (isVolatileParameter(lower)) return "volatile";
  if (lower === "key" && isKeyHost(host)) return "credential";
  return isSecretName(name) ? "secret" : "plain";
}

export function isSecretValue(value: string): boolean {
  return value.length >= 8 && SECRET_VALUE.test(value);
}

function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name.replace(/(?<=[a-z0-9])(?=[A-Z])/g, "-").toLowerCase());
}

function matcher(parts: readonly string[]): (name: string) => boolean {
  const patterns = parts.map((name) => name.replaceAll(".", "\\.").replaceAll("*", ".*"));
  const pattern = new RegExp(`^(?:${patterns.join("|")})$`);
  return (name) => pattern.test(name);
}
