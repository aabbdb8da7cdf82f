import assert from "node:assert/strict";

import { runWith } from "agent-rewind";
import { dumpSnapshot, parseSnapshot, stringifySnapshot } from "agent-rewind/debugger";

import { fittedExponent } from "../lib/fit.mjs";
import { LINEAR } from "../lib/limits.mjs";
import { measureAll } from "../lib/measure.mjs";
import { growth, time } from "../lib/row.mjs";
import { toolLoop } from "../workloads/agent.mjs";

const LIMIT = 0.3;

export default async function run({ quick }) {
  const sizes = quick ? [125, 250, 500, 1000] : [250, 500, 1000, 2000, 4000];
  const agents = [];
  for (const steps of sizes) agents.push(await recordedAgent(steps));
  const works = agents.flatMap(({ replay, steps }) => [
    { units: steps, before: () => {}, run: () => replay() },
    { units: steps, before: () => {}, run: () => replay({ emit() {} }) },
  ]);
  const timings = await measureAll(works, { seconds: quick ? 2 : 8, atLeast: 3, atMost: 20 });
  for (const { check } of agents) check();

  const rows = [];
  const points = { quiet: [], observed: [] };
  for (const [index, steps] of sizes.entries()) {
    const [quiet, observed] = timings.slice(2 * index);
    rows.push(time(`${steps} steps, each`, quiet, LIMIT), time(`${steps} steps, each, with events`, observed));
    points.quiet.push({ x: steps, y: quiet.min * steps });
    points.observed.push({ x: steps, y: observed.min * steps });
  }
  rows.push(
    growth("growth with the number of steps", fittedExponent(points.quiet), LINEAR),
    growth("growth with the number of steps, with events", fittedExponent(points.observed)),
  );
  return rows;
}

async function recordedAgent(steps) {
  const { agent, model, calls } = toolLoop(steps);
  let text;
  const record = async () => {
    await agent();
    text = stringifySnapshot(dumpSnapshot());
  };
  await runWith(record, { model, enableSnapshot: true });
  // No call may be live.
  const check = () => assert.deepEqual(calls, { model: steps, tool: steps - 1 });
  check();
  const snapshot = parseSnapshot(text);
  const replay = (eventBus) =>
    runWith(() => agent(), { model, snapshot, enableSnapshot: true, ...(eventBus === undefined ? {} : { eventBus }) });
  return { steps, replay, check };
}
