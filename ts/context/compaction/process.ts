// Keeps a conversation within its budget before it is sent.

import { utilizationOf, warningsOf, type Tracked } from "../window/ledger.js";
import type { BoundaryCapture } from "../capture/boundary.js";
import type { ManagerConfig, OptimizerStrategy } from "../window/config.js";
import { JsonText } from "../request/json-text.js";
import { optimize, type Counters, type Item } from "./optimize.js";
import { estimateTokens, messageTokens, PER_LIST, type CountTokens } from "../window/tokens.js";

export interface ProcessOptions {
  /** A system prompt that is separate from the messages. It is counted, not changed. */
  readonly systemPrompt?: string;
  readonly tools?: readonly unknown[];
  /** The reason for the call, which `monitorFrequency` filters by. @default "turn" */
  readonly trigger?: "turn" | "tool_call" | "manual";
}

export interface ProcessResult<Message> {
  /** The messages to send: possibly fewer or shorter than the input. The input list is not changed. */
  readonly messages: Message[];
  readonly optimized: boolean;
  readonly strategy: OptimizerStrategy;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly tokensSaved: number;
  /** Share of the usable budget that the result uses. */
  readonly utilization: number;
  readonly warnings: readonly string[];
  /** Capture of the input. Present if `snapshotTiming` is "pre_optimization" or "both". */
  readonly pre?: BoundaryCapture;
  /** Capture of the result. Present if `snapshotTiming` is "post_optimization" or "both". */
  readonly post?: BoundaryCapture;
}

/** The state of the manager that processing depends on. */
export interface ProcessContext {
  readonly config: ManagerConfig;
  readonly countTokens: CountTokens | undefined;
  readonly tracked: Tracked;
  /** Captures the messages as they are now. */
  capture(
    messages: readonly unknown[],
    tracked: Tracked,
    timing: "pre_optimization" | "post_optimization",
  ): BoundaryCapture;
}

export function processMessages<Message>(
  context: ProcessContext,
  messages: readonly Message[],
  systemPrompt: string,
): ProcessResult<Message> {
  const { config, countTokens } = context;
  const count = countTokens ?? estimateTokens;
  const tracked = systemPrompt === "" ? context.tracked : { ...context.tracked, systemPrompt: count(systemPrompt) };
  const pre = context.capture(messages, tracked, "pre_optimization");
  let sent: readonly Message[] = messages;
  if (config.autoCompact && utilizationOf(pre.ledger, pre.budget) >= config.compactThreshold) {
    const others = pre.ledger.total - pre.ledger.history;
    const target = Math.floor(Math.max(0, pre.budget.usable) * config.compactThreshold) - others - PER_LIST;
    sent = fit(messages, Math.max(0, target), config, countTokens);
  }
  const optimized = sent.length !== messages.length || sent.some((message, index) => message !== messages[index]);
  const post = context.capture(sent, tracked, "post_optimization");
  const { ledger, budget } = post;
  return {
    messages: [...sent],
    optimized,
    strategy: config.strategy,
    tokensBefore: pre.ledger.total,
    tokensAfter: ledger.total,
    tokensSaved: pre.ledger.total - ledger.total,
    utilization: utilizationOf(ledger, budget),
    warnings: warningsOf(ledger, budget),
    ...(config.snapshotTiming === "post_optimization" ? {} : { pre }),
    ...(config.snapshotTiming === "pre_optimization" ? {} : { post }),
  };
}

function fit<Message>(
  messages: readonly Message[],
  target: number,
  config: ManagerConfig,
  countTokens: CountTokens | undefined,
): readonly Message[] {
  const tokens = messageTokens(JsonText.of(messages), countTokens);
  const items: Item[] = messages.map((message, index) => ({ message, tokens: tokens[index] ?? 0 }));
  const counters: Counters = {
    text: countTokens ?? estimateTokens,
    message: (message) => messageTokens(JsonText.of([message]), countTokens)[0] ?? 0,
  };
  return optimize(items, target, config, counters).map(({ message }) => message as Message);
}
