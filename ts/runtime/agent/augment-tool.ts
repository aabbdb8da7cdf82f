import { checkObject } from "../../errors/received.js";
import type { Tool } from "../../types/tool.js";

/** Changed fields of a tool. Middlewares are added inside the existing ones. */
export type ToolChanges<Input, Output> = Partial<Tool<Input, Output>>;

/**
 * Creates a tool from another one, which stays unchanged.
 *
 * @param changes fields that replace those of the tool, except for `middlewares`: they are added, and run inside the
 * existing ones and around the journal. A function computes the changed fields from the old tool; they replace its
 * fields, including `middlewares`.
 */
export function augmentTool<Input, Output>(
  tool: Tool<Input, Output>,
  changes: ToolChanges<Input, Output> | ((tool: Tool<Input, Output>) => ToolChanges<Input, Output>),
): Tool<Input, Output> {
  checkObject("augmentTool: tool", tool);
  if (typeof changes === "function") return { ...tool, ...changes(tool) };
  checkObject("augmentTool: changes", changes);
  const middlewares = [...(tool.middlewares ?? []), ...(changes.middlewares ?? [])];
  return { ...tool, ...changes, ...(middlewares.length === 0 ? {} : { middlewares }) };
}
