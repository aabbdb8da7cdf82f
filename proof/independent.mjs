// node proof/independent.mjs: random programs, written from the documentation alone. Each is recorded, killed, resumed,
// restored, replayed, edited and forked, and judged by what the program itself saw and what reached the outside.

import { parseArgs } from "node:util";

import { prove } from "./independent/prove.mjs";

const USAGE = `node proof/independent.mjs [options]
  --programs N   how many programs (300)
  --seed S       what they are drawn from (a fresh one, which is printed)
  --only P       this program alone; prints it, and all of its faults
  --faults N     how many faults to print with their programs (5)
  --without L    leaves out programs that hold one of these shapes, separated by commas
  --json         prints one JSON object`;

const { values: options } = parseArgs({
  options: {
    programs: { type: "string", default: "300" },
    seed: { type: "string" },
    only: { type: "string" },
    faults: { type: "string", default: "5" },
    without: { type: "string", default: "" },
    json: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

// The package warns of calls that were in flight or cannot be kept, and Node of rejections that are handled late.
console.warn = () => {};
process.removeAllListeners("warning");

if (options.help) console.log(USAGE);
else {
  const seed = options.seed ?? Math.random().toString(36).slice(2, 8);
  const failed = await prove({
    programs: Number(options.programs),
    seed,
    only: options.only === undefined ? undefined : Number(options.only),
    faults: Number(options.faults),
    without: options.without.split(",").filter(Boolean),
    json: options.json,
  });
  process.exit(failed ? 1 : 0);
}
