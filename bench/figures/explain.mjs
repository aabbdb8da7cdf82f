import assert from "node:assert/strict";

import { journalCall, runWith } from "agent-rewind";
import { dumpSnapshot } from "agent-rewind/debugger";

import { measure } from "../lib/measure.mjs";
import { time } from "../lib/row.mjs";
import { prose } from "../workloads/text.mjs";

/** Milliseconds for a miss, everything included. */
const LIMIT = 50;

const request = (index, word = "plain") => ({ text: prose(1_900, index % 64), options: { page: index, style: word } });
const ask = (index, word) => journalCall({ kind: "search", name: "s", request: request(index, word) }, () => index);

export default async function run({ quick }) {
  const entries = quick ? 2_000 : 10_000;
  let snapshot;
  await runWith(
    async () => {
      for (let index = 0; index < entries; index++) await ask(index);
      snapshot = dumpSnapshot();
    },
    { enableSnapshot: true },
  );
  const at = Math.floor(entries / 2);
  const miss = () =>
    runWith(() => ask(at, "odd"), { snapshot, mode: "replay", enableSnapshot: true }).then(
      assert.fail,
      (error) => error,
    );
  const { explanation } = await miss();
  assert.deepEqual(
    explanation.differences.map(({ pointer }) => pointer),
    ["/input/options/style"],
  );
  const { ours } = await measure({ ours: async () => (await miss()).explanation }, { seconds: quick ? 1 : 3 });
  return [time(`among ${entries.toLocaleString("en")} recorded requests of 2 KB`, ours, LIMIT)];
}
