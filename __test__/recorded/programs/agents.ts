// Programs of agents: sub-agents, tools and their middlewares, memory, agents that start over, budgets, streams.
import {
  augmentTool,
  callTool,
  createAgent,
  equipBudget,
  equipInstruction,
  equipMemory,
  equipSystem,
  equipTool,
  promptAgent,
  reborn,
  recordToolUsage,
  type Message,
  type Tool,
} from "agent-rewind";
import { z } from "zod";

import {
  result,
  scriptedModel,
  textOf,
  toolCall,
  type Answer,
  type ScriptedModel,
} from "../../support/scripted-model.js";
import { failure, plain, sleep, type Program, type World } from "../program.js";

const Result = z.object({ result: z.string() });

/** A model that counts its live calls in the world. */
function model(
  world: World,
  answer: (messages: Message[]) => Answer,
  latency?: (messages: Message[]) => number,
): ScriptedModel {
  const counted = (messages: Message[]): Answer => {
    world.made.push(`model: ${textOf(messages.at(-1)).slice(0, 40)}`);
    return answer(messages);
  };
  return scriptedModel("scripted", counted, { provider: "corpus", ...(latency === undefined ? {} : { latency }) });
}

function lookUp(world: World): Tool<{ key: string }, unknown> {
  return {
    name: "look_up",
    description: "Looks something up",
    parameters: z.object({ key: z.string() }),
    handler: ({ key }) => {
      world.made.push(`look_up ${key}`);
      return { key, at: new Date(0), missing: undefined };
    },
  };
}

function broken(world: World): Tool<Record<string, never>, never> {
  return {
    name: "broken",
    description: "Always fails",
    parameters: z.object({}),
    handler: () => {
      world.made.push("broken");
      throw Object.assign(new RangeError("upstream 503"), { code: "E_503" });
    },
  };
}

/** A conversation of several turns: parallel tool calls, one of them failing, and an answer that is wrong at first. */
const conversation: Program = {
  name: "conversation",
  async run(world) {
    const scripted = model(world, (messages) => {
      const answered = messages.filter(({ role }) => role === "tool").length;
      if (answered === 0) {
        return {
          tool_calls: [
            { id: "l1", name: "look_up", arguments: '{"key":"x"}' },
            { id: "l2", name: "broken", arguments: "{}" },
          ],
        };
      }
      if (answered === 2) return toolCall("l3", "look_up", { key: "y" });
      return messages.at(-1)?.role === "tool" ? { content: "not JSON" } : result("found");
    });
    const agent = createAgent<{ topic: string }, unknown>({
      id: "researcher",
      model: scripted,
      handler: async ({ topic }) => {
        equipSystem("You research.");
        equipInstruction(`Research ${topic}`);
        equipTool(lookUp(world));
        equipTool(broken(world));
        const answer = await promptAgent(Result);
        world.middle();
        return [answer, await callTool(lookUp(world), { key: "z" })];
      },
    });
    return agent({ topic: "moths" });
  },
};

/** Five sub-agents of one id, whose ends interleave; the third one's tool fails. */
const parallelAgents: Program = {
  name: "parallel-agents",
  async run(world) {
    const latencies = [50, 10, 40, 20, 30];
    const shardOf = (messages: Message[]): number =>
      Number(/shard (\d)/.exec(textOf(messages.find(({ role }) => role === "user")))?.[1]);
    const scripted = model(
      world,
      (messages) =>
        messages.some(({ role }) => role === "tool")
          ? result(`answer ${shardOf(messages)}`)
          : toolCall(`s${shardOf(messages)}`, "look_up", { key: String(shardOf(messages)) }),
      (messages) => latencies[shardOf(messages)] ?? 0,
    );
    const shard = createAgent<{ number: number }, unknown>({
      id: "shard",
      model: scripted,
      handler: async ({ number }) => {
        const [, setNumber] = equipMemory("number", -1);
        setNumber(number);
        equipInstruction(`shard ${number}`);
        equipTool(lookUp(world));
        const answer = await promptAgent(Result);
        if (number === 3) world.middle();
        if (number === 2) await callTool(broken(world), {});
        return answer.result;
      },
    });
    const lead = createAgent({
      id: "lead",
      handler: () => Promise.all([0, 1, 2, 3, 4].map((number) => shard({ number }).catch(failure))),
    });
    return lead();
  },
};

/** An agent that starts over twice, with memory and props that are not JSON. */
const startsOver: Program = {
  name: "starts-over",
  async run(world) {
    const scripted = model(world, (messages) => result(`<${textOf(messages.at(-1))}>`));
    const child = createAgent<{ round: number }, string>({
      id: "child",
      model: scripted,
      handler: async ({ round }) => {
        equipInstruction(`child ${round}`);
        return (await promptAgent(Result)).result;
      },
    });
    const agent = createAgent<{ round: number; since: Date; seen: Set<number> }, unknown>({
      id: "looper",
      model: scripted,
      handler: async ({ round, since, seen }) => {
        const [rounds, setRounds] = equipMemory<string[]>("rounds", []);
        equipInstruction(`round ${round} after ${rounds.length} and ${seen.size}`);
        const { result: text } = await promptAgent(Result);
        setRounds([...rounds, text]);
        const inner = await child({ round });
        if (round === 1) world.middle();
        if (round < 2) return reborn({ round: round + 1, since, seen: new Set([...seen, round]) });
        return { rounds, text, inner, since };
      },
    });
    return agent({ round: 0, since: new Date(7), seen: new Set() });
  },
};

/** The memory of the dump is edited, and the edited values win. */
const memoryEdited: Program = {
  name: "memory-edited",
  async run(world) {
    const agent = createAgent({
      id: "rememberer",
      handler: async () => {
        const [mood, setMood] = equipMemory("mood", "calm");
        const [count, setCount] = equipMemory("count", 1);
        await world.call("step", () => "done");
        setMood("busy");
        setCount(count + 1);
        world.middle();
        await world.call("last", () => "done");
        return { mood, count };
      },
    });
    const [shared, setShared] = equipMemory<Record<string, unknown>>("shared", { list: [] });
    const value = await agent();
    setShared({ list: [1, { deep: null }] });
    return { value, shared };
  },
  edit(snapshot) {
    snapshot.root.memory["shared"] = { edited: true };
    const [frame] = Object.values(snapshot.root.children);
    if (frame !== undefined) frame.memory["mood"] = "edited";
    return snapshot;
  },
};

const toolMiddlewares: Program = {
  name: "tool-middlewares",
  async run(world) {
    const log: unknown[] = [];
    const layer = (name: string) => ({
      name,
      handler: async ({ toolName, input }: { toolName: string; input: unknown }, next: () => Promise<unknown>) => {
        log.push([name, toolName, input]);
        const output = await next();
        return name === "outer" ? { wrapped: output } : output;
      },
    });
    const tool = augmentTool({ ...lookUp(world), middlewares: [layer("inner")] }, { middlewares: [layer("outer")] });
    const refusing: Tool<{ key: string }, unknown> = {
      ...lookUp(world),
      name: "refused",
      middlewares: [{ name: "cache", handler: async () => "answered by the middleware" }],
    };
    const direct = await callTool(tool, { key: "a" });
    world.middle();
    return { direct, refused: await callTool(refusing, { key: "b" }), log };
  },
};

const budgets: Program = {
  name: "budgets",
  async run(world) {
    const scripted = model(world, () => result("ok"));
    scripted.calculateCost = ({ totalTokens }) => ({ microcents: totalTokens });
    const updates: unknown[] = [];
    const scraper: Tool<{ pages: number }, number> = {
      name: "scrape",
      description: "Reads pages",
      parameters: z.object({ pages: z.number() }),
      handler: ({ pages }) => {
        world.made.push("scrape");
        recordToolUsage({ name: "scraper", costs: { microcents: 5 * pages }, quantity: pages, unit: "page" });
        return pages;
      },
    };
    const agent = createAgent({
      id: "spender",
      model: scripted,
      handler: async () => {
        equipBudget({ onUpdate: ({ aggregate }) => void updates.push(aggregate.costs) });
        equipInstruction("spend");
        const pages = await callTool(scraper, { pages: 3 });
        world.middle();
        return [pages, await promptAgent(Result)];
      },
    });
    return agent();
  },
};

/** The answers of a model as they are streamed: reasoning, text in pieces, a call in pieces, extras. */
const streamedModel: Program = {
  name: "streamed-model",
  async run(world) {
    const seen: string[] = [];
    const agent = createAgent({
      id: "streamer",
      model: {
        id: "streaming",
        async *stream(messages) {
          world.made.push(`stream ${messages.length}`);
          const usage = { promptTokens: 3, completionTokens: 4, totalTokens: 7, details: { cached: 1 } };
          if (!messages.some(({ role }) => role === "tool")) {
            yield { type: "tool_call", toolCall: { index: 0, id: "c1", name: "look_up" } };
            yield { type: "tool_call", toolCall: { index: 0, arguments: '{"key":' } };
            yield { type: "tool_call", toolCall: { index: 0, arguments: '"k"}', extra: { k: 1 } } };
            yield { type: "finish", finishReason: "tool_calls", usage };
            return;
          }
          yield { type: "reasoning", content: "Let me " };
          await sleep(2);
          yield { type: "reasoning", content: "think." };
          yield { type: "text", content: '{"result":' };
          yield { type: "text", content: '"ok"}' };
          yield { type: "extra", extra: { signature: "s" } };
          yield { type: "usage", usage };
          yield { type: "finish", finishReason: "stop" };
        },
      },
      onStream: ({ type, ...event }) => {
        if (type === "text" || type === "reasoning") seen.push(JSON.stringify(event));
      },
      handler: async () => {
        equipInstruction("stream");
        equipTool(lookUp(world));
        const answer = await promptAgent(Result);
        world.middle();
        return [answer, await world.call("after", () => 1)];
      },
    });
    return [await agent(), seen.length > 0];
  },
};

export const agentPrograms: readonly Program[] = [
  conversation,
  parallelAgents,
  startsOver,
  memoryEdited,
  toolMiddlewares,
  budgets,
  streamedModel,
].map((program) => ({ ...program, run: async (world) => plain(await program.run(world)) }));
