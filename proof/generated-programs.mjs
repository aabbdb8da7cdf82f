// node proof/generated-programs.mjs: records random agent programs under random schedules, replays every recording, and
// checks the replays: no wrong result, no repeated call.

import { parseArgs } from "node:util";

import { checkProgram, Counts, programOf } from "./programs/check.mjs";
import { printProgram } from "./programs/print.mjs";
import { shrink } from "./programs/shrink.mjs";

const USAGE = `node proof/generated-programs.mjs [options]
  --programs N   how many programs (1000)
  --schedules N  recordings of each, under different schedules (5)
  --seed S       what all is drawn from (1)
  --only P[:S]   this program alone, under this schedule alone
  --instant P    probability that a call of a recording ends as it starts, which is not promised to replay in order (0)
  --faults N     stop after so many programs with faults (5)
  --no-shrink    show failing programs as they are, not cut down`;

const { values: options } = parseArgs({
  allowNegative: true,
  options: {
    programs: { type: "string", default: "1000" },
    schedules: { type: "string", default: "5" },
    seed: { type: "string", default: "1" },
    only: { type: "string" },
    instant: { type: "string", default: "0" },
    faults: { type: "string", default: "5" },
    shrink: { type: "boolean", default: true },
    help: { type: "boolean", default: false },
  },
});

let unhandled = 0;
process.on("unhandledRejection", (error) => {
  unhandled += 1;
  console.error("unhandled rejection:", error);
});

if (options.help) console.log(USAGE);
else await main();

async function main() {
  const { seed } = options;
  const instant = Number(options.instant);
  const [onlyProgram, onlySchedule] = options.only?.split(":").map(Number) ?? [];
  const numbers = onlyProgram === undefined ? range(Number(options.programs)) : [onlyProgram];
  const schedules = onlySchedule === undefined ? range(Number(options.schedules)) : [onlySchedule];
  const counts = new Counts();
  const tally = { wrong: 0, repeated: 0, foreign: 0, journals: 0 };
  let failing = 0;
  const start = performance.now();
  for (const number of numbers) {
    const program = programOf(seed, number);
    const faults = await checkProgram(program, { seed, number, schedules, instant, counts });
    for (const { kind } of faults) tally[kind] += 1;
    if (faults.length > 0) {
      failing += 1;
      await show(program, faults, { seed, number, schedules });
      if (failing === Number(options.faults)) break;
    } else if (onlyProgram !== undefined) console.log(printProgram(program));
  }
  console.table({
    ...Object.fromEntries(Object.entries(counts)),
    seconds: Math.round((performance.now() - start) / 100) / 10,
  });
  console.log(
    `wrong results = ${tally.wrong}, repeated calls = ${tally.repeated}, foreign errors = ${tally.foreign}, ` +
      `unequal journals = ${tally.journals}, unhandled rejections = ${unhandled}`,
  );
  if (failing > 0 || unhandled > 0) process.exitCode = 1;
}

async function show(program, faults, { seed, number, schedules }) {
  const [{ kind, run, schedule }] = faults;
  // Journals are compared between schedules.
  const needed = kind === "journals" ? schedules.filter((each) => each <= schedule) : [schedule];
  const check = (candidate) =>
    checkProgram(candidate, {
      seed,
      number,
      schedules: needed,
      instant: Number(options.instant),
    });
  const smaller = options.shrink
    ? await shrink(program, async (candidate) =>
        (await check(candidate)).some((fault) => fault.kind === kind && fault.run === run),
      )
    : program;
  const fault = (await check(smaller)).find((each) => each.kind === kind && each.run === run);
  console.log(
    `\nprogram ${number}, schedule ${schedule} (--seed ${seed} --only ${number}:${schedule}): ${kind}, ${run}`,
  );
  console.log(printProgram(smaller));
  console.log(`  ${(fault ?? faults[0]).difference}`);
}

function range(count) {
  return Array.from({ length: count }, (_, index) => index);
}
