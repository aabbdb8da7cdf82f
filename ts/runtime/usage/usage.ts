// The usage that one call of a model or a tool adds to the budget.

import type { ModelAdapter, TokenUsage } from "../../types/model.js";
import type { ToolUsageItem, UsageStats } from "../../types/snapshot.js";
import { encodeValue } from "../../values/encode.js";
import { deepFreeze } from "../../values/freeze.js";
import { warn } from "../../errors/printable.js";

/** The usage of a tool, for the budget. */
export interface ToolUsage {
  /** Name of the tool or its service. */
  readonly name: string;
  /** Costs by unit, in whole numbers, such as `{ microdollars: 1200 }`. */
  readonly costs: Readonly<Record<string, number>>;
  /** Used quantity, in `unit`. */
  readonly quantity: number;
  /** Unit of `quantity`, such as "request" or "page". */
  readonly unit: string;
  /** Other properties of this use, as JSON. Uses with different details are counted separately. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/** The usage of a model call. Amounts from the adapter that are not numbers count as 0. */
export function modelUsage(
  model: ModelAdapter,
  usage: TokenUsage | undefined,
  costs: Readonly<Record<string, number>>,
): UsageStats {
  const prompt = finite(usage?.promptTokens);
  const completion = finite(usage?.completionTokens);
  const total = finite(usage?.totalTokens);
  const details = usage?.details === undefined ? undefined : json(usage.details);
  const ownDetails = details === undefined ? {} : { details };
  return deepFreeze({
    promptTokens: prompt,
    completionTokens: completion,
    totalTokens: total,
    costs,
    callCount: 1,
    ...ownDetails,
    items: [
      {
        type: "model",
        name: model.id,
        ...(model.provider === undefined ? {} : { provider: model.provider }),
        costs,
        tokens: { prompt, completion, total, ...ownDetails },
      },
    ],
  });
}

/**
 * The costs that the adapter calculates for a call. An error of the adapter must not lose the answer.
 * @returns `undefined` if the adapter reports no costs.
 */
export function costsOf(model: ModelAdapter, usage: TokenUsage | undefined): Record<string, number> | undefined {
  if (usage === undefined || model.calculateCost === undefined) return undefined;
  try {
    const entries = Object.entries(model.calculateCost(usage));
    return Object.fromEntries(entries.filter(([, amount]) => Number.isFinite(amount)));
  } catch (error) {
    if (!warned.has(model)) {
      warned.add(model);
      warn(`calculateCost of the model "${model.id}" threw an error. Its calls are counted without costs.`, error);
    }
    return undefined;
  }
}

const warned = new WeakSet<ModelAdapter>();

/** @throws TypeError that names the invalid field. */
export function toolUsage({ name, costs, quantity, unit, details }: ToolUsage): UsageStats {
  check(typeof name === "string" && name !== "", "name", "a non-empty string", name);
  check(typeof unit === "string", "unit", "a string", unit);
  check(Number.isFinite(quantity), "quantity", "a finite number", quantity);
  check(typeof costs === "object" && costs !== null, "costs", "an object of numbers by unit", costs);
  for (const [key, amount] of Object.entries(costs))
    check(Number.isFinite(amount), `costs.${key}`, "a finite number", amount);
  const ownCosts = Object.fromEntries(Object.entries(costs));
  const item: ToolUsageItem = {
    type: "tool",
    name,
    costs: ownCosts,
    quantity,
    unit,
    ...(details === undefined ? {} : { details: jsonDetails(details) }),
  };
  return deepFreeze({
    promptTokens: 0,
    completionTokens: 0,
    totalTokens: 0,
    costs: ownCosts,
    callCount: 0,
    items: [item],
  });
}

function check(isValid: boolean, field: string, expected: string, received: unknown): void {
  if (isValid) return;
  const shown =
    typeof received === "number" ? String(received) : received === null ? "null" : `a value of type ${typeof received}`;
  throw new TypeError(`recordToolUsage: usage.${field} must be ${expected}, received ${shown}`);
}

function jsonDetails(details: unknown): Record<string, unknown> {
  const encoded = encodeValue(details);
  if ("tombstone" in encoded) {
    const { path, reason } = encoded.tombstone;
    throw new TypeError(`recordToolUsage: usage.details${path.replaceAll("/", ".")} must be JSON: ${reason}`);
  }
  const copy: unknown = JSON.parse(encoded.text);
  check(typeof copy === "object" && copy !== null && !Array.isArray(copy), "details", "an object", details);
  return copy as Record<string, unknown>;
}

function json(value: Record<string, unknown>): Record<string, unknown> | undefined {
  const encoded = encodeValue(value);
  return "tombstone" in encoded ? undefined : (JSON.parse(encoded.text) as Record<string, unknown>);
}

function finite(amount: unknown): number {
  return typeof amount === "number" && Number.isFinite(amount) ? amount : 0;
}
