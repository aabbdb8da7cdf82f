import { ModelNotFoundError, ModelRegistryNotFoundError } from "../errors/index.js";
import type { ModelAdapter } from "../types/model.js";
import type { Scope } from "./scope.js";

/**
 * The model of an agent: its own, the one its id names in the registry, or that of the run.
 * @throws ModelRegistryNotFoundError, ModelNotFoundError
 */
export function modelOf(scope: Scope): ModelAdapter {
  const { model } = scope.settings;
  if (model === undefined) {
    if (scope.run.model === undefined) throw new ModelNotFoundError(scope.agentId);
    return scope.run.model;
  }
  if (typeof model !== "string") return model;
  const registry = scope.run.modelRegistry;
  const found = registry !== undefined && Object.hasOwn(registry, model) ? registry[model] : undefined;
  if (found === undefined)
    throw new ModelRegistryNotFoundError(model, scope.agentId, registry && Object.keys(registry));
  return found;
}
