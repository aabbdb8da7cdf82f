import { fileURLToPath } from "node:url";

import { inChild } from "../lib/child.mjs";
import { added, ratio, time } from "../lib/row.mjs";

const ONE_PROCESS = new URL("call-cost-process.mjs", import.meta.url);
const OURS = fileURLToPath(new URL("../..", import.meta.url));

const CALLS = {
  alone: { name: "recording one call", limit: 0.002 },
  deep: { name: "recording one call, awaited by 40 functions" },
  together: { name: "recording one of two equal calls, awaited by 40 functions", limit: 0.008 },
};
const AWAITS = {
  inside: { name: "awaits in a run", times: 1.05 },
  outside: { name: "awaits outside of runs", times: 1.05 },
};

/** `AGENT_REWIND_BASE` names a folder with another build of the package to compare with. */
export default async function run({ quick }) {
  const base = process.env.AGENT_REWIND_BASE;
  const rounds = quick ? 3 : 6;
  const seconds = quick ? 2 : 4;
  const awaits = quick ? 200_000 : 1_000_000;
  return [
    ...(await rows(CALLS, { seconds }, { base, rounds })),
    ...(await rows(AWAITS, { seconds, awaits }, { base, rounds })),
  ];
}

async function rows(cases, input, { base, rounds }) {
  const ours = [];
  const theirs = [];
  for (let round = 0; round < rounds; round++) {
    ours.push(await inChild(ONE_PROCESS, { ...input, root: OURS }));
    if (base !== undefined) theirs.push(await inChild(ONE_PROCESS, { ...input, root: base }));
  }
  return Object.entries(cases).map(([key, { name, limit, times }]) => {
    const measured = best(ours.map((timings) => timings[key]));
    if (base === undefined) return time(name, measured);
    const before = { name: "the other build", ...best(theirs.map((timings) => timings[key])) };
    return times === undefined ? added(name, measured, before, limit) : ratio(name, measured, before, times);
  });
}

function best(timings) {
  const sorted = timings.toSorted((left, right) => left.min - right.min);
  return { min: sorted[0].min, median: sorted[sorted.length >> 1].median };
}
