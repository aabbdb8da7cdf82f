import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { runWith } from "agent-rewind";
import { createTraceWriter } from "agent-rewind/debugger";

import { fittedExponent } from "../lib/fit.mjs";
import { LINEAR } from "../lib/limits.mjs";
import { measureAll } from "../lib/measure.mjs";
import { growth, time } from "../lib/row.mjs";
import { toolLoop } from "../workloads/agent.mjs";

export default async function run({ quick }) {
  const sizes = quick ? [125, 250, 500] : [125, 250, 500, 1000, 2000];
  const folder = mkdtempSync(join(tmpdir(), "agent-rewind-bench-"));
  try {
    const works = sizes.flatMap((steps) => [emitted(steps), traced(steps, folder)]);
    const timings = await measureAll(works, { seconds: quick ? 2 : 8, atLeast: 3, atMost: 20 });
    const rows = [];
    const points = { emitted: [], traced: [], bytes: [] };
    for (const [index, steps] of sizes.entries()) {
      const [told, written] = timings.slice(2 * index);
      rows.push(
        time(`${steps} steps, each, with events`, told),
        time(`${steps} steps, each, with a trace file`, written),
      );
      points.emitted.push({ x: steps, y: told.min * steps });
      points.traced.push({ x: steps, y: written.min * steps });
      points.bytes.push({ x: steps, y: statSync(fileOf(folder, steps)).size });
    }
    rows.push(
      growth("events, growth with the number of steps", fittedExponent(points.emitted), LINEAR),
      growth("events and trace file, growth with the number of steps", fittedExponent(points.traced), LINEAR),
      growth("size of the trace file, growth with the number of steps", fittedExponent(points.bytes), LINEAR),
    );
    return rows;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const fileOf = (folder, steps) => join(folder, `${steps}.jsonl`);

/** A production run whose events go nowhere. */
function emitted(steps) {
  const { agent, model } = toolLoop(steps);
  const work = () => runWith(() => agent(), { model, enableSnapshot: false, eventBus: { emit() {} } });
  return { units: steps, before: () => {}, run: work };
}

/** The same with a trace file. */
function traced(steps, folder) {
  const { agent, model } = toolLoop(steps);
  const path = fileOf(folder, steps);
  const work = async () => {
    const trace = createTraceWriter(path, { sync: "off" });
    await runWith(() => agent(), { model, enableSnapshot: false, eventBus: trace });
    await trace.close();
  };
  return { units: steps, before: () => rmSync(path, { force: true }), run: work };
}
