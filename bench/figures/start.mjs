import assert from "node:assert/strict";

import { journalCall, runWith } from "agent-rewind";
import { dumpSnapshot, parseSnapshot, stringifySnapshot } from "agent-rewind/debugger";

import { Snapshot } from "../baselines/snapshot-schema.mjs";
import { measure } from "../lib/measure.mjs";
import { faster, ratio, time } from "../lib/row.mjs";
import { call, output, withJournal } from "../workloads/entries.mjs";

const start = (snapshot, fn = () => {}) => runWith(fn, { snapshot, enableSnapshot: true });

export default async function run({ quick }) {
  const entries = quick ? 2000 : 10_000;
  const handle = await withJournal(entries, dumpSnapshot);
  const text = stringifySnapshot(handle);
  const buffer = Buffer.from(text);
  const object = JSON.parse(text);
  await check(handle, parseSnapshot(buffer), object);

  const seconds = quick ? 1 : 3;
  const fromBuffer = await measure(
    {
      ours: () => start(parseSnapshot(buffer)),
      theirs: () => Snapshot.parse(JSON.parse(buffer.toString())),
    },
    { seconds, atMost: 40 },
  );
  const fromObject = await measure(
    { ours: () => start(object), theirs: () => JSON.stringify(object) },
    { seconds, atMost: 40 },
  );
  const fromHandle = await measure({ ours: () => start(handle) }, { seconds: quick ? 0.5 : 1 });
  return [
    faster("from a Buffer", fromBuffer.ours, { name: "JSON.parse + zod", ...fromBuffer.theirs }, 5),
    ratio("from a parsed object", fromObject.ours, { name: "JSON.stringify of it", ...fromObject.theirs }, 1.3),
    time("from the handle of a dump", fromHandle.ours, 1),
  ];
}

/** Checks that the run is answered from the snapshot in each form. */
async function check(...snapshots) {
  for (const snapshot of snapshots) {
    const live = () => assert.fail("the call was executed again");
    const answers = await start(snapshot, () => Promise.all([7, 8].map((index) => journalCall(call(index), live))));
    assert.deepEqual(answers, [output(7), output(8)]);
  }
}
