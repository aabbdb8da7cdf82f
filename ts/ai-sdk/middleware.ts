import {
  Tap,
  getContext,
  journalStreamed,
  journaled,
  recorderOf,
  replayStream,
  since,
  untilAfter,
  type RunContext,
  type StreamEnd,
  type Tapped,
} from "../integration/index.js";
import { recordedPart, revivedErrors, revivedPart } from "./errors.js";
import { joinHeaders, modelCall, splitHeaders, withSdkErrors, type JournaledModelCall } from "./journaled-model.js";
import type { CallOptions, RewindMiddleware, StreamResult } from "./types.js";

export interface RewindMiddlewareOptions {
  /** "instant" (default) replays a stream at once, part for part; "recorded" when the parts came. */
  timing?: "instant" | "recorded";
}

/**
 * A middleware for `wrapLanguageModel` of the AI SDK 5, 6 or 7: the model's calls are journaled in the current run, agent
 * or test, and replayed from its recording.
 * @throws ReplayMissError, from the call, in a strict replay that has no answer for it.
 */
export function rewindMiddleware({ timing = "instant" }: RewindMiddlewareOptions = {}): RewindMiddleware {
  if (timing !== "instant" && timing !== "recorded") {
    throw new TypeError(`rewindMiddleware: options.timing must be "instant" or "recorded", received ${String(timing)}`);
  }
  const made: RunContext | undefined = getContext();
  return {
    specificationVersion: "v3",
    async wrapGenerate({ doGenerate, params, model }) {
      const call = modelCall("generate", model, params, made);
      return call === undefined ? doGenerate() : journaledResult(call, doGenerate);
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
      const call = modelCall("stream", model, params, made);
      if (call === undefined) return doStream();
      const options = { signal: params.abortSignal, timed: timing === "recorded" };
      return withSdkErrors(streamed(call, doStream as () => PromiseLike<StreamResult>, options)) as unknown as Result;
    },
  };
}

/** A call whose result comes at once. */
export async function journaledResult<Result extends object>(
  call: JournaledModelCall,
  make: () => PromiseLike<Result>,
): Promise<Result> {
  let live: Result | undefined;
  let headers: [string, string][] = [];
  const ended = await withSdkErrors(
    journaled<Result>(
      call,
      async () => {
        live = await make();
        const { kept, changing } = splitHeaders(live);
        headers = changing;
        return kept;
      },
      { meta: () => (headers.length === 0 ? {} : { stream: { headers } }) },
    ),
  );
  return live ?? joinHeaders(ended.value, ended.meta ?? {});
}

/** A stream as it is journaled: all else of the result, and the parts. */
interface RecordedStream {
  result: object;
  parts: object[];
  end?: StreamEnd;
}

function streamed(
  call: JournaledModelCall,
  make: () => PromiseLike<StreamResult>,
  { signal, timed }: { signal: AbortSignal | undefined; timed: boolean },
): Promise<StreamResult> {
  return journalStreamed<StreamResult, RecordedStream>(
    call,
    async ({ journaled: ended }) => {
      const startedAt = performance.now();
      const live = await make();
      const startMs = since(startedAt);
      const { stream, ...rest } = live;
      const { kept, changing } = splitHeaders(rest);
      const tap = new Tap<object>(stream, { startedAt, signal, journaled: ended, copy: recordedCopy, size: () => 1 });
      const recorded = ({ chunks, end }: Tapped<object>): RecordedStream => ({
        result: kept,
        parts: [...chunks],
        ...(end === undefined ? {} : { end }),
      });
      const headers = changing.length === 0 ? {} : { headers: changing };
      const meta = () => ({ stream: { startMs, chunks: tap.sizes, ...headers } });
      const answer = { ...live, stream: tap.open() as StreamResult["stream"] };
      return { answer, recorder: recorderOf(tap, recorded, meta) };
    },
    {
      async answer({ result, parts, end }, meta, more) {
        const { continue: continueCall } = more;
        const until = timed ? untilAfter(performance.now(), signal) : undefined;
        await until?.(meta.stream?.startMs ?? 0);
        signal?.throwIfAborted();
        const times = meta.stream?.chunks ?? [];
        const pieces = parts.map((part, index) => [revivedPart(part), times[index]?.[1] ?? 0] as const);
        const stream = replayStream(pieces, {
          signal,
          end,
          call: call.name,
          until,
          revive: revivedErrors,
          ...more,
          continue: continueCall && (async () => (await continueCall()).stream),
        });
        return { ...joinHeaders(result, meta), stream: stream as StreamResult["stream"] };
      },
      incompleteAnswer: ({ end }) => (end === "open" ? "restart" : undefined),
    },
  );
}

/** The SDK fills some parts in as they pass. */
function recordedCopy(part: object): object {
  const recorded = recordedPart(part);
  try {
    // URLs cannot be cloned; a part that holds one is kept as it is.
    return structuredClone(recorded);
  } catch {
    return { ...recorded };
  }
}
