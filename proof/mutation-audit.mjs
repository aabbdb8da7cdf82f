// node proof/mutation-audit.mjs: changes the requests of a recorded program, one thing at a time. A strict replay must
// never answer a changed request.

import { parseArgs } from "node:util";

import { audit } from "./mutations/audit.mjs";
import { auditWire } from "./mutations/wire.mjs";
import { versions } from "./wire/versions.mjs";

const USAGE = `node proof/mutation-audit.mjs [options]
  --mutations N  how many alterations, of a program and on the wire (1000)
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
  if (only.only === undefined) failures.push(...(await onTheWire()));
  if (failures.length > 0) process.exitCode = 1;
}

/** Returns the failures. */
async function onTheWire() {
  const mutations = Number(options.mutations);
  const wire = await auditWire({ mutations, equivalents: Math.ceil(mutations / 10), seed: options.seed });
  console.log(`\nOn the wire, requests of ${wire.clients.join(", ")}. Altered: each must be a miss.`);
  console.table(wire.rows);
  console.log(`Volatile parts changed (the list has ${wire.listLength} entries): each must be answered.`);
  console.table(wire.same);
  console.log("Other versions of clients, of Node.js, and other keys: each must be answered.");
  const other = await versions();
  console.table(other.rows);
  const failures = [...wire.failures, ...other.failures];
  for (const failure of failures) console.log(failure);
  return failures;
}
