import { restoreSnapshot } from "agent-rewind/debugger";

import { restoreByParent } from "../baselines/restore-by-parent.mjs";
import { fittedExponent } from "../lib/fit.mjs";
import { LINEAR } from "../lib/limits.mjs";
import { measureAll } from "../lib/measure.mjs";
import { growth, ratio } from "../lib/row.mjs";
import { assertSameFrames } from "../lib/same-frames.mjs";
import { smallerTraces, traceOf } from "../workloads/trace.mjs";

const SHAPES = ["one long agent", "wide and parallel"];

export default async function run({ quick }) {
  const rows = [];
  for (const shape of SHAPES) {
    const events = await traceOf(shape, quick ? 6000 : 100_000);
    // The result of the baseline shares nothing with the events either.
    const theirs = () => JSON.stringify(restoreByParent(events));
    assertSameFrames(restoreSnapshot(events).root, JSON.parse(theirs()));
    const parts = [...(await smallerTraces(shape, events)), events];
    const ours = parts.map((part) => () => restoreSnapshot(part));
    const timings = await measureAll([...ours, theirs], { seconds: quick ? 0.5 : 3, atLeast: 3, atMost: 20 });

    const baseline = { name: "one pass + JSON.stringify", ...timings.at(-1) };
    rows.push(ratio(`${shape}, ${events.length} events`, timings.at(-2), baseline, 1.5));
    const points = parts.map((part, index) => ({ x: part.length, y: timings[index].min }));
    rows.push(growth(`${shape}, growth with the number of events`, fittedExponent(points), LINEAR));
  }
  return rows;
}
