import type { TokenUsage } from "../types/model.js";

/** What a million tokens of a model cost, as price lists give it: in dollars, or in another currency. */
export interface TokenPrices {
  prompt: number;
  /** For the part of the prompt that the endpoint had cached; by default as `prompt`. */
  cachedPrompt?: number;
  /** Reasoning is a part of the completion. */
  completion: number;
  /** Unit of the costs: a millionth of the price's. "microdollars" by default. */
  unit?: string;
}

/** By name of the model. */
export type PriceTable = Readonly<Record<string, TokenPrices>>;

/**
 * Reckons what calls of a model cost, in whole numbers of the price's unit.
 * @returns `undefined` without a table.
 * @throws TypeError if the table lacks the model, or a price is not a number.
 */
export function costOf(
  model: string,
  table: PriceTable | undefined,
): ((usage: TokenUsage) => Record<string, number>) | undefined {
  if (table === undefined) return undefined;
  const prices = Object.hasOwn(table, model) ? table[model] : undefined;
  if (prices === undefined) throw new TypeError(`createOpenAIModel: options.prices has no prices of "${model}"`);
  const { prompt, cachedPrompt = prompt, completion, unit = "microdollars" } = prices;
  for (const [name, price] of Object.entries({ prompt, cachedPrompt, completion })) {
    if (typeof price === "number" && Number.isFinite(price) && price >= 0) continue;
    throw new TypeError(`createOpenAIModel: options.prices[${JSON.stringify(model)}].${name} must be a number from 0`);
  }
  return ({ promptTokens, completionTokens, details }) => {
    const known = details?.["cachedTokens"];
    const cached = typeof known === "number" ? Math.min(known, promptTokens) : 0;
    const amount = (promptTokens - cached) * prompt + cached * cachedPrompt + completionTokens * completion;
    return { [unit]: Math.round(amount) };
  };
}
