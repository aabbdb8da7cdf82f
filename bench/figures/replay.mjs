import assert from "node:assert/strict";

import { runWith } from "agent-rewind";
import { dumpSnapshot, parseSnapshot, stringifySnapshot } from "agent-rewind/debugger";

import { fittedExponent } from "../lib/fit.mjs";
import { LINEAR } from "../lib/limits.mjs";
import { measure } from "../lib/measure.mjs";
import { growth, time } from "../lib/row.mjs";
import { toolLoop } from "../workloads/agent.mjs";

const LIMIT = 0.3;

export default async function run({ quick }) {
  const rows = [];
  const points = { quiet: [], observed: [] };
  for (const steps of quick ? [125, 250, 500, 1000] : [250, 500, 1000, 2000, 4000]) {
    const { quiet, observed } = await measureSteps(steps, quick);
    rows.push(time(`${steps} steps, each`, quiet, LIMIT), time(`${steps} steps, each, with events`, observed));
    points.quiet.push({ x: steps, y: quiet.min * steps });
    points.observed.push({ x: steps, y: observed.min * steps });
  }
  rows.push(
    growth("growth with the steps", fittedExponent(points.quiet), LINEAR),
    growth("growth with the steps, with events", fittedExponent(points.observed)),
  );
  return rows;
}

async function measureSteps(steps, quick) {
  const { agent, model, calls } = toolLoop(steps);
  let text;
  const record = async () => {
    await agent();
    text = stringifySnapshot(dumpSnapshot());
  };
  await runWith(record, { model, enableSnapshot: true });
  assert.deepEqual(calls, { model: steps, tool: steps - 1 });
  const snapshot = parseSnapshot(text);
  const replay = (eventBus) =>
    runWith(() => agent(), { model, snapshot, enableSnapshot: true, ...(eventBus === undefined ? {} : { eventBus }) });
  const before = () => {};
  const timings = await measure(
    {
      quiet: { units: steps, before, run: () => replay() },
      observed: { units: steps, before, run: () => replay({ emit() {} }) },
    },
    { seconds: quick ? 1 : 3, atMost: 20 },
  );
  // Not one call was made again.
  assert.deepEqual(calls, { model: steps, tool: steps - 1 });
  return timings;
}
