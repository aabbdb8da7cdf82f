// The program of the figure: parallel agents that call a model and a tool in each step.

import assert from "node:assert/strict";

import { runWith } from "agent-rewind";
import { createTraceWriter, dumpSnapshot, restoreSnapshotFromFile } from "agent-rewind/debugger";

import { now } from "../lib/clock.mjs";
import { bytesInUse } from "../lib/memory.mjs";
import { toolLoop } from "../workloads/agent.mjs";

/**
 * Runs the agents. Returns milliseconds, the bytes in use at the end and the number of live model calls.
 *
 * @param {{ steps: number, agents: number, mode: "off" | "recorded" | "killed" | "resumed", file?: string }} task
 *   "killed" records, and ends the process by SIGKILL after three quarters of the steps.
 */
export default async function run({ steps, agents, mode, file }) {
  const loops = Array.from({ length: agents }, () => toolLoop(steps));
  const killAt = mode === "killed" ? Math.floor((steps * agents * 3) / 4) : Infinity;
  let made = 0;
  const stepped = async (model, messages) => {
    made += 1;
    if (mode !== "off") dumpSnapshot();
    if (made === killAt) {
      // A call that ended before a flush is never executed again.
      await trace?.flush();
      process.kill(process.pid, "SIGKILL");
    }
    return model.stream(messages);
  };
  const watched = (model) => ({
    id: model.id,
    async *stream(messages) {
      yield* await stepped(model, messages);
    },
  });
  // One model for all, because the agents are alike.
  const model = watched(loops[0].model);
  const before = await bytesInUse();
  const snapshot = mode === "resumed" ? await restoreSnapshotFromFile(file) : undefined;
  const trace = mode === "off" ? undefined : createTraceWriter(mode === "resumed" ? `${file}.resumed` : file);
  const start = now();
  let milliseconds;
  let bytes;
  const program = async () => {
    await Promise.all(loops.map(({ agent }) => agent()));
    milliseconds = now() - start;
    // Measured while the run still holds its recording.
    bytes = (await bytesInUse()) - before;
  };
  await runWith(program, {
    model,
    enableSnapshot: mode !== "off",
    ...(trace === undefined ? {} : { eventBus: trace }),
    ...(snapshot === undefined ? {} : { snapshot }),
  });
  await trace?.close();
  assert.ok(mode === "resumed" || made === steps * agents);
  return { milliseconds, bytes, made };
}
