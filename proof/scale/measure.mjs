// Records runs of growing size, and takes them through all that a recording goes through.

import { rm, stat } from "node:fs/promises";
import { join } from "node:path";

import { runWith } from "agent-rewind";
import {
  createTraceWriter,
  dumpSnapshot,
  readSnapshot,
  restoreSnapshotFromFile,
  writeSnapshot,
} from "agent-rewind/debugger";

import { now } from "../../bench/lib/clock.mjs";
import { fittedExponent } from "../../bench/lib/fit.mjs";
import { shapes } from "./shapes.mjs";

/** What is done with a run, in order. */
export const PHASES = ["record", "dump", "write", "read", "restore", "replay"];

/** Below so many milliseconds a phase is all set-up, which says nothing of how it grows. */
const LEAST = 5;

/**
 * @param {keyof typeof shapes} name
 * @param {number} n
 * @param {string} folder for the files of the run
 * @returns {Promise<{ n: number, milliseconds: Record<string, number>, bytes: { snapshot: number, trace: number } }>}
 * @throws if a replay is not the run that was recorded
 */
export async function measure(name, n, folder) {
  const { run } = shapes[name];
  const [snapshotFile, traceFile] = [join(folder, `${name}-${n}.json`), join(folder, `${name}-${n}.jsonl`)];
  const milliseconds = {};
  const timed = async (phase, work) => {
    const start = now();
    const result = await work();
    milliseconds[phase] = now() - start;
    return result;
  };
  const maxDepth = 999;
  const dumped = await timed("record", async () => {
    // The disk may be slower than the run: nothing is to be dropped.
    const writer = createTraceWriter(traceFile, { sync: "off", maxBuffered: 2 ** 30 });
    const recorded = {};
    await runWith(
      async () => {
        recorded.sum = await run(
          n,
          (value) => value,
          () => writer.flush(),
        );
        // Not the result of the run: whoever looks at that would look at the whole snapshot.
        recorded.snapshot = await timed("dump", () => dumpSnapshot());
      },
      { enableSnapshot: true, maxDepth, eventBus: writer },
    );
    await writer.close();
    return recorded;
  });
  milliseconds.record -= milliseconds.dump;
  await timed("write", () => writeSnapshot(snapshotFile, dumped.snapshot));
  const read = await timed("read", () => readSnapshot(snapshotFile));
  const restored = await timed("restore", () => restoreSnapshotFromFile(traceFile));
  if ((restored.warnings ?? []).length > 0) throw new Error(`the trace has warnings: ${restored.warnings[0].message}`);
  for (const snapshot of [read, restored]) {
    const sum = await timed("replay", () =>
      runWith(() => run(n, missed), { snapshot, mode: "replay", maxDepth, enableSnapshot: false }),
    );
    if (sum !== dumped.sum) throw new Error(`${name} of ${n}: replayed ${sum}, recorded ${dumped.sum}`);
  }
  const [snapshot, trace] = [(await stat(snapshotFile)).size, (await stat(traceFile)).size];
  for (const file of [snapshotFile, traceFile]) await rm(file);
  return { n, milliseconds, bytes: { snapshot, trace } };
}

/** How the time of each phase grows with `n`: the exponent of the power law that fits best; undefined for none. */
export function growth(rows) {
  return Object.fromEntries(
    PHASES.map((phase) => {
      const points = rows
        .map(({ n, milliseconds }) => ({ x: n, y: milliseconds[phase] }))
        .filter(({ y }) => y >= LEAST);
      return [phase, points.length < 3 ? undefined : fittedExponent(points)];
    }),
  );
}

function missed(value) {
  throw new Error(`the replay made a call: ${value}`);
}
