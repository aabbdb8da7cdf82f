// A program with all features: nested agents, failing tools, tools that call agents, memory, rebirth, journaled calls,
// wrong answers.

import {
  callTool,
  createAgent,
  equipInstruction,
  equipMemory,
  equipSystem,
  equipTool,
  journalCall,
  promptAgent,
  reborn,
  type Tool,
} from "agent-rewind";
import { z } from "zod";

import { sleep } from "./deferred.js";
import { result, scriptedModel, textOf, type ScriptedModel } from "./scripted-model.js";

const Result = z.object({ result: z.string() });

export interface RichRun {
  run(): Promise<unknown>;
  model: ScriptedModel;
  /** The names of the live calls, except those of the model. */
  liveCalls: string[];
}

export interface RichOptions {
  /** Called inside the second writer, between its calls. */
  inTheMiddle?: () => void;
  /** Called before the leader is reborn. */
  beforeRebirth?: () => void;
}

/** A leader, reborn once, whose tool calls two writers in parallel, and a checker whose tool fails. */
export function richRun({ inTheMiddle, beforeRebirth }: RichOptions = {}): RichRun {
  const liveCalls: string[] = [];
  const model = scriptedModel(
    "rich",
    (messages) => {
      const first = textOf(messages.find(({ role }) => role === "user"));
      const answered = messages.filter(({ role }) => role === "tool").length;
      if (first.startsWith("lead") && answered === 0) {
        return {
          tool_calls: [
            { id: "l1", name: "look_up", arguments: '{"key":"x"}' },
            { id: "l2", name: "delegate", arguments: '{"topics":["a","b"]}' },
            { id: "l3", name: "broken", arguments: "{}" },
          ],
        };
      }
      if (first.startsWith("write b") && messages.length === 1) return { content: "not JSON" };
      return result(`<${first}>`);
    },
    { provider: "scripted", latency: (messages) => (textOf(messages[0]).includes("write a") ? 4 : 1) },
  );
  model.calculateCost = ({ totalTokens }) => ({ microcents: totalTokens });

  const lookUp: Tool = {
    name: "look_up",
    description: "looks up",
    parameters: z.object({ key: z.string() }),
    handler: async ({ key }: { key: string }) => {
      liveCalls.push(`look_up ${key}`);
      await sleep(2);
      return { key, at: new Date(0), missing: undefined };
    },
  };
  const broken: Tool = {
    name: "broken",
    description: "always fails",
    parameters: z.object({}),
    handler: () => {
      liveCalls.push("broken");
      throw Object.assign(new RangeError("upstream 503"), { code: "E_503" });
    },
  };
  const writer = createAgent<{ topic: string }, string>({
    id: "writer",
    handler: async ({ topic }) => {
      const [drafts, setDrafts] = equipMemory<string[]>("drafts", []);
      equipInstruction(`write ${topic}`);
      const { result: draft } = await promptAgent(Result);
      setDrafts([...drafts, draft]);
      if (topic === "b") inTheMiddle?.();
      await journalCall({ kind: "embedding", name: "small", request: { text: draft } }, () => {
        liveCalls.push(`embed ${topic}`);
        return new Uint8Array([draft.length]);
      });
      return draft;
    },
  });
  const delegate: Tool = {
    name: "delegate",
    description: "lets writers write",
    parameters: z.object({ topics: z.array(z.string()) }),
    handler: ({ topics }: { topics: string[] }) => {
      liveCalls.push("delegate");
      return Promise.all(topics.map((topic) => writer({ topic })));
    },
  };
  const checker = createAgent<{ text: string }, never>({
    id: "checker",
    handler: async ({ text }) => {
      equipMemory("checked", text);
      return (await callTool(broken, { text })) as never;
    },
  });
  const leader = createAgent<{ round: number }, unknown>({
    id: "leader",
    handler: async ({ round }) => {
      const [rounds, setRounds] = equipMemory<string[]>("rounds", []);
      equipSystem(`You lead, after ${rounds.length} rounds.`);
      equipInstruction(round === 0 ? "lead" : `sum up ${rounds.join()}`);
      for (const tool of [lookUp, delegate, broken]) equipTool(tool);
      const { result: text } = await promptAgent(Result);
      setRounds([...rounds, text]);
      if (round === 0) {
        beforeRebirth?.();
        return reborn({ round: 1 });
      }
      const checked = await checker({ text }).catch((error: Error) => error.message);
      return { text, checked, found: await callTool(lookUp, { key: text }) };
    },
  });
  return { run: () => leader({ round: 0 }), model, liveCalls };
}

export const richResult = {
  text: "<sum up <lead>>",
  checked: "upstream 503",
  found: { key: "<sum up <lead>>", at: new Date(0), missing: undefined },
};
