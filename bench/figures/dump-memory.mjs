import { inChild } from "../lib/child.mjs";
import { ratio } from "../lib/row.mjs";

const ONE_PROCESS = new URL("dump-memory-process.mjs", import.meta.url);

export default async function run({ quick }) {
  const entries = quick ? 2000 : 10_000;
  const runs = quick ? 2 : 3;
  const results = { one: [], hundred: [] };
  for (let round = 0; round < runs; round++) {
    results.one.push(await inChild(ONE_PROCESS, { entries, dumps: 1 }));
    results.hundred.push(await inChild(ONE_PROCESS, { entries, dumps: 100 }));
  }
  const [one, hundred] = [results.one, results.hundred].map((bytes) => {
    const sorted = bytes.toSorted((left, right) => left - right);
    return { min: sorted[0], median: sorted[sorted.length >> 1] };
  });
  return [ratio(`${entries} entries`, hundred, { name: "one dump", ...one }, 1.2, "bytes")];
}
