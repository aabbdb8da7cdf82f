import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { dumpSnapshot, writeSnapshot } from "agent-rewind/debugger";

import { deepCopy, writeContent, writeJson } from "../baselines/dump-and-write.mjs";
import { busy } from "../lib/clock.mjs";
import { measure } from "../lib/measure.mjs";
import { collectGarbage } from "../lib/memory.mjs";
import { faster, ratio } from "../lib/row.mjs";
import { withJournal } from "../workloads/entries.mjs";

const MEMORY_DISK = "/dev/shm";

export default async function run({ quick }) {
  const rows = [];
  for (const entries of quick ? [1000] : [1000, 10_000]) {
    rows.push(...(await inFolder(tmpdir(), (folder) => measureIn(folder, entries, "disk", quick))));
    if (existsSync(MEMORY_DISK)) {
      rows.push(...(await inFolder(MEMORY_DISK, (folder) => measureIn(folder, entries, "in memory", quick))));
    }
  }
  return rows;
}

async function measureIn(folder, entries, where, quick) {
  const [ourPath, theirPath, floorPath] = ["ours", "theirs", "floor"].map((name) => join(folder, `${name}.json`));
  return withJournal(entries, async () => {
    // The same journal as plain objects.
    const live = JSON.parse(JSON.stringify(dumpSnapshot()));
    const ours = () => writeSnapshot(ourPath, dumpSnapshot());
    const theirs = () => writeJson(theirPath, deepCopy(live));
    await ours();
    const bytes = readFileSync(ourPath);
    const floor = () => writeContent(floorPath, bytes);
    const timings = await measure({ ours, theirs, floor }, { seconds: quick ? 1.5 : 4, atMost: 40 });
    assert.deepEqual(JSON.parse(readFileSync(ourPath, "utf8")).root, JSON.parse(readFileSync(theirPath, "utf8")).root);
    const baseline = "deep copy + JSON.stringify";
    const rows = [
      faster(`${entries} entries, ${where}`, timings.ours, { name: baseline, ...timings.theirs }, 10),
      ratio(`${entries} entries, ${where}`, timings.ours, { name: "writing the same bytes", ...timings.floor }),
      faster(`${entries} entries, ${where}, writing the same bytes only`, timings.floor, {
        name: baseline,
        ...timings.theirs,
      }),
    ];
    if (busy() !== undefined) {
      const held = { ours: await busyTime(ours), theirs: await busyTime(theirs) };
      rows.push(
        faster(`${entries} entries, ${where}, main thread only`, held.ours, { name: baseline, ...held.theirs }),
      );
    }
    return rows;
  });
}

/** Milliseconds during which the event loop is blocked. */
async function busyTime(work) {
  const times = [];
  for (let round = 0; round < 5; round++) {
    await collectGarbage();
    const start = busy();
    await work();
    times.push(busy() - start);
  }
  times.sort((left, right) => left - right);
  return { min: times[0], median: times[times.length >> 1] };
}

async function inFolder(parent, use) {
  const folder = mkdtempSync(join(parent, "agent-rewind-bench-"));
  try {
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
