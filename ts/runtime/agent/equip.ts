import { requireContext, type RunContext } from "../scope/run-context.js";
import { AfterPromptAgentError } from "../../errors/index.js";
import { EVENTS } from "../../events/names.js";
import type { ContentPart } from "../../types/messages.js";
import type { Tool, ToolMiddleware } from "../../types/tool.js";
import { newSpanId } from "../scope/ids.js";
import type { Generation } from "../scope/generation.js";
import { Watcher, type BudgetUpdate } from "../scope/watcher.js";

export interface BudgetOptions {
  /**
   * Told of every use in the current frame and under it, in the context in which it was equipped; `own` and
   * `aggregate` are those of that frame. It can stop the agent with `getAbortHandle().abort()`; what it throws goes
   * to `console.warn`, once.
   */
  onUpdate: (update: BudgetUpdate) => unknown;
}

function generationBeforePrompt(apiName: string): Generation {
  const { generation } = requireContext(apiName);
  if (generation.prompted) throw new AfterPromptAgentError(apiName);
  return generation;
}

/**
 * Adds a system message to the agent's prompt.
 * @throws AfterPromptAgentError once the agent has been prompted in this generation.
 */
export function equipSystem(text: string): void {
  generationBeforePrompt("equipSystem").systems.push(text);
}

/**
 * Adds a user message to the agent's prompt.
 * @throws AfterPromptAgentError once the agent has been prompted in this generation.
 */
export function equipInstruction(content: string | readonly ContentPart[]): void {
  const { instructions } = generationBeforePrompt("equipInstruction");
  // A copy: nobody can change what was equipped, and so what is hashed.
  instructions.push(typeof content === "string" ? [{ type: "text", text: content }] : structuredClone([...content]));
}

/**
 * Lets the model call a tool. A second tool of the same name takes the place of the first.
 * @throws AfterPromptAgentError once the agent has been prompted in this generation.
 * @throws TypeError if the tool is none.
 */
export function equipTool(tool: Tool, options: { middleware?: ToolMiddleware | readonly ToolMiddleware[] } = {}): void {
  const { tools } = generationBeforePrompt("equipTool");
  if (typeof tool?.name !== "string" || tool.name === "") {
    throw new TypeError("equipTool: tool.name must be a string that is not empty");
  }
  if (typeof tool.handler !== "function")
    throw new TypeError(`equipTool("${tool.name}"): tool.handler must be a function`);
  const added = options.middleware === undefined ? [] : [options.middleware].flat();
  tools.set(tool.name, added.length === 0 ? tool : { ...tool, middlewares: [...(tool.middlewares ?? []), ...added] });
}

/**
 * Watches what the agent and its sub-agents use, until its generation ends. Replayed calls use nothing.
 * @throws AfterPromptAgentError once the agent has been prompted in this generation.
 */
export function equipBudget({ onUpdate }: BudgetOptions): void {
  if (typeof onUpdate !== "function") throw new TypeError("equipBudget: options.onUpdate must be a function");
  const context = requireContext("equipBudget");
  generationBeforePrompt("equipBudget").budgetWatchers.push(
    new Watcher("equipBudget's onUpdate", (update: BudgetUpdate) => context.run(() => onUpdate(update))),
  );
}

/**
 * A value that lives as long as the agent, over its generations, and that snapshots keep. Values are
 * copies: changing one changes nothing until it is set.
 *
 * @param initial what the key holds at first; ignored where it holds something already.
 * @returns the value, and a function that sets it to a new one or to what a function makes of the latest.
 * @throws TypeError if the key is no string, or a value is not JSON.
 */
export function equipMemory<T>(key: string, initial: T): [T, (value: T | ((previous: T) => T)) => void] {
  const context = requireContext("equipMemory");
  const { memory } = context.scope;
  if (typeof key !== "string") throw new TypeError(`equipMemory: the key must be a string, received ${typeof key}`);
  if (!memory.has(key) && !context.isStale) {
    memory.set(key, initial, true);
    tellInitial(context, key);
  }
  const set = (value: T | ((previous: T) => T)): void => {
    // A replay begins with the last generation: what an earlier one still did would be lost.
    if (context.isStale) return;
    const next = typeof value === "function" ? (value as (previous: T) => T)(memory.get(key) as T) : value;
    memory.set(key, next, false);
  };
  return [memory.has(key) ? (memory.get(key) as T) : initial, set];
}

/** The value may vary from run to run: with its event a trace alone brings it back. */
function tellInitial(context: RunContext, key: string): void {
  const { scope } = context;
  // What is set in a frame that has ended is not journaled, even if a call still holds the frame open.
  if (!scope.run.observed || scope.closed) return;
  const span = { spanId: newSpanId(), parentSpanId: context.trace.spanId };
  scope.emit(EVENTS.MEMORY_INIT, span, { key, value: scope.memory.get(key) });
}
