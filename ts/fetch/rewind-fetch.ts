import { kindOf } from "../errors/received.js";
import {
  ambientContext,
  getContext,
  journalStreamed,
  keptHeaders,
  rejected,
  type RunContext,
  type KeptHeaders,
} from "../integration/index.js";
import {
  failureIn,
  failedBody,
  headOf,
  incompleteAnswer,
  recordResponse,
  replayResponse,
  type RecordedResponse,
} from "./recorded-response.js";
import { readRequest, type FetchInput, type ReadRequest } from "./request-document.js";

export interface RewindFetchOptions {
  /** "instant" (default) replays a body at once, in its pieces; "recorded" when they came. */
  timing?: "instant" | "recorded";
  /** Names of further request headers that the answer depends on. They are hashed and recorded: no keys. */
  requestHeaders?: readonly string[];
  /** Names of further response headers that are recorded. */
  responseHeaders?: readonly string[];
}

/**
 * Gives a fetch whose requests are journaled in the current run, agent or test, and replayed from its recording; outside
 * of them it is the one that was given. For every client that takes a fetch: `new OpenAI({ fetch: rewindFetch() })`.
 *
 * A request is found again by method, URL (without keys), body and the headers that count. A response is handed on as it
 * comes; error statuses and network failures are recorded like all others. Retries that a client marks by
 * `x-stainless-retry-count` are attempts of one request, of which replay gives the last.
 *
 * @param fetch what makes the requests; by default the global one, at the time of each request.
 * @throws ReplayMissError, from the request, in a strict replay that has no answer for it.
 *
 * @example
 * ```ts
 * import { rewindFetch } from "agent-rewind/fetch";
 * import OpenAI from "openai";
 *
 * // A client does not start without a key; a replay needs none.
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
  if (timing !== "instant" && timing !== "recorded") {
    throw new TypeError(`rewindFetch: options.timing must be "instant" or "recorded", received ${String(timing)}`);
  }
  const keep = keptHeaders(options.requestHeaders, options.responseHeaders);
  const make: Fetch = (input, init) => (fetch ?? globalThis.fetch)(input, init);
  const made = getContext();
  return (input: FetchInput, init?: RequestInit): Promise<Response> => {
    try {
      const context = ambientContext(made, "rewindFetch");
      // What a journaled call calls is part of its answer.
      if (context === undefined || context.inCall) return Promise.resolve(make(input, init));
      const send = (request: ReadRequest): Promise<Response> => {
        request.signal?.throwIfAborted();
        return journaled(context, { input, request, make, keep, timed: timing === "recorded" });
      };
      // Not awaited where it need not be: calls start in the order in which they are made.
      const request = readRequest(input, init, keep);
      if (!(request instanceof Promise)) return send(request);
      context.scope.frame.markPendingFailuresHandled();
      return request.then(send);
    } catch (error) {
      return rejected(error);
    }
  };
}

type Fetch = (input: FetchInput, init?: RequestInit) => Promise<Response>;

interface Sending {
  readonly input: FetchInput;
  readonly request: ReadRequest;
  readonly make: Fetch;
  readonly keep: KeptHeaders;
  readonly timed: boolean;
}

function journaled(context: RunContext, { input, request, make, keep, timed }: Sending): Promise<Response> {
  const { url, host, signal, attempt, document } = request;
  const call = {
    kind: "fetch",
    name: host || "fetch",
    request: document,
    context,
    ...(attempt === undefined ? {} : { attempt }),
  };
  return journalStreamed<Response, RecordedResponse>(
    call,
    async (info) => {
      const startedAt = performance.now();
      const both = signal === undefined ? info.signal : AbortSignal.any([signal, info.signal]);
      const before = headOf(info.before);
      const send = async (): Promise<Response> => make(input, { ...request.init, signal: both });
      const response = await (before === undefined ? send() : send().catch((error) => failedBody(before, error)));
      return recordResponse(response, { ...info, url, signal: both, startedAt, keep, attempt, before });
    },
    {
      answer: (recorded, meta, more) => replayResponse(recorded, meta, { url, signal, timed, more }),
      incompleteAnswer,
      failureIn,
    },
  );
}
