// node proof/scale.mjs: records runs of growing size, dumps and writes them, restores them from their traces, replays
// them, and prints the growth of the time, and the errors beyond the limits.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

import { limits, withinLimits } from "./scale/limits.mjs";
import { growth, measure, PHASES } from "./scale/measure.mjs";
import { shapes } from "./scale/shapes.mjs";

const USAGE = `node proof/scale.mjs [options]
  --only NAME  one of: ${Object.keys(shapes).join(", ")}
  --quick      a tenth of each size
  --folder F   where the files are written, up to a gigabyte (the system's folder for temporary files)`;

const SIZES = {
  nested: [125, 250, 500, 1_000],
  siblings: [12_500, 25_000, 50_000, 100_000],
  entries: [125_000, 250_000, 500_000, 1_000_000],
};

const { values: options } = parseArgs({
  options: {
    only: { type: "string" },
    quick: { type: "boolean", default: false },
    folder: { type: "string", default: tmpdir() },
    help: { type: "boolean", default: false },
  },
});

if (options.help) console.log(USAGE);
else await main();

async function main() {
  const folder = await mkdtemp(join(options.folder, "scale-"));
  try {
    for (const [name, { title }] of Object.entries(shapes)) {
      if (options.only !== undefined && options.only !== name) continue;
      console.log(`\n${name}: ${title}; milliseconds`);
      const sizes = SIZES[name].map((size) => (options.quick ? Math.floor(size / 10) : size));
      // The first run is slower because code is compiled.
      await measure(name, Math.min(sizes[0], 1_000), folder);
      const rows = [];
      for (const n of sizes) rows.push(await measure(name, n, folder));
      print(rows);
    }
  } finally {
    await rm(folder, { recursive: true });
  }
  withinLimits();
  console.log("\nBeyond the limits:");
  for (const { what, name, code, message } of await limits()) {
    // The path of the thousandth frame is long.
    const text = message.length > 120 ? `${message.slice(0, 60)} … ${message.slice(-60)}` : message;
    console.log(`  ${what}: ${name}${code === undefined ? "" : ` (${code})`}: ${text}`);
  }
}

function print(rows) {
  const line = (cells) => console.log(cells.map((cell) => String(cell).padStart(11)).join(""));
  line(["n", ...PHASES, "snapshot", "trace"]);
  for (const { n, milliseconds, bytes } of rows) {
    const megabytes = [bytes.snapshot, bytes.trace].map((size) => `${(size / 1e6).toFixed(1)} MB`);
    line([n, ...PHASES.map((phase) => milliseconds[phase].toFixed(phase === "dump" ? 3 : 1)), ...megabytes]);
  }
  const exponents = growth(rows);
  line(["exponent", ...PHASES.map((phase) => exponents[phase]?.toFixed(2) ?? "-")]);
}
