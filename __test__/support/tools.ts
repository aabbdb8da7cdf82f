// Tools for tests, and the messages that a model receives about their calls.

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

/** A tool that accepts any input. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- its caller says what the handler takes
export function toolOf<Input>(
  name: string,
  handler: (input: Input, context: ToolContext) => unknown,
  more: Partial<Tool> = {},
): Tool {
  return { name, description: `tool ${name}`, parameters: z.any(), handler: handler as Tool["handler"], ...more };
}

/** A tool call by the model. String `args` are used unchanged. */
export type Call = [name: string, args: unknown];

/** A model that calls these tools in its first turn, with the ids `c0`, `c1`, …, and then answers. */
export function asking(...calls: Call[]): ScriptedModel {
  const tool_calls = calls.map(([name, args], index) => ({
    id: `c${index}`,
    name,
    arguments: typeof args === "string" ? args : JSON.stringify(args),
  }));
  return scriptedModel("m", (messages) => (messages.length > 0 ? result("ok") : { tool_calls }));
}

/** An agent with the tools that prompts once and returns a dump. */
export const agentWith = (tools: Tool[]): Agent<undefined, AgentSnapshot> =>
  createAgent({
    id: "a",
    handler: async () => {
      for (const tool of tools) equipTool(tool);
      await promptAgent(Result);
      return dumpSnapshot();
    },
  });

/** The tool messages that the model receives for its calls. */
export async function toolMessages(tools: Tool[], ...calls: Call[]): Promise<unknown[]> {
  const model = asking(...calls);
  await runWith(() => agentWith(tools)(), { model });
  const messages = model.calls[1]?.messages.slice(1) ?? [];
  expect(messages.map(({ role, tool_call_id }) => [role, tool_call_id])).toEqual(
    calls.map((_, index) => ["tool", `c${index}`]),
  );
  return messages.map(({ content }: Message) => content);
}

/** The tool message that reports a failed tool to the model. */
export const failed = (name: string, text: string): string =>
  JSON.stringify({ error: true, message: `Tool "${name}" execution failed: ${text}` });
