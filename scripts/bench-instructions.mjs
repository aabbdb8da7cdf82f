// npm run bench:instructions [-- --write]: counts the instructions of the core's hot functions with valgrind and
// compares them with crates/core/benches/instructions.json. Unlike a time, a count does not need a quiet machine.
// Prints a reason and does nothing if valgrind is missing or the counts would not be comparable.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { at, readJson } from "./lib/paths.mjs";
import { run } from "./lib/run.mjs";
import { main } from "./lib/steps.mjs";

const KNOWN = "crates/core/benches/instructions.json";
/** The relative difference that a count may have. */
const TOLERANCE = 0.05;
/** Functions that select their instructions by processor: the digest and the search for bytes. */
const CHOSEN_AT_RUN_TIME = /\b(sha2|memchr)::/;

await main(async () => {
  if (process.platform !== "linux" || process.arch !== "x64" || !isInstalled("valgrind")) {
    console.log("skipped: instructions are counted on Linux x64, with valgrind");
    return;
  }
  const args = [
    "--profile=instructions",
    "--package=agent-rewind-core",
    "--bin=instructions",
    "--features=instructions",
  ];
  await run("cargo", ["build", "--quiet", ...args]);
  const program = join(targetFolder(), "instructions", "instructions");
  const names = output(program).trim().split("\n");
  const counts = Object.fromEntries(names.map((name) => [name, countInstructions(program, name)]));
  const rustc = output("rustc", "--version").trim();
  if (process.argv.includes("--write")) {
    writeFileSync(at(KNOWN), `${JSON.stringify({ rustc, counts }, null, 2)}\n`);
    return;
  }
  compare(counts, rustc);
});

function compare(counts, rustc) {
  const known = readJson(KNOWN);
  const wrong = [];
  for (const [name, count] of Object.entries(counts)) {
    const change = count / (known.counts[name] ?? Number.NaN) - 1;
    const holds = Math.abs(change) <= TOLERANCE;
    if (!holds) wrong.push(name);
    const percent = Number.isNaN(change)
      ? "not written down"
      : `${change < 0 ? "" : "+"}${(change * 100).toFixed(1)} %`;
    console.log(`${name.padEnd(40)} ${count.toLocaleString("en").padStart(12)}  ${percent}${holds ? "" : "  !"}`);
  }
  if (wrong.length === 0) return;
  const advice = `with a reason for the change, write them down: npm run bench:instructions -- --write`;
  if (rustc !== known.rustc) {
    console.log(`not compared: counted with ${rustc}, written down with ${known.rustc}; ${advice}`);
    return;
  }
  throw new Error(`instructions differ by more than ${TOLERANCE * 100} %: ${wrong.join(", ")}; ${advice}`);
}

/** The instructions of the program's own functions within the measured part. */
function countInstructions(program, name) {
  const folder = mkdtempSync(join(tmpdir(), "agent-rewind-instructions-"));
  try {
    const file = join(folder, "callgrind.out");
    const options = ["--tool=callgrind", "--collect-atstart=no", "--toggle-collect=*measured*"];
    output("valgrind", ...options, `--callgrind-out-file=${file}`, program, name);
    return ownInstructions(readFileSync(file, "utf8"), program);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Adds up the costs of each function itself. In this format, a line names the object or the function that the following
 * costs belong to, first in full and then by number. The line after `calls=` is the cost of another function.
 */
function ownInstructions(profile, program) {
  const names = { ob: new Map(), fn: new Map() };
  let isOwn = false;
  let isCounted = false;
  let isCall = false;
  let sum = 0;
  for (const line of profile.split("\n")) {
    const [, key, id, full] = /^(ob|fn)=\((\d+)\)(?: (.*))?$/.exec(line) ?? [];
    const [, calledKey, calledId, calledFull] = /^c(ob|fn)=\((\d+)\) (.*)$/.exec(line) ?? [];
    if (calledKey !== undefined) names[calledKey].set(calledId, calledFull);
    if (key !== undefined && full !== undefined) names[key].set(id, full);
    if (key === "ob") isOwn = names.ob.get(id) === program;
    else if (key === "fn") isCounted = isOwn && !CHOSEN_AT_RUN_TIME.test(names.fn.get(id));
    else if (line.startsWith("calls=")) isCall = true;
    else if (/^[+\-*\d]/.test(line)) {
      if (!isCall && isCounted) sum += Number(line.split(" ").at(-1));
      isCall = false;
    }
  }
  return sum;
}

function targetFolder() {
  const metadata = output("cargo", "metadata", "--format-version=1", "--no-deps");
  return JSON.parse(metadata).target_directory;
}

function isInstalled(program) {
  return spawnSync(program, ["--version"]).status === 0;
}

function output(program, ...args) {
  return execFileSync(program, args, { cwd: at("."), encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
}
