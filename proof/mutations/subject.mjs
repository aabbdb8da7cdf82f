// The recorded program. A specification of plain data describes all its requests.

import {
  callTool,
  createAgent,
  equipInstruction,
  equipSystem,
  equipTool,
  journalCall,
  promptAgent,
} from "agent-rewind";
import { z } from "zod";

const IMAGE =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** The requests of the program. */
export function specification() {
  return {
    model: { id: "scripted-1", provider: "proof" },
    systems: [
      "You answer questions about the weather, in short sentences.",
      "Do not guess: use your tools. Answer in English.",
    ],
    instructions: [
      [
        { type: "text", text: "What should I wear in Oslo on 3 May? The café in the picture is where we meet." },
        { type: "image", image: { url: IMAGE } },
      ],
      [{ type: "text", text: "I like wool, and I have 2 hours." }],
    ],
    tools: [
      {
        name: "weather",
        description: "Tells the weather of a city",
        parameters: {
          city: { type: "string", description: "Name of the city" },
          days: { type: "number", description: "How many days ahead" },
        },
      },
      {
        name: "shops",
        description: "Finds shops that are open",
        parameters: { near: { type: "string", description: "A street" } },
      },
      {
        name: "trams",
        description: "Finds trams",
        parameters: { from: { type: "string", description: "A stop" }, to: { type: "string", description: "A stop" } },
      },
    ],
    toolChoice: "auto",
    modelOptions: { temperature: 0.7, seed: 7, stop: ["\n\n"], logitBias: { 50256: -100 }, stream: true },
    schema: {
      advice: { type: "string", description: "What to wear" },
      sure: { type: "boolean", description: "Whether you are sure" },
    },
    input: { city: "Oslo", days: 2, options: { units: "metric", hours: [9, 12, 15], coast: true, station: null } },
    call: {
      kind: "embedding",
      name: "small-embedder",
      request: {
        texts: ["wool", "rain coat", "Ångström"],
        dimensions: 256,
        since: new Date(1_746_230_400_000),
        filter: { city: "Oslo", ids: [1, 2, 3] },
      },
    },
    wire: {
      model: { id: "wire-1", provider: "proof" },
      messages: [
        { role: "system", content: "You plan trips." },
        { role: "user", content: "From Oslo to Bergen, by train." },
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "w1", name: "trains", arguments: '{"from":"Oslo","to":"Bergen"}' }],
        },
        { role: "tool", tool_call_id: "w1", content: '{"departures":["08:25","12:03"],"price":1.5e2}' },
        {
          role: "user",
          content: [
            { type: "text", text: "And this one?" },
            { type: "image_url", image_url: { url: IMAGE, detail: "low" } },
          ],
        },
      ],
      tools: [
        {
          name: "trains",
          description: "Finds trains",
          parameters: {
            type: "object",
            properties: { from: { type: "string" }, to: { type: "string" } },
            required: ["from", "to"],
          },
        },
      ],
      options: { temperature: 0, max_tokens: 512, top_p: 0.95, toolChoice: "auto", metadata: { user: "42" } },
      schema: { type: "object", properties: { plan: { type: "string", description: "The plan" } }, required: ["plan"] },
    },
  };
}

/** The source of the answers of a run, and the number of answers requested. */
export class Answers {
  asked = 0;

  give(answer) {
    this.asked += 1;
    return answer;
  }
}

/**
 * Runs the program of a specification: a prompt whose model calls two tools, a tool call, a journaled call and a call
 * of a client.
 */
export async function run(spec, answers) {
  const agent = createAgent({
    id: "subject",
    model: { ...spec.model, stream: (messages) => stream(messages, answers) },
    handler: async () => {
      for (const text of spec.systems) equipSystem(text);
      for (const parts of spec.instructions) equipInstruction(parts);
      const tools = spec.tools.map((tool) => toolOf(tool, answers));
      for (const tool of tools) equipTool(tool);
      const advice = await promptAgent(z.object(fieldsOf(spec.schema)), {
        toolChoice: spec.toolChoice,
        modelOptions: spec.modelOptions,
      });
      const looked = await callTool(look(answers), spec.input);
      const called = await journalCall(spec.call, () => answers.give({ vector: [1, 2] }));
      const planned = await journalCall({ kind: "prompt", name: "client", request: spec.wire }, () =>
        answers.give({ role: "assistant", content: "a plan" }),
      );
      return { advice, looked, called, planned };
    },
  });
  return agent();
}

/** A tool that the program calls directly. */
function look(answers) {
  return { name: "look", description: "", parameters: z.any(), handler: () => answers.give({ seen: true }) };
}

function toolOf({ name, description, parameters }, answers) {
  return {
    name,
    description,
    parameters: z.object(fieldsOf(parameters)),
    handler: () => answers.give({ celsius: 11, sky: "grey", from: name }),
  };
}

function fieldsOf(fields) {
  return z.object(Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, fieldOf(field)]))).shape;
}

function fieldOf({ type, description, optional }) {
  const schema = { string: z.string(), number: z.number(), boolean: z.boolean() }[type];
  const described = description === undefined ? schema : schema.describe(description);
  return optional ? described.optional() : described;
}

async function* stream(messages, answers) {
  answers.give();
  if (!messages.some(({ role }) => role === "tool")) {
    yield { type: "text", content: "Let me look." };
    yield {
      type: "tool_call",
      toolCall: { index: 0, id: "c1", name: "weather", arguments: '{"city":"Oslo","days":2}' },
    };
    yield {
      type: "tool_call",
      toolCall: { index: 1, id: "c2", name: "shops", arguments: '{"near":"Karl Johans gate"}' },
    };
  } else yield { type: "text", content: '{"advice":"A coat of wool.","sure":true}' };
  yield { type: "finish", finishReason: "stop" };
}
