import assert from "node:assert/strict";

import { runWith } from "agent-rewind";
import { dumpSnapshot } from "agent-rewind/debugger";

import { bytesInUse } from "../lib/memory.mjs";
import { journal, withJournal } from "../workloads/entries.mjs";

/** The bytes of a run with its journal and its dumps, which are spread over the run. */
export default async function run({ entries, dumps }) {
  // Code that is compiled once and memory that is allocated once do not belong to the run.
  await withJournal(500, dumpSnapshot);
  const before = await bytesInUse();
  const kept = [];
  let after;
  const take = async () => {
    for (let dump = 1; dump <= dumps; dump++) {
      await journal((entries / dumps) * (dump - 1), (entries / dumps) * dump);
      kept.push(dumpSnapshot());
    }
    after = await bytesInUse();
  };
  await runWith(take, { enableSnapshot: true });
  assert.equal(kept.at(-1).root.calls.length, entries);
  assert.equal(kept[0].root.calls.length, entries / dumps);
  return after - before;
}
