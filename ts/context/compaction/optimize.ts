import type { ManagerConfig } from "../window/config.js";
import { slidingWindow, sum, truncate } from "./drop.js";
import { pruneTools, type Counters } from "./cut-outputs.js";
import type { Item } from "./units.js";

export type { Counters } from "./cut-outputs.js";
export type { Item } from "./units.js";

/**
 * Makes a conversation fit into `target` tokens, if possible. Instructions and the end of the conversation always stay,
 * so the result is never empty. A tool call is never separated from its results.
 */
export function optimize(items: readonly Item[], target: number, config: ManagerConfig, count: Counters): Item[] {
  const { keepRecentTurns, toolOutputMax } = config;
  switch (config.strategy) {
    case "truncate":
      return truncate(items, target);
    case "sliding_window":
      return slidingWindow(items, target, keepRecentTurns);
    case "prune_tools":
      return truncate(pruneTools(items, target, toolOutputMax, count, true), target);
    case "smart":
      return smart(items, target, config, count);
    case "non_destructive":
      return [...items];
  }
}

/** Drops the least valuable content first: long outputs, old turns, old messages, then the outputs at the end. */
function smart(items: readonly Item[], target: number, config: ManagerConfig, count: Counters): Item[] {
  const { keepRecentTurns, toolOutputMax } = config;
  const pruned = pruneTools(items, target, toolOutputMax, count, false);
  if (sum(pruned) <= target) return pruned;
  const recent = slidingWindow(pruned, target, keepRecentTurns);
  return sum(recent) <= target ? recent : pruneTools(recent, target, toolOutputMax, count, true);
}
