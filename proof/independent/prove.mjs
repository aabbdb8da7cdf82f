// Runs the programs and prints what was found.

import { programOf } from "./generate.mjs";
import { examine, examined } from "./pool.mjs";
import { print } from "./print.mjs";
import { allShapes, shapesOf } from "./shapes.mjs";
import { shrink } from "./shrink.mjs";

const KINDS = ["wrong", "extra", "missing", "unhandled"];

/**
 * @param {{ programs: number, seed: string, only?: number, faults: number, jobs: number, skip: number[], first: boolean, whole: boolean, without: string[], json: boolean }} options
 * @returns {Promise<boolean>} true if there was a fault
 */
export async function prove({ programs, seed, only, faults: most, jobs, skip, first, whole, without, json }) {
  const started = Date.now();
  const say = json ? () => {} : console.log;
  say(`seed ${seed}`);
  const shapes = new Map(allShapes.map((name) => [name, { shape: name, programs: 0, failing: 0 }]));
  const kinds = Object.fromEntries(KINDS.map((kind) => [kind, 0]));
  const failing = [];
  const kindsOfOperation = new Map();
  let operations = 0;
  let repeating = 0;
  const numbers = [];
  for (let number = 0; numbers.length < programs; number++) {
    if (!shapesOf(programOf(seed, number)).some((shape) => without.includes(shape))) numbers.push(number);
  }
  if (only !== undefined) numbers.splice(0, programs, only);
  const asked = numbers.filter((one) => !skip.includes(one));
  for await (const { number, outcomes, repeats } of examined(seed, asked, first || only !== undefined ? 1 : jobs)) {
    const program = programOf(seed, number);
    if (repeats) repeating += 1;
    const bad = outcomes.filter(({ faults }) => faults.length > 0);
    operations += outcomes.length;
    for (const { operation, faults } of outcomes) {
      const kind = kindOf(operation);
      const row = kindsOfOperation.get(kind) ?? { operation: kind, runs: 0, "with faults": 0 };
      kindsOfOperation.set(kind, row);
      row.runs += 1;
      if (faults.length > 0) row["with faults"] += 1;
    }
    for (const kind of KINDS) if (bad.some(({ faults }) => faults.some((one) => one.kind === kind))) kinds[kind] += 1;
    for (const name of shapesOf(program)) {
      shapes.get(name).programs += 1;
      if (bad.length > 0) shapes.get(name).failing += 1;
    }
    if (bad.length > 0) {
      failing.push({ program, outcomes: bad });
      say(`program ${number} fails (--seed ${seed} --only ${number})`);
    }
    if (first && bad.length > 0) break;
    if (only !== undefined) say(print(program));
  }
  failing.sort((a, b) => a.program.number - b.program.number);
  const shown = [];
  for (const { program, outcomes } of failing.slice(0, most)) {
    const [fault] = outcomes[0].faults;
    const isSmaller = async (other) =>
      (await examine(other, seed)).outcomes.some((one) => one.faults.some(({ kind }) => kind === fault.kind));
    const smallest = whole ? program : await shrink(program, isSmaller);
    const found = whole ? outcomes : (await examine(smallest, seed)).outcomes.filter((one) => one.faults.length > 0);
    shown.push({ number: program.number, text: print(smallest), awaits: smallest.awaits, outcomes: found });
    say(describe(shown.at(-1), seed));
  }
  const rows = [...shapes.values()].map((row) => ({
    ...row,
    share: `${((row.programs / numbers.length) * 100).toFixed(0)} %`,
  }));
  const summary = { seed, programs: numbers.length, operations, seconds: (Date.now() - started) / 1000, ...kinds };
  if (json)
    console.log(
      JSON.stringify({
        ...summary,
        operations: [...kindsOfOperation.values()],
        shapes: rows,
        failing: failing.map(({ program }) => program.number),
        shown,
      }),
    );
  else {
    console.table([...kindsOfOperation.values()].toSorted((a, b) => (a.operation < b.operation ? -1 : 1)));
    console.table(rows);
    if (failing.length > 0) say(`failing programs: ${failing.map(({ program }) => program.number).join(" ")}`);
    say(
      `${repeating} programs (${((repeating / numbers.length) * 100).toFixed(1)} %) hold a handled failure that was ` +
        "executed again, because nothing shows that it was handled; the report names each",
    );
    say(
      `${summary.programs} programs, ${operations} operations, ${summary.seconds.toFixed(0)} s; programs with faults: ` +
        KINDS.map((kind) => `${kind} ${kinds[kind]}`).join(", "),
    );
  }
  const rare = numbers.length >= 1000 ? rows.filter((row) => row.programs < numbers.length / 20) : [];
  for (const { shape, share } of rare) say(`too few programs hold "${shape}": ${share}`);
  return failing.length > 0 || rare.length > 0;
}

/** The name of an operation without its place. */
const kindOf = (operation) => operation.replace(/ (after \d+ \w+|number \d+|at \..*)$/, "");

function describe({ number, text, awaits, outcomes }, seed) {
  const lines = [
    `\nprogram ${number} (--seed ${seed} --only ${number}), made smaller; its clients await ${awaits} × first`,
    text,
  ];
  for (const { operation, faults } of outcomes.slice(0, 4)) {
    lines.push(operation);
    for (const { kind, path, seen, right } of faults.slice(0, 4))
      lines.push(`  ${kind} at ${path || "the run"}: ${seen}; right: ${right}`);
  }
  return lines.join("\n");
}
