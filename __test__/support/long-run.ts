// A long production run: snapshots off, its trace in a file. It is also the program that tests kill.

import { appendFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import {
  callTool,
  createAgent,
  equipInstruction,
  equipMemory,
  promptAgent,
  runWith,
  type AgentSnapshot,
  type EventSink,
  type Tool,
} from "agent-rewind";
import { createTraceWriter } from "agent-rewind/debugger";
import { z } from "zod";

import { result, scriptedModel, textOf } from "./scripted-model.js";

const Result = z.object({ result: z.string() });
const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

export interface LongRunOptions {
  /** Called before each live call. */
  onCall: (name: string) => void;
  eventBus?: EventSink;
  snapshot?: AgentSnapshot;
}

export async function longRun({ onCall, eventBus, snapshot }: LongRunOptions): Promise<unknown> {
  const model = scriptedModel("long-model", async (messages) => {
    const text = textOf(messages[0]);
    onCall(`prompt ${text}`);
    await pause(1);
    return result(`<${text}>`);
  });
  const look: Tool = {
    name: "look",
    description: "looks something up",
    parameters: z.object({ key: z.string() }),
    handler: async ({ key }: { key: string }) => {
      onCall(`tool ${key}`);
      await pause(1);
      return { found: key };
    },
  };
  const worker = createAgent<{ step: number; part: number }, string>({
    id: "worker",
    handler: async ({ step, part }) => {
      const [notes, setNotes] = equipMemory<string[]>("notes", []);
      const { found } = (await callTool(look, { key: `${step}.${part}` })) as { found: string };
      setNotes([...notes, found]);
      equipInstruction(`step ${step} part ${part} with ${notes.length} notes`);
      return (await promptAgent(Result)).result;
    },
  });
  const boss = createAgent({
    id: "boss",
    handler: async () => {
      const parts: string[] = [];
      for (let step = 0; step < 12; step += 1) {
        const done = await Promise.all([0, 1, 2].map((part) => worker({ step, part })));
        parts.push(...done);
        await callTool(look, { key: `after ${step}` });
      }
      return parts;
    },
  });
  return runWith(() => boss(), {
    model,
    ...(eventBus === undefined ? {} : { eventBus }),
    ...(snapshot === undefined ? {} : { snapshot }),
  });
}

/** The number of calls of a whole run. */
export const callsOfTheLongRun = 12 * (3 * 2 + 1);

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , trace = "", log = "", sync = "batch"] = process.argv;
  const writer = createTraceWriter(trace, { sync: sync as "batch" });
  await longRun({ onCall: (name) => appendFileSync(log, `${name}\n`), eventBus: writer });
  await writer.close();
}
