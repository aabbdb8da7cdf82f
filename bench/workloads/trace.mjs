// Traces of real runs, in the shapes that a tree of agents can have.

import {
  callTool,
  createAgent,
  equipInstruction,
  equipMemory,
  equipTool,
  journalCall,
  promptAgent,
  runWith,
} from "agent-rewind";
import { z } from "zod";

import { prose } from "./text.mjs";

const TEXTS = Array.from({ length: 16 }, (_, index) => prose(600, index));
const text = (index) => TEXTS[index % TEXTS.length];

/** Answers a question after one tool call. */
const model = {
  id: "scripted",
  provider: "bench",
  async *stream(messages) {
    const asked = messages.length > 2;
    if (asked) yield { type: "text", content: JSON.stringify({ answer: text(messages[1].content.length) }) };
    else {
      yield { type: "text", content: "Let me search for it." };
      const input = JSON.stringify({ query: "revenue of the second quarter", limit: 1 });
      yield { type: "tool_call", toolCall: { index: 0, id: "call_0", name: "search", arguments: input } };
    }
    yield { type: "usage", usage: { promptTokens: 100, completionTokens: 20, totalTokens: 120 } };
    yield { type: "finish", finishReason: asked ? "stop" : "tool_calls" };
  },
};

const search = {
  name: "search",
  description: "Searches",
  parameters: z.object({ query: z.string(), limit: z.number() }),
  handler: async ({ limit }) => ({ total: 1, passages: [{ rank: 0, score: 0.25, text: text(limit) }] }),
};

/** Prompts once with one tool call: 21 events. */
const worker = createAgent({
  id: "worker",
  handler: async ({ index }) => {
    const [, setDone] = equipMemory("done", 0);
    equipInstruction(`Answer question ${index}. ${text(index)}`);
    equipTool(search);
    const { answer } = await promptAgent(z.object({ answer: z.string() }));
    setDone((done) => done + 1);
    return { index, answer };
  },
});

/** Repeatedly calls the tool and a model directly: 6 events per round. */
const soloist = createAgent({
  id: "soloist",
  handler: async ({ rounds }) => {
    for (let round = 0; round < rounds; round++) {
      const found = await callTool(search, { query: `question ${round}`, limit: round });
      const request = { model: "scripted", messages: [{ role: "user", content: `${round} ${found.total}` }] };
      const make = () => ({ role: "assistant", content: text(round) });
      await journalCall({ kind: "prompt", name: "scripted", request }, make);
    }
  },
});

/** Calls the tool and then itself, to the full depth: 8 events per level. */
const link = createAgent({
  id: "link",
  handler: async ({ chain, left }) => {
    await callTool(search, { query: `chain ${chain}`, limit: left });
    if (left > 1) await link({ chain, left: left - 1 });
  },
});

const CHAIN = 200;

/**
 * Programs that emit about the given number of events, by the shape of their tree. The beginning of a sequential trace
 * is itself a valid trace: that of a run killed there.
 */
export const shapes = {
  "one long agent": { sequential: true, run: (events) => soloist({ rounds: Math.ceil(events / 6) }) },
  "many children of one id": {
    sequential: true,
    run: async (events) => {
      for (let index = 0; index < events / 21; index++) await worker({ index });
    },
  },
  "wide and parallel": {
    sequential: false,
    run: (events) => Promise.all(Array.from({ length: Math.ceil(events / 21) }, (_, index) => worker({ index }))),
  },
  "deep chains": {
    sequential: true,
    run: async (events) => {
      for (let chain = 0; chain < events / (8 * CHAIN); chain++) await link({ chain, left: CHAIN });
    },
  },
};

/**
 * The events of a production run, where nothing else is collected.
 *
 * @template T
 * @param {keyof typeof shapes} shape
 * @param {number} count the approximate number of events
 * @param {(event: object) => T} [keep] selects the part of an event to keep
 * @returns {Promise<T[]>}
 */
export async function traceOf(shape, count, keep = (event) => event) {
  const kept = [];
  const emit = (event) => kept.push(keep(event));
  const options = { model, enableSnapshot: false, maxDepth: CHAIN + 1, eventBus: { emit } };
  await runWith(() => shapes[shape].run(count), options);
  return kept;
}

/** Traces of an eighth, a quarter and a half of a trace. */
export async function smallerTraces(shape, whole, keep) {
  const sizes = [8, 4, 2].map((share) => Math.floor(whole.length / share));
  if (shapes[shape].sequential) return sizes.map((size) => whole.slice(0, size));
  const traces = [];
  for (const size of sizes) traces.push(await traceOf(shape, size, keep));
  return traces;
}
