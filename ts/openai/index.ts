export { createOpenAIModel } from "./adapter.js";
export type { OpenAIClient, OpenAIClientSource } from "./client.js";
export { isOpenAIModelError, OpenAIModelError, type OpenAIFailure, type OpenAIModelErrorCode } from "./error.js";
export type { OpenAIModelOptions } from "./options.js";
export type { PriceTable, TokenPrices } from "./prices.js";
export type { StructuredOutput } from "./options.js";
