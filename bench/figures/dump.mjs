import assert from "node:assert/strict";

import { journalCall, runWith } from "agent-rewind";
import { dumpSnapshot } from "agent-rewind/debugger";

import { fittedExponent } from "../lib/fit.mjs";
import { FLAT } from "../lib/limits.mjs";
import { measure } from "../lib/measure.mjs";
import { growth, time } from "../lib/row.mjs";
import { call, journal, output } from "../workloads/entries.mjs";

const LIMIT = 0.02;
/** From this size on, the entries that are recorded during the measurement do not matter. */
const LARGE = 10_000;
const TURNS = 20;

export default async function run({ quick }) {
  const sizes = quick ? [10, 1000, 10_000] : [10, 100, 1000, 10_000, 100_000];
  const rows = [];
  const points = [];
  let journaled = 0;

  /** Memory that a dump shares with the run must not have to be copied for the next entry. */
  async function recordAndDump() {
    for (let turn = 0; turn < TURNS; turn++) {
      await journalCall(call(journaled), () => output(journaled));
      journaled += 1;
      dumpSnapshot();
    }
  }

  async function measureAt(size) {
    await journal(journaled, size);
    journaled = Math.max(journaled, size);
    const { dump } = await measure({ dump: dumpSnapshot }, { seconds: quick ? 0.3 : 1 });
    rows.push(time(`${size} entries`, dump, LIMIT));
    points.push({ x: size, y: dump.min });
    if (size < LARGE) return;
    const { both } = await measure({ both: { units: TURNS, run: recordAndDump } }, { seconds: 0.3, atMost: 50 });
    rows.push(time(`${size} entries, including recording one more`, both));
  }

  await runWith(
    async () => {
      for (const size of sizes) await measureAt(size);
      assert.equal(dumpSnapshot().root.calls.length, journaled);
    },
    { enableSnapshot: true },
  );
  rows.push(growth("growth with the size of the journal", fittedExponent(points), FLAT));
  return rows;
}
