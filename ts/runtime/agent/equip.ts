import { requireContext, type RunContext } from "../scope/run-context.js";
import { AfterPromptAgentError } from "../../errors/index.js";
import { checkFunction, checkObject, checkText, kindOf } from "../../errors/received.js";
import { EVENTS } from "../../events/names.js";
import type { ContentPart } from "../../types/messages.js";
import type { Tool, ToolMiddleware } from "../../types/tool.js";
import type { Generation } from "../scope/generation.js";
import { emitEvent } from "../scope/span.js";
import { Watcher, type BudgetUpdate } from "../scope/watcher.js";

export interface BudgetOptions {
  /**
   * Called for every use in the current frame and below it, in the context in which it was equipped. `own` and
   * `aggregate` are the budget of that frame. It can stop the agent with `getAbortHandle().abort()`. The first error
   * that it throws is printed with `console.warn`.
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
  const { systems } = generationBeforePrompt("equipSystem");
  checkText("equipSystem: text", text);
  systems.push(text);
}

/**
 * Adds a user message to the agent's prompt.
 * @throws AfterPromptAgentError once the agent has been prompted in this generation.
 */
export function equipInstruction(content: string | readonly ContentPart[]): void {
  const { instructions } = generationBeforePrompt("equipInstruction");
  if (typeof content !== "string" && !Array.isArray(content)) {
    throw new TypeError(
      `equipInstruction: content must be a string or a list of content parts, received ${kindOf(content)}`,
    );
  }
  // A copy, so that later changes do not change the hash.
  instructions.push(typeof content === "string" ? [{ type: "text", text: content }] : structuredClone([...content]));
}

/**
 * Lets the model call a tool. A second tool with the same name replaces the first.
 * @throws AfterPromptAgentError once the agent has been prompted in this generation.
 * @throws TypeError if the tool is invalid.
 */
export function equipTool(tool: Tool, options: { middleware?: ToolMiddleware | readonly ToolMiddleware[] } = {}): void {
  const { tools } = generationBeforePrompt("equipTool");
  if (typeof tool?.name !== "string" || tool.name === "") {
    throw new TypeError("equipTool: tool.name must be a non-empty string");
  }
  if (typeof tool.handler !== "function")
    throw new TypeError(`equipTool("${tool.name}"): tool.handler must be a function`);
  const added = options.middleware === undefined ? [] : [options.middleware].flat();
  tools.set(tool.name, added.length === 0 ? tool : { ...tool, middlewares: [...(tool.middlewares ?? []), ...added] });
}

/**
 * Watches the usage of the agent and its sub-agents until its generation ends. Replayed calls have no usage.
 * @throws AfterPromptAgentError once the agent has been prompted in this generation.
 */
export function equipBudget(options: BudgetOptions): void {
  checkObject("equipBudget: options", options);
  const { onUpdate } = options;
  checkFunction("equipBudget: options.onUpdate", onUpdate);
  const context = requireContext("equipBudget");
  generationBeforePrompt("equipBudget").budgetWatchers.push(
    new Watcher("equipBudget's onUpdate", (update: BudgetUpdate) => context.run(() => onUpdate(update))),
  );
}

/**
 * A value that all generations of the agent share, and that snapshots contain. Values are copies: changing one has no
 * effect until it is set.
 *
 * @param initial the first value of the key. Ignored if the key already has a value.
 * @returns the value, and a function that sets a new value, or computes it from the latest one.
 * @throws TypeError if the key is not a string, or a value is not JSON.
 */
export function equipMemory<T>(key: string, initial: T): [T, (value: T | ((previous: T) => T)) => void] {
  const context = requireContext("equipMemory");
  const { memory } = context.scope;
  if (typeof key !== "string") throw new TypeError(`equipMemory: the key must be a string, received ${typeof key}`);
  if (!memory.has(key) && !context.isStale) {
    memory.set(key, initial, true);
    emitInitial(context, key);
  }
  const set = (value: T | ((previous: T) => T)): void => {
    // A replay starts with the last generation, so it would lose what an earlier one sets now.
    if (context.isStale) return;
    const next = typeof value === "function" ? (value as (previous: T) => T)(memory.get(key) as T) : value;
    memory.set(key, next, false);
  };
  return [memory.has(key) ? (memory.get(key) as T) : initial, set];
}

/** The initial value may differ from run to run. This event lets a restore from a trace find it. */
function emitInitial(context: RunContext, key: string): void {
  const { scope } = context;
  // Memory of an ended frame is not journaled.
  if (scope.closed) return;
  emitEvent(scope, EVENTS.MEMORY_INIT, context.trace.spanId, () => ({ key, value: scope.memory.get(key) }));
}
