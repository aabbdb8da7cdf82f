import type { Tool } from "../../types/tool.js";

/** What a tool is to have instead; its middlewares are added, inside those that it has. */
export type ToolChanges<Input, Output> = Partial<Tool<Input, Output>>;

/**
 * Makes a new tool from another one, which stays as it is.
 *
 * @param changes fields that take the place of the tool's own. `middlewares` alone are added to it: they run inside
 * those that it has, and around the journal. A function gives the fields of the new tool from the old one; what it
 * gives takes the place of the tool's own, `middlewares` too.
 */
export function augmentTool<Input, Output>(
  tool: Tool<Input, Output>,
  changes: ToolChanges<Input, Output> | ((tool: Tool<Input, Output>) => ToolChanges<Input, Output>),
): Tool<Input, Output> {
  if (typeof changes === "function") return { ...tool, ...changes(tool) };
  const middlewares = [...(tool.middlewares ?? []), ...(changes.middlewares ?? [])];
  return { ...tool, ...changes, ...(middlewares.length === 0 ? {} : { middlewares }) };
}
