import type { ClientOptions } from "openai";
import type { OpenAIClientSource } from "./client.js";
import type { PriceTable } from "./prices.js";

/**
 * How the endpoint is told which form the answer must have:
 * - "json_schema": by `response_format`, strict where the schema allows.
 * - "json_object": by `response_format`, with the schema in the system message.
 * - "tool": by a tool that the model has to call with its answer.
 * - "prompt": by the system message alone.
 */
export type StructuredOutput = "json_schema" | "json_object" | "tool" | "prompt";

export interface OpenAIModelOptions {
  /** Name of the model at the endpoint. */
  model: string;
  /** The client; by default `new OpenAI(clientOptions)` of the package `openai`, made at the first call. */
  client?: OpenAIClientSource;
  /** For the client that is made, such as `{ baseURL, apiKey }`. */
  clientOptions?: ClientOptions;
  /** Name of the adapter in recordings; by default `model`. */
  id?: string;
  /** Name of the endpoint's owner in recordings; by default "openai". */
  provider?: string;
  /** Options for every call, such as `{ temperature: 0, max_completion_tokens: 500 }`, in the endpoint's own names.
   * They are part of the request's hash, and `promptAgent(schema, { modelOptions })` overrides them. */
  modelOptions?: Readonly<Record<string, unknown>>;
  /** How the endpoint is told which form the answer must have; by default "json_schema". Part of the request's hash. */
  structuredOutput?: StructuredOutput;
  /** Ask that inputs of tools fit their schemas exactly, where the schema allows; by default false. Part of the
   * request's hash. */
  strictTools?: boolean;
  /** The member of assistant messages in which earlier reasoning is sent back, for endpoints that want it; by default
   * none is sent. Part of the request's hash. */
  sendReasoning?: false | "reasoning_content" | "reasoning";
  /** What to do with an answer that ended by its length: fail (the default), or take what came of it. */
  lengthLimit?: "error" | "accept";
  /** Ask for the answer as it comes (the default), or as a whole, for endpoints that cannot stream. */
  stream?: boolean;
  /** Ask streaming endpoints for the usage (the default); some refuse the option that does. */
  includeUsage?: boolean;
  /** How often the client tries a call again that was refused or did not reach the endpoint; by default what the
   * client is set to. Retries are part of one call: a recording has only what came of the last. */
  maxRetries?: number;
  /** Milliseconds until the endpoint must have begun to answer; by default what the client is set to. */
  timeout?: number;
  /** Further HTTP headers. */
  headers?: Readonly<Record<string, string>>;
  /** What tokens cost, by name of the model. */
  prices?: PriceTable;
}

/** @throws TypeError naming the option. */
export function checkOptions(options: OpenAIModelOptions): void {
  const { model, client, modelOptions, maxRetries, timeout } = options;
  check(typeof model === "string" && model !== "", "model", "a string that is not empty", model);
  check(
    client === undefined || typeof client === "function" || hasCompletions(client),
    "client",
    "a client of the package openai, or a function that makes one",
    client,
  );
  check(isOptionalObject(modelOptions), "modelOptions", "an object", modelOptions);
  check(isOptionalCount(maxRetries), "maxRetries", "a whole number", maxRetries);
  check(timeout === undefined || timeout > 0, "timeout", "a number of milliseconds", timeout);
}

function check(holds: boolean, option: string, expected: string, received: unknown): void {
  if (holds) return;
  const shown = typeof received === "number" ? String(received) : (JSON.stringify(received) ?? typeof received);
  throw new TypeError(`createOpenAIModel: options.${option} must be ${expected}, received ${shown}`);
}

function hasCompletions(client: unknown): boolean {
  const { chat } = (client ?? {}) as { chat?: { completions?: { create?: unknown } } };
  return typeof chat?.completions?.create === "function";
}

function isOptionalObject(value: unknown): boolean {
  return value === undefined || (typeof value === "object" && value !== null && !Array.isArray(value));
}

function isOptionalCount(value: number | undefined): boolean {
  return value === undefined || (Number.isInteger(value) && value >= 0);
}
