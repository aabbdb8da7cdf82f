import { kindOf, received } from "../errors/received.js";
import {
  ambientContext,
  asTransport,
  getContext,
  checkEcho,
  journalStreamed,
  keptHeaders,
  type Echo,
  type KeptHeaders,
  type RunContext,
} from "../integration/index.js";
import type { UrlPattern } from "../urls/patterns.js";
import { treatmentBy } from "./recorded-urls.js";
import {
  failureIn,
  failedBody,
  headOf,
  incompleteAnswer,
  recordResponse,
  replayResponse,
  type RecordedResponse,
} from "./recorded-response.js";
import { WHOLE_REQUESTS, readRequest, type FetchInput, type ReadRequest } from "./request-document.js";

export interface RewindFetchOptions {
  /** "instant" (default) replays the chunks of a body without delays, "recorded" at their recorded times. */
  timing?: "instant" | "recorded";
  /** Names of request headers that count although they are on the list of volatile parts. Credentials count by a digest. */
  requestHeaders?: readonly string[];
  /**
   * True if a request with other credentials (`Authorization`, `x-api-key`, …) is another request. They count by a digest.
   * Default: false, so that a replay needs no key.
   */
  credentials?: boolean;
  /** Names of more response headers to record. */
  responseHeaders?: readonly string[];
  /**
   * A text or number of the JSON body of a request that the JSON body of its response repeats, such as an id that is new
   * in every run: `{ from: "/id", to: "/id" }`. If they were equal when recorded, a replayed response has the one of the
   * new request. Leave it out of the hash by a `normalize` rule.
   */
  echo?: Echo;
  /** URLs to record, such as `["api.openai.com", "*.example.com/v1/*"]`. Default: all. */
  only?: readonly UrlPattern[];
  /** URLs that are not recorded, in addition to those of known telemetry services. They count more than `only`. */
  ignore?: readonly UrlPattern[];
}

/**
 * Returns a fetch whose requests are journaled in the current run, agent or test, and replayed from its recording.
 * Outside of them it calls `fetch`. It works with every client that accepts a fetch:
 * `new OpenAI({ fetch: rewindFetch() })`.
 *
 * Replay matches requests by method, URL, headers and body, except a published list of volatile parts and credentials.
 * Secrets count by a digest. Responses are passed on as they arrive. Error statuses and network failures are recorded
 * too. Retries that a client marks with `x-stainless-retry-count` are attempts of one request; replay returns the last
 * one.
 *
 * @param fetch sends the requests. Default: the global fetch at the time of each request.
 * @throws ReplayMissError from a request that a strict replay has no answer for.
 *
 * @example
 * ```ts
 * import { rewindFetch } from "agent-rewind/fetch";
 * import OpenAI from "openai";
 *
 * // The client requires a key, but a replay does not use it.
 * export const client = new OpenAI({ apiKey: process.env["OPENAI_API_KEY"] ?? "none", fetch: rewindFetch() });
 * ```
 */
export function rewindFetch(
  fetch?: typeof globalThis.fetch,
  options: RewindFetchOptions = {},
): typeof globalThis.fetch {
  if (fetch !== undefined && typeof fetch !== "function") {
    throw new TypeError(`rewindFetch: fetch must be a function, received ${kindOf(fetch)}`);
  }
  const { timing = "instant" } = options;
  checkEcho(options.echo, "rewindFetch: options.echo");
  if (timing !== "instant" && timing !== "recorded") {
    throw new TypeError(`rewindFetch: options.timing must be "instant" or "recorded", received ${String(timing)}`);
  }
  const { credentials = false } = options;
  if (typeof credentials !== "boolean") {
    throw new TypeError(`rewindFetch: options.credentials must be a boolean, received ${received(credentials)}`);
  }
  const keep = keptHeaders("rewindFetch", options);
  const treatment = treatmentBy(options);
  const execute: Fetch = (input, init) => (fetch ?? globalThis.fetch)(input, init);
  const created = getContext();
  return (input: FetchInput, init?: RequestInit): Promise<Response> => {
    try {
      const ambient = ambientContext("rewindFetch", created);
      const treated = ambient && treatment(input, init);
      // The network guard lets pass what the options name. It drops telemetry in a replay.
      if (treated === "excluded") return Promise.resolve(asTransport(() => execute(input, init)));
      if (ambient === undefined || treated === "telemetry") return Promise.resolve(execute(input, init));
      const send = (request: ReadRequest): Promise<Response> => {
        request.signal?.throwIfAborted();
        return journalFetch(ambient.context, {
          input,
          request,
          execute,
          keep,
          timed: timing === "recorded",
          echo: options.echo,
        });
      };
      // Awaited only if necessary, so that calls start in the order of the requests.
      const request = readRequest(input, init, { keep, credentials, older: ambient.recordedWithout(WHOLE_REQUESTS) });
      if (!(request instanceof Promise)) return send(request);
      ambient.markPendingFailuresHandled();
      return request.then(send);
    } catch (error) {
      return Promise.reject(error);
    }
  };
}

type Fetch = (input: FetchInput, init?: RequestInit) => Promise<Response>;

interface Sending {
  readonly input: FetchInput;
  readonly request: ReadRequest;
  readonly execute: Fetch;
  readonly keep: KeptHeaders;
  readonly timed: boolean;
  readonly echo: Echo | undefined;
}

function journalFetch(context: RunContext, { input, request, execute, keep, timed, echo }: Sending): Promise<Response> {
  const { url, host, signal, attempt, document, older } = request;
  const bodies = echo === undefined ? [] : ["/body/json", "/body/text"];
  return journalStreamed<Response, RecordedResponse>({
    kind: "fetch",
    name: host || "fetch",
    request: document,
    older,
    context,
    ...(attempt === undefined ? {} : { attempt }),
    echo: bodies.map((body) => ({ from: `/body${echo?.from}`, to: `${body}${echo?.to}` })),
    async execute(info) {
      const both = signal === undefined ? info.signal : AbortSignal.any([signal, info.signal]);
      const before = headOf(info.before);
      const send = async (): Promise<Response> => execute(input, { ...request.init, signal: both });
      const response = await (before === undefined ? send() : send().catch((error) => failedBody(before, error)));
      return recordResponse(response, Object.assign(info, { url, signal: both, keep, attempt, before }));
    },
    replay: (recorded, meta, rest) => replayResponse(recorded, meta, { url, signal, timed, rest }),
    incompleteAnswer,
    failureIn,
  });
}
