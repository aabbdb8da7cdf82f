import { checkObject } from "../../errors/received.js";
import { requireContext, type RunContext } from "../scope/run-context.js";
import { EVENTS } from "../../events/names.js";
import { calling } from "../../native.js";
import type { ModelAdapter, TokenUsage } from "../../types/model.js";
import type { BudgetState, UsageItem, UsageStats } from "../../types/snapshot.js";
import type { Scope } from "../scope/scope.js";
import { emitEvent } from "../scope/span.js";
import { modelUsage, toolUsage, type ToolUsage } from "./usage.js";

/**
 * Tokens, costs and calls used so far by the current frame alone (`own`), and including its sub-agents (`aggregate`).
 * @throws ContextNotFoundError outside of runs and agents.
 */
export function getUsageStats(): BudgetState {
  return budgetOf(requireContext("getUsageStats").scope);
}

/**
 * Adds the usage of a tool to the budget of the current frame, and to the aggregates of the frames above it. Uses with
 * the same name, unit and details are one item. A replayed call is not executed, so it adds nothing.
 * @throws ContextNotFoundError outside of runs and agents.
 * @throws TypeError if an amount is not a finite number, or the details are not JSON.
 */
export function recordToolUsage(usage: ToolUsage): void {
  const context = requireContext("recordToolUsage");
  checkObject("recordToolUsage: usage", usage);
  addUsage(context.scope, toolUsage(usage), `tool:${usage.name}:${usage.unit}`, context.trace.spanId);
}

/** The current budget. Later use does not change it. */
export function budgetOf(scope: Scope): BudgetState {
  const budget = scope.frame.budget();
  return {
    own: usageStats(budget.own(), () => budget.ownItems()),
    aggregate: usageStats(budget.aggregate(), () => budget.aggregateItems()),
  };
}

/** Items are read on first access: there may be many, and most watchers need only the totals. */
function usageStats(totals: string, itemsText: () => string): UsageStats {
  let items: UsageItem[] | undefined;
  return Object.defineProperty(JSON.parse(totals) as UsageStats, "items", {
    configurable: true,
    enumerable: true,
    get: () => (items ??= JSON.parse(itemsText()) as UsageItem[]),
    set: (value: UsageItem[]) => {
      items = value;
    },
  });
}

/** Adds a model call to the budget of the frame and of the frames above it. */
export function addModelUsage(
  context: RunContext,
  model: ModelAdapter,
  usage: TokenUsage | undefined,
  costs: Readonly<Record<string, number>> | undefined,
): void {
  const delta = modelUsage(model, usage, costs ?? {});
  addUsage(context.scope, delta, `model:${model.provider ?? ""}:${model.id}`, context.trace.spanId);
}

function addUsage(scope: Scope, delta: UsageStats, identifier: string, parentSpanId: string): void {
  if (!scope.isOpen) return;
  calling(() => scope.frame.addUsage(scope.recordable(JSON.stringify(delta))));
  emitEvent(scope, EVENTS.BUDGET_UPDATE, parentSpanId, () => {
    const { own, aggregate } = budgetOf(scope);
    return { identifiers: [identifier], delta, aggregate, own };
  });
  for (let at: Scope | undefined = scope; at !== undefined; at = at.parent) {
    for (const watcher of at.generation.budgetWatchers) watcher.call({ delta, ...budgetOf(at) });
  }
}
