// node proof/scenarios.mjs [--only TEXT] [--verbose]: replays every scenario from every point, and prints a table.

import { parseArgs } from "node:util";

import { audit } from "./scenarios/audit.mjs";
import { scenarios } from "./scenarios/scenarios.mjs";

process.env.NODE_ENV ??= "test";

const { values } = parseArgs({ options: { only: { type: "string" }, verbose: { type: "boolean", default: false } } });
const chosen = Object.entries(scenarios).filter(([name]) => values.only === undefined || name.includes(values.only));
const reports = [];
for (const [name, make] of chosen) reports.push(await audit(name, make));

const width = Math.max(...reports.map(({ name }) => name.length));
console.log(`${"scenario".padEnd(width)}  calls  replays    repeated  wrong results`);
for (const { name, calls, replays, repeated, wrong } of reports) {
  console.log(
    `${name.padEnd(width)}  ${String(calls).padStart(5)}  ${String(replays).padStart(7)}  ${String(repeated).padStart(10)}  ${String(wrong).padStart(13)}`,
  );
}
const sum = (field) => reports.reduce((total, report) => total + report[field], 0);
console.log(
  `${"all".padEnd(width)}  ${String(sum("calls")).padStart(5)}  ${String(sum("replays")).padStart(7)}  ${String(sum("repeated")).padStart(10)}  ${String(sum("wrong")).padStart(13)}`,
);
if (values.verbose)
  for (const { name, faults } of reports) for (const fault of faults) console.dir({ name, ...fault }, { depth: 6 });
if (sum("repeated") + sum("wrong") > 0) process.exitCode = 1;
