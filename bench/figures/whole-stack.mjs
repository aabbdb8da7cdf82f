import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { inChild } from "../lib/child.mjs";
import { added, time } from "../lib/row.mjs";

const PROGRAM = new URL("whole-stack-process.mjs", import.meta.url);

export default async function run({ quick }) {
  const steps = quick ? 300 : 1000;
  const rows = [];
  for (const agents of [1, 5]) rows.push(...(await measured({ steps, agents, rounds: quick ? 1 : 3 })));
  return rows;
}

async function measured({ steps, agents, rounds }) {
  const folder = mkdtempSync(join(tmpdir(), "agent-rewind-bench-"));
  const results = { off: [], recorded: [], resumed: [] };
  try {
    for (let round = 0; round < rounds; round++) {
      const file = join(folder, `${round}.jsonl`);
      const at = (mode, more) => inChild(PROGRAM, { steps, agents, mode, file, ...more });
      results.off.push(await at("off"));
      results.recorded.push(await at("recorded", { file: join(folder, `${round}-whole.jsonl`) }));
      await assert.rejects(at("killed"), /SIGKILL/);
      const resumed = await at("resumed");
      // Only calls that had not ended when the process was killed are live.
      const left = steps * agents - Math.floor((steps * agents * 3) / 4);
      assert.ok(resumed.made <= left + agents, `${resumed.made} calls were made, of ${left} that were left`);
      results.resumed.push(resumed);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const perStep = (list) => timing(list.map(({ milliseconds }) => milliseconds / (steps * agents)));
  const bytes = (list) => timing(list.map((result) => result.bytes));
  const name = agents === 1 ? "1 agent" : `${agents} agents in parallel`;
  const off = { name: "recording off", ...perStep(results.off) };
  return [
    added(`${name}, each step, recorded, dumped and traced`, perStep(results.recorded), off),
    time(`${name}, each step, resumed after a kill at 3/4`, perStep(results.resumed)),
    { ...time(`${name}, memory at the end`, bytes(results.recorded)), unit: "bytes" },
  ];
}

function timing(values) {
  const sorted = values.toSorted((left, right) => left - right);
  return { min: sorted[0], median: sorted[sorted.length >> 1] };
}
