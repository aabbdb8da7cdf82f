import { checkObject } from "../errors/received.js";
import type { ClientOptions } from "openai";
import type { OpenAIClientSource } from "./client.js";
import type { PriceTable } from "./prices.js";

/**
 * The way to request an answer that matches a schema:
 * - "json_schema": with `response_format`, strict if the schema allows it.
 * - "json_object": with `response_format` and the schema in the system message.
 * - "tool": with a tool that the model must call with its answer.
 * - "prompt": with the system message alone.
 */
export type StructuredOutput = "json_schema" | "json_object" | "tool" | "prompt";

export interface OpenAIModelOptions {
  /** The name of the model at the endpoint. */
  model: string;
  /** The client. Default: `new OpenAI(clientOptions)` of the package `openai`, created at the first call. */
  client?: OpenAIClientSource;
  /** Options of the default client, such as `{ baseURL, apiKey }`. */
  clientOptions?: ClientOptions;
  /** The name of the model in recordings. Default: `model`. */
  id?: string;
  /** The name of the provider in recordings. Default: "openai". */
  provider?: string;
  /** Request options, such as `{ temperature: 0, max_completion_tokens: 500 }`, with the endpoint's own names. They are
   * part of the request's hash. `promptAgent(schema, { modelOptions })` overrides them. */
  modelOptions?: Readonly<Record<string, unknown>>;
  /** The way to request an answer that matches a schema. Default: "json_schema". Part of the request's hash. */
  structuredOutput?: StructuredOutput;
  /** True to require that tool inputs match their schemas exactly, if the schema allows it. Default: false. Part of the
   * request's hash. */
  strictTools?: boolean;
  /** The field of assistant messages in which earlier reasoning is sent back, for endpoints that require it. Default:
   * false. Part of the request's hash. */
  sendReasoning?: false | "reasoning_content" | "reasoning";
  /** "error" (default) fails if the answer reaches the token limit; "accept" returns the partial answer. */
  lengthLimit?: "error" | "accept";
  /** False to request answers without streaming, for endpoints that cannot stream. Default: true. */
  stream?: boolean;
  /** False to omit `stream_options.include_usage`, which some endpoints refuse. Default: true. */
  includeUsage?: boolean;
  /** The number of retries after a refused request or a network failure. Default: the client's own setting. Retries are
   * part of one call: a recording contains only the last attempt. */
  maxRetries?: number;
  /** Milliseconds within which the endpoint must start to answer. Default: the client's own setting. */
  timeout?: number;
  /** More HTTP headers. */
  headers?: Readonly<Record<string, string>>;
  /** Token prices by model name. */
  prices?: PriceTable;
}

/** @throws TypeError that names the invalid option. */
export function checkOptions(options: OpenAIModelOptions): void {
  checkObject("createOpenAIModel: options", options);
  const { model, client, modelOptions, maxRetries, timeout } = options;
  check(typeof model === "string" && model !== "", "model", "a non-empty string", model);
  check(
    client === undefined || typeof client === "function" || hasCompletions(client),
    "client",
    "a client of the package openai, or a function that creates one",
    client,
  );
  check(isOptionalObject(modelOptions), "modelOptions", "an object", modelOptions);
  check(isOptionalCount(maxRetries), "maxRetries", "a non-negative integer", maxRetries);
  check(timeout === undefined || timeout > 0, "timeout", "a positive number of milliseconds", timeout);
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
