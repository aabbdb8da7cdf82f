// Tools for tests, and what a model is told of their calls.

import {
  createAgent,
  equipTool,
  promptAgent,
  runWith,
  type Agent,
  type AgentSnapshot,
  type Message,
  type Tool,
  type ToolContext,
} from "agent-rewind";
import { dumpSnapshot } from "agent-rewind/debugger";
import { expect } from "vitest";
import { z } from "zod";

import { result, scriptedModel, type ScriptedModel } from "./scripted-model.js";

const Result = z.object({ result: z.string() });

/** A tool that takes anything. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- its caller says what the handler takes
export function toolOf<Input>(
  name: string,
  handler: (input: Input, context: ToolContext) => unknown,
  more: Partial<Tool> = {},
): Tool {
  return { name, description: `tool ${name}`, parameters: z.any(), handler: handler as Tool["handler"], ...more };
}

/** A call that a model asks for; `args` that are a text are taken as they are. */
export type Call = [name: string, args: unknown];

/** A model that asks for these calls in its first turn, with `c0`, `c1`, … as their ids, and then answers. */
export function asking(...calls: Call[]): ScriptedModel {
  const tool_calls = calls.map(([name, args], index) => ({
    id: `c${index}`,
    name,
    arguments: typeof args === "string" ? args : JSON.stringify(args),
  }));
  return scriptedModel("m", (messages) => (messages.length > 0 ? result("ok") : { tool_calls }));
}

/** An agent that has the tools, prompts once, and gives a dump. */
export const agentWith = (tools: Tool[]): Agent<undefined, AgentSnapshot> =>
  createAgent({
    id: "a",
    handler: async () => {
      for (const tool of tools) equipTool(tool);
      await promptAgent(Result);
      return dumpSnapshot();
    },
  });

/** What the model is told of its calls. */
export async function told(tools: Tool[], ...calls: Call[]): Promise<unknown[]> {
  const model = asking(...calls);
  await runWith(() => agentWith(tools)(), { model });
  const messages = model.calls[1]?.messages.slice(1) ?? [];
  expect(messages.map(({ role, tool_call_id }) => [role, tool_call_id])).toEqual(
    calls.map((_, index) => ["tool", `c${index}`]),
  );
  return messages.map(({ content }: Message) => content);
}

/** What the model is told of a tool that failed. */
export const failed = (name: string, text: string): string =>
  JSON.stringify({ error: true, message: `Tool "${name}" execution failed: ${text}` });
