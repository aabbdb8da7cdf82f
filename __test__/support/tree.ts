// A three-level tree: a director calls five editors in parallel, each calls its writer. All use memory and tools.

import { callTool, createAgent, equipInstruction, equipMemory, promptAgent, type Tool } from "agent-rewind";
import { z } from "zod";

import { sleep } from "./deferred.js";
import { result, scriptedModel, textOf, type ScriptedModel } from "./scripted-model.js";

const Result = z.object({ result: z.string() });

export interface Tree {
  run(): Promise<unknown>;
  model: ScriptedModel;
  /** The inputs of live tool calls. */
  toolInputs: unknown[];
}

export interface TreeOptions {
  /** Milliseconds by request. The ends interleave where they differ. */
  latency?: (text: string) => number;
  /** Called in the writer of editor 2, after its prompt. */
  inTheMiddle?: () => void | Promise<void>;
  /** Milliseconds that an editor waits before it starts its writer. */
  startAfter?: (index: number) => number;
}

export function tree({ latency = () => 1, inTheMiddle, startAfter = () => 0 }: TreeOptions = {}): Tree {
  const toolInputs: unknown[] = [];
  const model = scriptedModel("tree-model", (messages) => result(`<${textOf(messages[0])}>`), {
    latency: (messages) => latency(textOf(messages[0])),
  });
  const measure: Tool = {
    name: "measure",
    description: "measures a text",
    parameters: z.object({ text: z.string() }),
    handler: async (input: { text: string }) => {
      toolInputs.push(input);
      await sleep(latency(input.text));
      return { length: input.text.length };
    },
  };
  const writer = createAgent<{ topic: string }, string>({
    id: "writer",
    handler: async ({ topic }) => {
      const [drafts, setDrafts] = equipMemory<string[]>("drafts", []);
      equipInstruction(`write about ${topic}, having written ${drafts.length}`);
      const { result: draft } = await promptAgent(Result);
      setDrafts([...drafts, draft]);
      if (topic === "topic 2") await inTheMiddle?.();
      const { length } = (await callTool(measure, { text: draft })) as { length: number };
      return `${draft}:${length}`;
    },
  });
  const editor = createAgent<{ index: number }, string>({
    id: "editor",
    handler: async ({ index }) => {
      const [seen, setSeen] = equipMemory("seen", 0);
      await sleep(startAfter(index));
      const text = await writer({ topic: `topic ${index}` });
      setSeen(seen + 1);
      equipInstruction(`edit ${text}, seen ${seen}`);
      return (await promptAgent(Result)).result;
    },
  });
  const director = createAgent<undefined, unknown>({
    id: "director",
    handler: async () => {
      const [plan, setPlan] = equipMemory("plan", { round: 0 });
      setPlan((previous) => ({ round: previous.round + 1 }));
      const parts = await Promise.all([0, 1, 2, 3, 4].map((index) => editor({ index })));
      equipInstruction(`round ${plan.round}: join ${parts.join(" | ")}`);
      const { result: joined } = await promptAgent(Result);
      return { joined, parts };
    },
  });
  return { run: () => director(), model, toolInputs };
}

/** The number of live calls of a run without a snapshot. */
export const callsOfTheTree = { model: 11, tool: 5 };
