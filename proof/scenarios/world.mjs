// The models and tools that scenarios call. They count the calls that really reach them.

import { callTool, createAgent, equipInstruction, equipTool, journalCall, promptAgent } from "agent-rewind";
import { z } from "zod";

export const Result = z.object({ result: z.string() });

/** The outside of a run. Every live call passes through it and is counted. */
export class World {
  /** The names of the live calls. */
  liveCalls = [];
  /** The number of times each thing was requested, including earlier runs. */
  counts;

  /** `counts`: the counts of an earlier run when it is resumed. */
  constructor(counts = {}) {
    this.counts = { ...counts };
  }

  /** The number of requests for `name`, including this one. */
  ask(name) {
    this.counts[name] = (this.counts[name] ?? 0) + 1;
    return this.counts[name];
  }

  /** Delays a call by some turns of the event loop, depending on its name, so that ends interleave. */
  async make(name) {
    this.liveCalls.push(name);
    let turns = 1;
    for (const character of name) turns = (turns * 31 + character.charCodeAt(0)) % 5;
    for (let turn = 0; turn <= turns; turn += 1) await new Promise(setImmediate);
  }

  /** A model that computes its answer from its messages: a text, or `{ tool: name, input }`. */
  model(id, answer) {
    const world = this;
    return {
      id,
      async *stream(messages, options) {
        const text = messages.map(textOf).join("|");
        await world.make(`model ${id} ${text}`);
        const given = answer(messages, options);
        if (typeof given === "string") yield { type: "text", content: JSON.stringify({ result: given }) };
        else {
          for (const [index, call] of [given].flat().entries()) {
            const toolCall = {
              index,
              id: `${call.tool}-${messages.length}-${index}`,
              name: call.tool,
              arguments: JSON.stringify(call.input),
            };
            yield { type: "tool_call", toolCall };
          }
        }
        yield { type: "usage", usage: { promptTokens: 10, completionTokens: 5, totalTokens: 15 } };
        yield { type: "finish", finishReason: "stop" };
      },
    };
  }

  /** A tool whose handler receives the number of its calls. */
  tool(name, handler, parameters = z.object({}).passthrough()) {
    return {
      name,
      description: `tool ${name}`,
      parameters,
      handler: async (input) => {
        await this.make(`tool ${name} ${JSON.stringify(input)}`);
        return handler(input, this.ask(name));
      },
    };
  }

  /** A journaled call that returns the result of `answer`. */
  step(name, answer = () => name) {
    return journalCall({ kind: "step", name, request: name }, async () => {
      await this.make(`step ${name}`);
      return answer();
    });
  }
}

export function textOf(message) {
  if (message.content === null) return "";
  return typeof message.content === "string"
    ? message.content
    : message.content.map((part) => part.text ?? "").join("");
}

export const toolAnswers = (messages) => messages.filter(({ role }) => role === "tool").length;

/** Prompts a sub-agent with one instruction and some tools. */
export function asking(id, model, tools = []) {
  return createAgent({
    id,
    model,
    maxTurnSteps: 60,
    handler: async ({ text }) => {
      equipInstruction(text);
      for (const tool of tools) equipTool(tool);
      return (await promptAgent(Result)).result;
    },
  });
}

export { callTool, createAgent };
