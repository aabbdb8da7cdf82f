import type { ClientOptions } from "openai";
import { messageOf } from "../errors/base.js";
import { OpenAIModelError } from "./error.js";

/** A client that the adapter can use: `OpenAI`, `AzureOpenAI`, or a wrapper of one. */
export interface OpenAIClient {
  readonly chat: { readonly completions: { create(body: any, options?: any): PromiseLike<unknown> } };
}

/** A client, or a function that creates one. It is called once, at the first request. */
export type OpenAIClientSource = OpenAIClient | (() => OpenAIClient | Promise<OpenAIClient>);

/**
 * Creates the client at the first request, so that a replay needs no API key. After a failure, the next request tries
 * again.
 */
export function lazyClient(
  model: string,
  source: OpenAIClientSource | undefined,
  clientOptions: ClientOptions | undefined,
): () => Promise<OpenAIClient> {
  let made: Promise<OpenAIClient> | undefined;
  const make = async (): Promise<OpenAIClient> => {
    if (typeof source === "function") return source();
    return source ?? newClient(clientOptions);
  };
  return () =>
    (made ??= make().catch((cause: unknown) => {
      made = undefined;
      throw new OpenAIModelError(
        `The client of the model "${model}" could not be created: ${messageOf(cause)}${remedy(cause)}`,
        "ERR_REWIND_OPENAI_CLIENT",
        { model, cause },
      );
    }));
}

async function newClient(clientOptions: ClientOptions | undefined): Promise<OpenAIClient> {
  const { OpenAI } = await import("openai");
  return new OpenAI(clientOptions);
}

function remedy(cause: unknown): string {
  const code = (cause as { code?: unknown } | null | undefined)?.code;
  const missing = code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND";
  return missing ? ' Install the package "openai", or pass the option client.' : "";
}
