import { restoreSnapshot } from "agent-rewind/debugger";

import { parseLines, restoreByParent } from "../baselines/restore-by-parent.mjs";
import { fittedExponent } from "../lib/fit.mjs";
import { LINEAR } from "../lib/limits.mjs";
import { measureAll } from "../lib/measure.mjs";
import { faster, growth } from "../lib/row.mjs";
import { assertSameFrames } from "../lib/same-frames.mjs";
import { shapes, smallerTraces, traceOf } from "../workloads/trace.mjs";

const line = (event) => Buffer.from(`${JSON.stringify(event)}\n`);

export default async function run({ quick }) {
  const rows = [];
  for (const shape of Object.keys(shapes)) {
    const lines = await traceOf(shape, quick ? 16_000 : 100_000, line);
    const file = Buffer.concat(lines);
    const theirs = () => restoreByParent(parseLines(file));
    assertSameFrames(restoreSnapshot(file).root, theirs());
    const parts = [...(await smallerTraces(shape, lines, line)), lines];
    const ours = parts.map((part) => {
      const text = Buffer.concat(part);
      return () => restoreSnapshot(text);
    });
    const timings = await measureAll([...ours, theirs], { seconds: quick ? 1 : 5, atMost: 20 });

    const name = `${shape}, ${lines.length} events, ${(file.length / 1e6).toFixed(0)} MB`;
    const baseline = { name: "JSON.parse of lines + a pass", ...timings.at(-1) };
    rows.push(faster(name, timings.at(-2), baseline, 5));
    const points = parts.map((part, index) => ({ x: part.length, y: timings[index].min }));
    rows.push(growth(`${shape}, growth with the events`, fittedExponent(points), LINEAR));
  }
  return rows;
}
