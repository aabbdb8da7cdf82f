import { callTool, createAgent, equipInstruction, promptAgent, replay, resume, runWith } from "agent-rewind";
import type { AgentSnapshot, ModelAdapter, ReplayReport, Tool } from "agent-rewind";
import { dumpSnapshot, forkSnapshot } from "agent-rewind/debugger";
import { z } from "zod";

export async function tour(model: ModelAdapter, search: Tool): Promise<unknown[]> {
  const reporter = createAgent<{ topic: string }, { result: string }>({
    id: "reporter",
    model,
    handler: async ({ topic }) => {
      const found = await callTool(search, { topic });
      equipInstruction(`Report on ${topic}: ${JSON.stringify(found)}`);
      return promptAgent(z.object({ result: z.string() }));
    },
  });
  let snapshot!: AgentSnapshot;
  const first = await runWith(async () => {
    const report = await reporter({ topic: "moths" });
    snapshot = dumpSnapshot();
    return report;
  });

  // No live calls: this works offline, and in a test.
  const second = await replay(() => reporter({ topic: "moths" }), { snapshot });

  // New requests are executed, recorded ones are replayed.
  let report: ReplayReport | undefined;
  await resume(() => Promise.all([reporter({ topic: "moths" }), reporter({ topic: "bees" })]), {
    snapshot,
    onReport: (given) => (report = given),
  });

  // Give the tool another answer: the prompt that contains the old one is executed again.
  const at = "root/agent:reporter:0/tool:search:0";
  const fork = forkSnapshot(snapshot, { at, output: ["nothing"] });
  const third = await resume(() => reporter({ topic: "moths" }), { snapshot: fork });
  return [first, second, report?.replayed, report?.live, third];
}
