// An agent that calls a tool in each step until its model answers.

import { createAgent, equipInstruction, equipTool, promptAgent } from "agent-rewind";
import { z } from "zod";

import { output } from "./entries.mjs";

/** Counts the live calls. */
export function toolLoop(steps) {
  const calls = { model: 0, tool: 0 };
  const model = {
    id: "scripted",
    async *stream(messages) {
      calls.model += 1;
      const step = (messages.length - 1) / 2;
      if (step === steps - 1) yield { type: "text", content: JSON.stringify({ answer: "done" }) };
      else {
        const input = JSON.stringify({ query: `question ${step}`, limit: step });
        yield { type: "text", content: `Step ${step}: let me search for more.` };
        yield { type: "tool_call", toolCall: { index: 0, id: `call_${step}`, name: "search", arguments: input } };
      }
      yield { type: "usage", usage: { promptTokens: 100, completionTokens: 20, totalTokens: 120 } };
      yield { type: "finish", finishReason: "stop" };
    },
  };
  const search = {
    name: "search",
    description: "Searches",
    parameters: z.object({ query: z.string(), limit: z.number() }),
    handler: async ({ limit }) => {
      calls.tool += 1;
      // An output of 2 KB.
      return output(2 * limit + 1);
    },
  };
  const agent = createAgent({
    id: "searcher",
    maxTurnSteps: steps,
    handler: () => {
      equipInstruction("Find everything about the second quarter.");
      equipTool(search);
      return promptAgent(z.object({ answer: z.string() }));
    },
  });
  return { agent, model, calls };
}
