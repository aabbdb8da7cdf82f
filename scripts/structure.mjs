// npm run structure [-- --json] [-- --against REV] [-- --only NAME]: the shape of the sources in numbers, of the working
// tree or side by side with a revision.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { at } from "./lib/paths.mjs";
import { measure } from "./lib/structure/measure.mjs";

const { values } = parseArgs({
  options: { json: { type: "boolean", default: false }, against: { type: "string" }, only: { type: "string" } },
});

/** The measures of a revision, from a copy in a temporary folder. */
function measureAt(revision) {
  const folder = mkdtempSync(join(tmpdir(), "agent-rewind-structure-"));
  try {
    const archive = join(folder, "archive.tar");
    execFileSync("git", ["archive", `--output=${archive}`, revision], { cwd: at(".") });
    execFileSync("tar", ["-xf", archive, "-C", folder]);
    return measure(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const now = measure(at("."));
const before = values.against === undefined ? undefined : measureAt(values.against);
const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(now)])].filter(
  (name) => values.only === undefined || name === values.only,
);

if (values.json) {
  console.log(JSON.stringify(before === undefined ? now : { before, now }, undefined, 2));
} else {
  const rows = names.map((name) => [name, ...(before === undefined ? [] : [before[name] ?? "-"]), now[name] ?? "-"]);
  if (before !== undefined) rows.unshift(["", values.against, "now"]);
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => String(row[column]).length)));
  for (const [name, ...cells] of rows) {
    const padded = cells.map((cell, index) => String(cell).padStart(widths[index + 1]));
    console.log([name.padEnd(widths[0]), ...padded].join("  "));
  }
}
