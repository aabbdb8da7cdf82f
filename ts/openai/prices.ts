import type { TokenUsage } from "../types/model.js";

/** The prices of a million tokens, in dollars or another currency. */
export interface TokenPrices {
  prompt: number;
  /** The price of cached prompt tokens. Default: `prompt`. */
  cachedPrompt?: number;
  /** Includes reasoning tokens. */
  completion: number;
  /** The unit of the computed costs: a millionth of the prices' unit. Default: "microdollars". */
  unit?: string;
}

/** Prices by model name. */
export type PriceTable = Readonly<Record<string, TokenPrices>>;

/**
 * Returns a function that computes the costs of a call, as an integer of `unit`; `undefined` without a table.
 * @throws TypeError if the table lacks the model, or a price is not a number.
 */
export function costOf(
  model: string,
  table: PriceTable | undefined,
): ((usage: TokenUsage) => Record<string, number>) | undefined {
  if (table === undefined) return undefined;
  const prices = Object.hasOwn(table, model) ? table[model] : undefined;
  if (prices === undefined) throw new TypeError(`createOpenAIModel: options.prices has no entry for "${model}"`);
  const { prompt, cachedPrompt = prompt, completion, unit = "microdollars" } = prices;
  for (const [name, price] of Object.entries({ prompt, cachedPrompt, completion })) {
    if (typeof price === "number" && Number.isFinite(price) && price >= 0) continue;
    throw new TypeError(
      `createOpenAIModel: options.prices[${JSON.stringify(model)}].${name} must be a non-negative number`,
    );
  }
  return ({ promptTokens, completionTokens, details }) => {
    const known = details?.["cachedTokens"];
    const cached = typeof known === "number" ? Math.min(known, promptTokens) : 0;
    const amount = (promptTokens - cached) * prompt + cached * cachedPrompt + completionTokens * completion;
    return { [unit]: Math.round(amount) };
  };
}
