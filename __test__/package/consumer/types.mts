import { callTool, runWith } from "agent-rewind";
import { dumpSnapshot, restoreSnapshot } from "agent-rewind/debugger";
import { ContextManager, type BoundaryCapture } from "agent-rewind/context";
import { z } from "zod";

const add = {
  name: "add",
  description: "Adds two numbers",
  parameters: z.object({ a: z.number(), b: z.number() }),
  handler: async ({ a, b }: { a: number; b: number }): Promise<number> => a + b,
};

export const snapshot = await runWith(async () => {
  await callTool(add, { a: 1, b: 2 });
  return dumpSnapshot({ metadata: { reason: "types" } });
});
export const replayed: number = await runWith(async () => snapshot.version, { snapshot });
export const restored: typeof snapshot = restoreSnapshot([], { anchor: "before" });
export const captured: BoundaryCapture = new ContextManager().captureLlmBoundary([{ role: "user", content: "hi" }]);
