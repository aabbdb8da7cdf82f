import { checkObject } from "../errors/received.js";
import {
  failureInStream,
  Tap,
  getContext,
  incompleteStream,
  journalStreamed,
  journaled,
  recordedTiming,
  replayStream,
  type RunContext,
  type StreamEnd,
  type Tapped,
} from "../integration/index.js";
import { recordedPart, revivedErrors, revivedPart } from "./errors.js";
import { joinHeaders, modelCall, splitHeaders, type JournaledModelCall } from "./journaled-model.js";
import type { CallOptions, RewindMiddleware, StreamResult } from "./types.js";

export interface RewindMiddlewareOptions {
  /** "instant" (default) replays the parts of a stream without delays, "recorded" at their recorded times. */
  timing?: "instant" | "recorded";
}

/**
 * Returns a middleware for `wrapLanguageModel` of the AI SDK 5, 6 or 7. The model's calls are journaled in the current run,
 * agent or test, and replayed from its recording.
 * @throws ReplayMissError from a call that a strict replay has no answer for.
 */
export function rewindMiddleware(middlewareOptions: RewindMiddlewareOptions = {}): RewindMiddleware {
  checkObject("rewindMiddleware: options", middlewareOptions);
  const { timing = "instant" } = middlewareOptions;
  if (timing !== "instant" && timing !== "recorded") {
    throw new TypeError(`rewindMiddleware: options.timing must be "instant" or "recorded", received ${String(timing)}`);
  }
  const created: RunContext | undefined = getContext();
  return {
    specificationVersion: "v3",
    async wrapGenerate({ doGenerate, params, model }) {
      const call = modelCall("generate", model, params, created);
      return call === undefined ? doGenerate() : journaledResult(call, doGenerate, timing === "recorded");
    },
    async wrapStream<Result extends StreamResult<never> | StreamResult>({
      doStream,
      params,
      model,
    }: {
      doStream: () => PromiseLike<Result>;
      params: CallOptions;
      model: { provider: string; modelId: string };
    }): Promise<Result> {
      const call = modelCall("stream", model, params, created);
      if (call === undefined) return doStream();
      const options = { signal: params.abortSignal, timed: timing === "recorded" };
      return streamed(call, doStream, options) as unknown as Result;
    },
  };
}

/** Journals a call whose result is not streamed. */
export async function journaledResult<Result extends object>(
  call: JournaledModelCall,
  execute: () => PromiseLike<Result>,
  timed = false,
): Promise<Result> {
  let live: Result | undefined;
  let headers: [string, string][] = [];
  const ended = await journaled<Result>({
    ...call,
    async execute() {
      live = await execute();
      const { kept, changing } = splitHeaders(live);
      headers = changing;
      return kept;
    },
    meta: () => (headers.length === 0 ? {} : { stream: { headers } }),
    revive: (error, askedAgain) => revivedErrors(error, askedAgain && !timed),
  });
  return live ?? joinHeaders(ended.value, ended.meta ?? {});
}

/** A streamed result in the journal. */
interface RecordedStream {
  result: object;
  parts: object[];
  end?: StreamEnd;
}

function streamed(
  call: JournaledModelCall,
  execute: () => PromiseLike<StreamResult>,
  { signal, timed }: { signal: AbortSignal | undefined; timed: boolean },
): Promise<StreamResult> {
  return journalStreamed<StreamResult, RecordedStream>({
    ...call,
    async execute({ startedAt, journaled: ended, endedCalls }) {
      const live = await execute();
      const { stream, ...rest } = live;
      const { kept, changing } = splitHeaders(rest);
      const tap = new Tap<object>(stream, { startedAt, signal, journaled: ended, endedCalls, copy: recordedCopy });
      const recorded = ({ chunks, end }: Tapped<object>): RecordedStream => ({
        result: kept,
        parts: [...chunks],
        // The SDK need not read on after the last part.
        ...(end === undefined || ((end === "open" || end === "left") && isLast(chunks.at(-1))) ? {} : { end }),
      });
      const headers = changing.length === 0 ? {} : { headers: changing };
      const meta = () => ({ stream: { startMs: tap.startMs, chunks: tap.sizes, ...headers } });
      const answer = { ...live, stream: tap.open() as StreamResult["stream"] };
      return { answer, recorder: tap.recorder(recorded, meta) };
    },
    async replay({ result, parts, end }, meta, rest) {
      const { continue: continueCall } = rest;
      const until = timed ? recordedTiming(performance.now(), signal) : undefined;
      await until?.(meta.stream?.startMs ?? 0);
      signal?.throwIfAborted();
      const times = meta.stream?.chunks ?? [];
      const chunks = parts.map(
        (part, index) => [revivedPart(part, rest.restoreError), times[index]?.[1] ?? 0] as const,
      );
      const stream = replayStream(chunks, {
        ...rest,
        signal,
        end,
        call: call.name,
        until,
        revive: revivedErrors,
        continue: continueCall && (async () => (await continueCall()).stream),
      });
      return { ...joinHeaders(result, meta), stream: stream as StreamResult["stream"] };
    },
    incompleteAnswer: ({ end }) => incompleteStream(end),
    failureIn: ({ end }) => failureInStream(end),
    revive: (error, askedAgain) => revivedErrors(error, askedAgain && !timed),
  });
}

function isLast(part: object | undefined): boolean {
  return part !== undefined && "type" in part && part.type === "finish";
}

/** Copies a part, because the SDK modifies some parts later. */
function recordedCopy(part: object): object {
  const recorded = recordedPart(part);
  try {
    // structuredClone refuses URLs.
    return structuredClone(recorded);
  } catch {
    return { ...recorded };
  }
}
