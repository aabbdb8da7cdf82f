import type { TokenUsage } from "../types/model.js";
import type { Loose } from "./loose.js";
import { isRecord } from "../values/members.js";

/**
 * Converts the usage that an endpoint reports. `details` contains `cachedTokens` (part of the prompt) and
 * `reasoningTokens` (part of the completion), if they are reported.
 * @returns `undefined` if no usage is reported.
 */
export function usageOf(reported: unknown): TokenUsage | undefined {
  if (!isRecord(reported)) return undefined;
  const promptTokens = count(reported["prompt_tokens"]) ?? 0;
  const completionTokens = count(reported["completion_tokens"]) ?? 0;
  const cachedTokens =
    count(member(reported, "prompt_tokens_details", "cached_tokens")) ??
    count(reported["prompt_cache_hit_tokens"]) ??
    count(reported["cached_tokens"]);
  const reasoningTokens =
    count(member(reported, "completion_tokens_details", "reasoning_tokens")) ?? count(reported["reasoning_tokens"]);
  const details = {
    ...(cachedTokens === undefined ? {} : { cachedTokens }),
    ...(reasoningTokens === undefined ? {} : { reasoningTokens }),
  };
  return {
    promptTokens,
    completionTokens,
    totalTokens: count(reported["total_tokens"]) ?? promptTokens + completionTokens,
    ...(Object.keys(details).length === 0 ? {} : { details }),
  };
}

function member(object: Loose, name: string, inner: string): unknown {
  const value = object[name];
  return isRecord(value) ? value[inner] : undefined;
}

function count(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
}
