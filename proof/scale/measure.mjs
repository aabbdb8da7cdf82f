// Records runs of growing size and takes them through all phases of a recording.

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

/** The phases of a run, in order. */
export const PHASES = ["record", "dump", "write", "read", "restore", "replay"];

/** Below this number of milliseconds a phase is mostly set-up, which says nothing about its growth. */
const LEAST = 5;

/**
 * @param {keyof typeof shapes} name
 * @param {number} n
 * @param {string} folder for the files of the run
 * @returns {Promise<{ n: number, milliseconds: Record<string, number>, bytes: { snapshot: number, trace: number } }>}
 * @throws if a replay differs from the recorded run
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
    // The disk may be slower than the run, and no event may be dropped.
    const writer = createTraceWriter(traceFile, { sync: "off", maxBuffered: 2 ** 30 });
    const recorded = {};
    await runWith(
      async () => {
        recorded.sum = await run(
          n,
          (value) => value,
          () => writer.flush(),
        );
        // Not returned by the run, because reading the result would read the whole snapshot.
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

/** The growth of each phase's time with `n`: the exponent of the power law that fits best, or undefined. */
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
  throw new Error(`the replay made a live call: ${value}`);
}
