import { ModelNotFoundError, ModelRegistryNotFoundError } from "../../errors/index.js";
import { received } from "../../errors/received.js";
import type { ModelAdapter } from "../../types/model.js";
import type { Scope } from "../scope/scope.js";

/**
 * The model of an agent: its own, the registered model with its id, or the model of the run.
 * @throws ModelRegistryNotFoundError, ModelNotFoundError
 */
export function modelOf(scope: Scope): ModelAdapter {
  const { model } = scope.settings;
  if (model === undefined) {
    if (scope.run.model === undefined) throw new ModelNotFoundError(scope.agentId);
    return adapter(scope.run.model, "runWith: options.model");
  }
  if (typeof model !== "string") return adapter(model, `agent "${scope.agentId}": config.model`);
  const registry = scope.run.modelRegistry;
  const found = registry !== undefined && Object.hasOwn(registry, model) ? registry[model] : undefined;
  if (found === undefined)
    throw new ModelRegistryNotFoundError(model, scope.agentId, registry && Object.keys(registry));
  return adapter(found, `runWith: options.modelRegistry["${model}"]`);
}

function adapter(model: ModelAdapter, where: string): ModelAdapter {
  // A JavaScript caller may pass something else, such as the name of a model or a client.
  if (typeof (model as ModelAdapter | null)?.stream === "function") return model;
  throw new TypeError(
    `${where} must be a model adapter, an object with id and stream(), received ${received(model)}. ` +
      'Create one with createOpenAIModel({ model: "…" }) of agent-rewind/openai.',
  );
}
