// npm run bench -- [--quick] [--json] [--only NAME[,NAME]]: measures the figures that the package promises.

import { parseArgs } from "node:util";

import { figures } from "./figures/index.mjs";
import { inChild } from "./lib/child.mjs";
import { machine } from "./lib/machine.mjs";
import { formatFigure, formatMachine } from "./lib/report.mjs";

const USAGE = `npm run bench -- [options]
  --quick             fewer samples and smaller sizes, for a quick look
  --json              one JSON document instead of tables
  --only NAME[,NAME]  one or more of: ${figures.map(({ name }) => name).join(", ")}`;

const { values: options } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    json: { type: "boolean" },
    only: { type: "string" },
    help: { type: "boolean" },
  },
});

if (options.help) console.log(USAGE);
else await main(choose(options.only));

function choose(only) {
  if (only === undefined) return figures;
  return only.split(",").map((name) => {
    const figure = figures.find((candidate) => candidate.name === name);
    if (figure === undefined) throw new Error(`there is no figure "${name}"\n${USAGE}`);
    return figure;
  });
}

async function main(chosen) {
  const print = options.json ? () => {} : console.log;
  const about = machine();
  print(formatMachine(about));
  const results = [];
  for (const figure of chosen) {
    const result = { name: figure.name, title: figure.title, ...(await runFigure(figure)) };
    results.push(result);
    print(`\n${result.error === undefined ? formatFigure(figure, result.rows) : `${figure.title}\n  ${result.error}`}`);
  }
  const held = results.flatMap(({ rows = [] }) => rows).filter((row) => row.limit !== undefined);
  const short = held.filter((row) => !row.holds);
  print(`\n${held.length - short.length} of ${held.length} limits hold.`);
  if (options.json) console.log(JSON.stringify({ machine: about, quick: options.quick, figures: results }, null, 2));
  // A missed limit is a result. A figure that cannot be measured is an error.
  if (results.some(({ error }) => error !== undefined)) process.exitCode = 1;
}

async function runFigure({ name, module }) {
  const start = performance.now();
  try {
    const rows = await inChild(module, { quick: options.quick });
    return { seconds: (performance.now() - start) / 1000, rows };
  } catch (error) {
    return { error: `${name} failed: ${error.message}` };
  }
}
