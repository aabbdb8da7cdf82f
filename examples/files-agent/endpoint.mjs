import { createCallLog } from "./call-log.mjs";
import { createOpenAIModel } from "./openai-model.mjs";
import { startScriptedServer } from "./scripted-server.mjs";

/**
 * The real endpoint if OPENAI_API_KEY is set, otherwise the scripted server, which is started here.
 *
 * @param {{ count: number, add(body: string): void }} sent Receives every request that the adapter sends.
 * @returns A model, the log of the requests that count, and true if equal requests get equal answers.
 */
export async function openEndpoint(sent) {
  const { OPENAI_API_KEY: apiKey, OPENAI_BASE_URL: baseURL, OPENAI_MODEL: model } = process.env;
  if (apiKey) {
    const options = {
      apiKey,
      baseURL: baseURL ?? "https://api.openai.com/v1",
      model: model ?? "gpt-4o-mini",
    };
    return {
      model: createOpenAIModel({ ...options, onRequest: sent.add }),
      description: `${options.model} at ${options.baseURL}`,
      requests: sent,
      deterministic: false,
      close: async () => {},
    };
  }
  const requests = createCallLog();
  const server = await startScriptedServer({ onRequest: requests.add });
  return {
    model: createOpenAIModel({ baseURL: server.baseURL, model: "scripted", onRequest: sent.add }),
    description: `a scripted model at ${server.baseURL}`,
    requests,
    deterministic: true,
    close: server.close,
  };
}
