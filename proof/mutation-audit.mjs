// node proof/mutation-audit.mjs: changes the requests of a recorded program, one thing at a time. A strict replay must
// never answer a changed request.

import { parseArgs } from "node:util";

import { audit } from "./mutations/audit.mjs";

const USAGE = `node proof/mutation-audit.mjs [options]
  --mutations N  how many alterations (1000)
  --seed S       what they are drawn from (1)
  --only N       this alteration alone`;

const { values: options } = parseArgs({
  options: {
    mutations: { type: "string", default: "1000" },
    seed: { type: "string", default: "1" },
    only: { type: "string" },
    help: { type: "boolean", default: false },
  },
});

if (options.help) console.log(USAGE);
else await main();

async function main() {
  const only = options.only === undefined ? {} : { only: Number(options.only) };
  const { rows, same, failures } = await audit({ mutations: Number(options.mutations), seed: options.seed, ...only });
  console.log("Altered: each must be a miss.");
  console.table(rows);
  console.log("Equivalent: each must be answered.");
  console.table(same);
  for (const { number, kind, where, what } of failures) console.log(`${kind} (--only ${number}) ${where}: ${what}`);
  const sum = (list, key) => list.reduce((total, row) => total + row[key], 0);
  console.log(
    `alterations: ${sum(rows, "tried")}, missed: ${sum(rows, "missed")}, answered: ${sum(rows, "answered")}; ` +
      `equivalents: ${sum(same, "tried")}, answered: ${sum(same, "hit")}`,
  );
  if (failures.length > 0) process.exitCode = 1;
}
