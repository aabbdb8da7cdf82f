// node proof/independent.mjs: random programs, written from the documentation alone. Each is recorded, killed, resumed,
// restored, replayed, edited and forked, and judged by what the program itself saw and what reached the outside.

import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";

import { work } from "./independent/pool.mjs";
import { power } from "./independent/power.mjs";
import { prove } from "./independent/prove.mjs";

const USAGE = `node proof/independent.mjs [options]
  --programs N   how many programs (300)
  --seed S       what they are drawn from (a fresh one, which is printed)
  --only P       this program alone; prints it, and all of its faults
  --jobs N       how many processes (as many as there are processors, at most 4)
  --faults N     how many faults to print with their programs (5)
  --without L    leaves out programs that hold one of these shapes, separated by commas
  --skip L       leaves out these programs, numbers separated by commas
  --whole        prints failing programs as they are, without making them smaller
  --first        stops at the first program with a fault
  --json         prints one JSON object
  --power        plants faults into the rules, and prints how many programs find each (at most 500)`;

const { values: options } = parseArgs({
  options: {
    programs: { type: "string" },
    seed: { type: "string" },
    only: { type: "string" },
    jobs: { type: "string" },
    worker: { type: "boolean", default: false },
    faults: { type: "string", default: "5" },
    without: { type: "string", default: "" },
    skip: { type: "string", default: "" },
    whole: { type: "boolean", default: false },
    first: { type: "boolean", default: false },
    power: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

// The package warns of calls that were in flight or cannot be kept, and Node of rejections that are handled late.
console.warn = () => {};
process.removeAllListeners("warning");

if (options.help) console.log(USAGE);
else if (options.worker) work(options.seed);
else {
  const seed = options.seed ?? Math.random().toString(36).slice(2, 8);
  const failed = options.power
    ? power({ programs: Number(options.programs ?? 500), seed })
    : await prove({
        programs: Number(options.programs ?? 300),
        seed,
        skip: options.skip.split(",").filter(Boolean).map(Number),
        first: options.first,
        whole: options.whole,
        jobs: Number(options.jobs ?? Math.min(availableParallelism(), 4)),
        only: options.only === undefined ? undefined : Number(options.only),
        faults: Number(options.faults),
        without: options.without.split(",").filter(Boolean),
        json: options.json,
      });
  process.exit(failed ? 1 : 0);
}
