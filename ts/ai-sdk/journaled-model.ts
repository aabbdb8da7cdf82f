import { ambientContext, responseHeaders, type HeaderList, type RunContext } from "../integration/index.js";
import type { CallMeta } from "../types/snapshot.js";
import type { CallOptions, ModelName } from "./types.js";

/** A model call for the journal. */
export interface JournaledModelCall {
  readonly kind: "model" | "embedding";
  readonly name: string;
  readonly request: object;
  readonly context: RunContext;
}

/** Returns `undefined` if the call is not journaled: outside of runs, and if it sends the request of another call. */
export function modelCall(
  kind: "generate" | "stream" | "embed",
  { provider, modelId }: ModelName,
  params: CallOptions,
  created: RunContext | undefined,
): JournaledModelCall | undefined {
  const ambient = ambientContext("agent-rewind/ai-sdk", created);
  if (ambient === undefined) return undefined;
  // Headers contain keys, and the signal is not part of the request.
  const { abortSignal: _signal, headers: _headers, ...asked } = params;
  const given = Object.entries(withoutVolatile(asked)).filter(([, value]) => value !== undefined);
  const request = { type: kind, provider, model: modelId, ...Object.fromEntries(given) };
  return { kind: kind === "embed" ? "embedding" : "model", name: modelId, request, context: ambient.context };
}

interface WithMastra {
  readonly content?: unknown;
  readonly providerOptions?: { readonly mastra?: { readonly createdAt?: unknown } };
}

/** Leaves out what a framework adds to a prompt, and what differs in every run: the times of Mastra's messages. */
function withoutVolatile<Params extends { readonly prompt?: unknown }>(params: Params): Params {
  const { prompt } = params;
  return Array.isArray(prompt) ? { ...params, prompt: prompt.map(withoutCreatedAt) } : params;
}

function withoutCreatedAt<Part extends WithMastra | null>(part: Part): Part {
  const content = Array.isArray(part?.content) ? { content: part.content.map(withoutCreatedAt) } : {};
  const mastra = part?.providerOptions?.mastra;
  if (mastra?.createdAt === undefined) return "content" in content ? { ...part, ...content } : part;
  const { createdAt: _createdAt, ...rest } = mastra;
  return { ...part, ...content, providerOptions: { ...part?.providerOptions, mastra: rest } };
}

type WithResponse = { response?: { headers?: Record<string, string> } };

/** Splits the headers of a result into recorded ones and those that differ between equal results. */
export function splitHeaders<Result extends object>(result: Result): { kept: Result; changing: HeaderList } {
  const { response } = result as WithResponse;
  if (response?.headers === undefined) return { kept: result, changing: [] };
  const { kept, changing } = responseHeaders(new Headers(response.headers));
  return { kept: { ...result, response: { ...response, headers: Object.fromEntries(kept) } }, changing };
}

/** Adds the headers from the entry's meta. */
export function joinHeaders<Result extends object>(result: Result, { stream }: CallMeta): Result {
  const { response } = result as WithResponse;
  if (response?.headers === undefined || stream?.headers === undefined) return result;
  return {
    ...result,
    response: { ...response, headers: { ...response.headers, ...Object.fromEntries(stream.headers) } },
  };
}
