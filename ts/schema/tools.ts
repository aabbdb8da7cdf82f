import type { ToolSchema } from "../types/model.js";
import type { Tool } from "../types/tool.js";
import { requireJsonSchema } from "./required.js";

/**
 * The tools as a model sees them, in the order in which they were equipped.
 * @throws JsonSchemaNotFoundError, TypeError
 */
export function toolSchemas(tools: Iterable<Tool>): ToolSchema[] {
  return Array.from(tools, ({ name, description, parameters, jsonSchema }) => ({
    name,
    description,
    parameters: requireJsonSchema(parameters, jsonSchema, {
      owner: `tool "${name}"`,
      remedy: "the tool's jsonSchema",
    }),
  }));
}

/** The tools with their middlewares, which are part of the hashes in recordings of `@rejelly/core`. */
export function foreignToolSchemas(tools: Iterable<Tool>): ToolSchema[] {
  return Array.from(tools).flatMap((tool) => {
    const { middlewares = [] } = tool;
    const schemas = toolSchemas([tool]);
    if (middlewares.length === 0) return schemas;
    return schemas.map((schema) => ({
      ...schema,
      middlewares: middlewares.map(({ name, config }) => ({ name, config })),
    }));
  });
}
