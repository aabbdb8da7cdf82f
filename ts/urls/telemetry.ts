// Telemetry of frameworks. Its answers change nothing in the program, and its exporters send it in batches by time, so a
// replay would not find the same requests.

interface Telemetry {
  /** Default: POST. */
  readonly method?: string;
  /** Absent: any host. */
  readonly host?: RegExp;
  readonly path?: RegExp;
  readonly port?: string;
  /** A request header whose value must match. */
  readonly header?: readonly [name: string, value: RegExp];
}

const LANGSMITH = ["user-agent", /^langsmith-js\//] as const;
const OTLP = /\/v1\/(?:logs|metrics|traces)$/;

const LIST: readonly Telemetry[] = [
  // OpenAI Agents marks its traces, also for another endpoint.
  { host: /^api\.openai\.com$/, path: /^\/v1\/traces\/ingest$/ },
  { header: ["openai-beta", /^traces=/] },
  // LangSmith. The answers to its other requests, such as prompts, count.
  { header: LANGSMITH, path: /\/runs(?:\/(?:batch|multipart))?$/ },
  { header: LANGSMITH, path: /\/runs\/[\da-f-]{36}$/, method: "PATCH" },
  { header: LANGSMITH, path: /\/info$/, method: "GET" },
  // Sentry, also hosted elsewhere.
  { path: /\/api\/\d+\/(?:envelope|store|minidump|security)\/?$/ },
  // PostHog. The answers to its other requests, such as feature flags, count.
  { host: /(?:^|\.)posthog\.com$/, path: /^\/(?:batch|capture|e|engage|i\/v\d\/.+|s|track)\/?$/ },
  // OpenTelemetry: to the default port of a collector, marked, and over gRPC.
  { port: "4318", path: OTLP },
  { header: ["content-type", /^application\/x-protobuf/i], path: OTLP },
  { header: ["user-agent", /^OTel-OTLP-Exporter/i] },
  { path: /^\/opentelemetry\.proto\.collector\./ },
  // Langfuse and Datadog.
  { path: /\/api\/public\/(?:ingestion|otel\/v1\/traces)$/ },
  { host: /(?:^|[.-])intake\.(?:[\w-]+\.)*(?:datadoghq\.(?:com|eu)|ddog-gov\.com)$/ },
];

/** A request, as far as it tells whether it is telemetry. */
export interface SentRequest {
  readonly url: URL;
  /** In upper case. */
  readonly method: string;
  /** Returns the value of a header by its name in lower case. */
  header(name: string): string | null | undefined;
}

/**
 * True for requests that only report to a known telemetry service: OpenAI Agents tracing, LangSmith, Sentry, PostHog,
 * OpenTelemetry (OTLP), Langfuse, Datadog.
 */
export function isTelemetry(request: SentRequest): boolean {
  const { url } = request;
  return LIST.some(
    ({ method = "POST", host, path, port, header }) =>
      method === request.method &&
      (host === undefined || host.test(url.hostname)) &&
      (path === undefined || path.test(url.pathname)) &&
      (port === undefined || port === url.port) &&
      (header === undefined || header[1].test(request.header(header[0]) ?? "")),
  );
}
