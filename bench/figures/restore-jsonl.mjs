import { restoreSnapshot } from "agent-rewind/debugger";

import { parseLines, restoreByParent } from "../baselines/restore-by-parent.mjs";
import { fittedExponent } from "../lib/fit.mjs";
import { LINEAR } from "../lib/limits.mjs";
import { measureAll } from "../lib/measure.mjs";
import { faster, growth } from "../lib/row.mjs";
import { assertSameFrames } from "../lib/same-frames.mjs";
import { shapes, smallerTraces, traceOf } from "../workloads/trace.mjs";

export default async function run({ quick }) {
  const rows = [];
  for (const shape of Object.keys(shapes)) {
    const files = await traceFiles(shape, quick ? 6000 : 100_000);
    const { bytes, events } = files.at(-1);
    const theirs = () => restoreByParent(parseLines(bytes));
    assertSameFrames(restoreSnapshot(bytes).root, theirs());
    const ours = files.map((file) => () => restoreSnapshot(file.bytes));
    const timings = await measureAll([...ours, theirs], { seconds: quick ? 0.5 : 3, atLeast: 3, atMost: 20 });

    const name = `${shape}, ${events} events, ${(bytes.length / 1e6).toFixed(0)} MB`;
    const baseline = { name: "JSON.parse per line + one pass", ...timings.at(-1) };
    rows.push(faster(name, timings.at(-2), baseline, 5));
    const points = files.map((file, index) => ({ x: file.events, y: timings[index].min }));
    rows.push(growth(`${shape}, growth with the number of events`, fittedExponent(points), LINEAR));
  }
  return rows;
}

/** A trace, after three smaller ones. */
async function traceFiles(shape, count) {
  const line = (event) => Buffer.from(`${JSON.stringify(event)}\n`);
  const lines = await traceOf(shape, count, line);
  const traces = [...(await smallerTraces(shape, lines, line)), lines];
  return traces.map((trace) => ({ events: trace.length, bytes: Buffer.concat(trace) }));
}
