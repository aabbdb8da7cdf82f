// Trace files of redacted runs contain no secrets, and no more bytes per turn than without redaction.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import {
  createAgent,
  equipInstruction,
  equipTool,
  promptAgent,
  replay,
  runWith,
  type ModelAdapter,
} from "agent-rewind";
import { createTraceWriter, readTrace, restoreSnapshotFromFile } from "agent-rewind/debugger";
import { afterAll, expect, it } from "vitest";
import { z } from "zod";

const folder = mkdtempSync(join(tmpdir(), "rewind-redact-"));
afterAll(() => rmSync(folder, { recursive: true }));

const SECRET = `ghp_${"A1b2C3d4E5f6G7h8I9j0".repeat(2).slice(0, 36)}`;

/** Calls the tool a given number of times, each time with the secret and more text. */
const model = (turns: number): ModelAdapter => ({
  id: "m",
  async *stream(messages) {
    const asked = messages.filter(({ role }) => role === "assistant").length;
    if (asked < turns) {
      const given = JSON.stringify({ token: SECRET, about: `${asked} ${"x".repeat(400)}` });
      yield { type: "tool_call", toolCall: { index: 0, id: `c${asked}`, name: "look", arguments: given } };
      yield { type: "finish", finishReason: "tool_calls" };
    } else {
      yield { type: "text", content: JSON.stringify({ done: true }) };
      yield { type: "finish", finishReason: "stop" };
    }
  },
});

const look = {
  name: "look",
  description: "Looks",
  parameters: z.object({ token: z.string(), about: z.string() }),
  handler: ({ about }: { about: string }) => ({ about, token: SECRET }),
};

const program = (turns: number) => async (): Promise<unknown> => {
  const agent = createAgent({
    id: "looker",
    model: model(turns),
    maxTurnSteps: turns + 1,
    handler: async () => {
      equipInstruction(`Look with ${SECRET}.`);
      equipTool(look);
      return promptAgent(z.object({ done: z.boolean() }));
    },
  });
  return agent();
};

async function traceOf(turns: number): Promise<string> {
  const path = join(folder, `${turns}.jsonl`);
  const trace = createTraceWriter(path);
  await runWith(program(turns), { redact: true, eventBus: trace, enableSnapshot: false });
  await trace.close();
  return path;
}

it("a redacted trace file grows linearly with the turns", async () => {
  const [short, long] = [await traceOf(10), await traceOf(40)];
  const size = (path: string): number => readFileSync(path).length;
  expect(size(long)).toBeLessThan(4.5 * size(short));
  expect(readFileSync(long, "utf8")).not.toContain(SECRET);

  // The complete trace can be read again.
  const lengths: number[] = [];
  for await (const event of readTrace(long)) {
    expect(JSON.stringify(event)).not.toContain(SECRET);
    if (event.type === "turn:start") lengths.push((event as unknown as { messages: unknown[] }).messages.length);
  }
  expect(lengths).toEqual(Array.from({ length: 41 }, (_, turn) => 1 + 2 * turn));
  const snapshot = await restoreSnapshotFromFile(long);
  expect(await replay(program(40), { snapshot, redact: true })).toEqual({ done: true });
});
