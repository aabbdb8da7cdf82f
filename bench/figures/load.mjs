import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";

import { time } from "../lib/row.mjs";

const require = createRequire(import.meta.url);

/** Milliseconds that `code` takes in a new process, without the start of the process itself. */
const STOPWATCH = (code) => `const start = performance.now(); ${code}; console.log(performance.now() - start);`;

export default async function run({ quick }) {
  const addon = JSON.stringify(require.resolve("../../native/binding.cjs"));
  const rows = [
    { name: "the addon", code: `require(${addon})`, limit: 15 },
    { name: 'require("agent-rewind")', code: 'require("agent-rewind")' },
    { name: 'require("agent-rewind/debugger")', code: 'require("agent-rewind/debugger")' },
  ];
  return rows.map(({ name, code, limit }) => {
    const times = Array.from({ length: quick ? 7 : 20 }, () => loaded(code)).toSorted((left, right) => left - right);
    return time(name, { min: times[0], median: times[times.length >> 1] }, limit);
  });
}

function loaded(code) {
  const cwd = new URL("../..", import.meta.url);
  return Number(execFileSync(process.execPath, ["-e", STOPWATCH(code)], { cwd, encoding: "utf8" }));
}
