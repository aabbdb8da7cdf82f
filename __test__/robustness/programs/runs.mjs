// Records, dumps and replays runs, and reports if all results are right.
import { callTool, createAgent, equipInstruction, equipMemory, promptAgent, replay, runWith } from "agent-rewind";
import { dumpSnapshot, parseSnapshot, stringifySnapshot } from "agent-rewind/debugger";
import { createMockModel } from "agent-rewind/testing";
import { z } from "zod";

const add = {
  name: "add",
  description: "Adds",
  parameters: z.object({ a: z.number(), b: z.number() }),
  handler: async ({ a, b }) => {
    await new Promise((resolve) => setImmediate(resolve));
    return { sum: a + b, at: new Date(a) };
  },
};

const agent = createAgent({
  id: "adder",
  handler: async ({ n }) => {
    const [, set] = equipMemory("n", 0);
    const sums = await Promise.all([1, 2, 3].map((b) => callTool(add, { a: n, b })));
    set(n);
    equipInstruction(`Sum up ${sums.map(({ sum }) => sum).join(" ")}`);
    return promptAgent(z.object({ text: z.string() }));
  },
});

const model = () => createMockModel({ rules: [{ when: /./, reply: ({ text }) => ({ json: { text } }) }] });

/** One run, its dump as text, and its replay. Throws if they differ. */
export async function runOnce(n) {
  const run = async () => ({ result: await agent({ n }), snapshot: dumpSnapshot() });
  const recorded = await runWith(run, { model: model(), enableSnapshot: true });
  const expected = `Sum up ${n + 1} ${n + 2} ${n + 3}`;
  if (recorded.result.text !== expected) throw new Error(`${recorded.result.text} is not ${expected}`);
  const snapshot = parseSnapshot(stringifySnapshot(recorded.snapshot));
  const replayed = await replay(run, { model: model(), snapshot, enableSnapshot: true });
  if (replayed.result.text !== expected) throw new Error(`replay gave ${replayed.result.text}`);
}
