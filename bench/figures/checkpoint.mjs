import assert from "node:assert/strict";

import { runWith } from "agent-rewind";
import { dumpSnapshot } from "agent-rewind/debugger";

import { Checkpoints } from "../baselines/memory-saver.mjs";
import { fittedExponent } from "../lib/fit.mjs";
import { LINEAR } from "../lib/limits.mjs";
import { collectGarbage } from "../lib/memory.mjs";
import { faster, growth } from "../lib/row.mjs";
import { toolLoop } from "../workloads/agent.mjs";

export default async function run({ quick }) {
  const sizes = quick ? [125, 250, 500] : [125, 250, 500, 1000];
  const rows = [];
  const points = [];
  for (const steps of sizes) {
    const timings = { ours: [], theirs: [] };
    for (let round = 0; round < (quick ? 3 : 5); round++) {
      timings.ours.push(await withDumps(steps));
      timings.theirs.push(await withMemorySaver(steps));
    }
    const [ours, theirs] = [summary(timings.ours), summary(timings.theirs)];
    rows.push(faster(`each of ${steps} steps`, ours, { name: "LangGraph's MemorySaver", ...theirs }));
    points.push({ x: steps, y: ours.min * steps });
  }
  rows.push(growth("growth with the number of steps", fittedExponent(points), LINEAR));
  return rows;
}

async function withDumps(steps) {
  const kept = [];
  const time = await timeOfSteps(steps, () => kept.push(dumpSnapshot()));
  assert.equal(kept.length, steps);
  const [frame] = Object.values(kept.at(-1).root.children);
  assert.equal(frame.calls.filter(({ kind }) => kind === "tool").length, steps - 1);
  return time;
}

async function withMemorySaver(steps) {
  const checkpoints = new Checkpoints();
  const time = await timeOfSteps(steps, (messages) => checkpoints.put(messages));
  assert.equal((await checkpoints.messages()).length, 2 * steps - 1);
  return time;
}

/** Milliseconds per checkpoint, averaged over all steps of a conversation. */
async function timeOfSteps(steps, save) {
  const { agent, model } = toolLoop(steps);
  await collectGarbage();
  let time = 0;
  const observed = {
    ...model,
    async *stream(messages) {
      const start = performance.now();
      await save(messages);
      time += performance.now() - start;
      yield* model.stream(messages);
    },
  };
  await runWith(() => agent(), { model: observed, enableSnapshot: true });
  return time / steps;
}

function summary(times) {
  const sorted = times.toSorted((left, right) => left - right);
  return { min: sorted[0], median: sorted[sorted.length >> 1] };
}
