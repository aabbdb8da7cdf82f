// Plants faults into the rules, one at a time, and counts how many programs it takes to find each.

import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { plants } from "./plants.mjs";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const TREE = join(ROOT, "target/planted/tree");
const COPIED = ["Cargo.toml", "Cargo.lock", "build.rs", "package.json", "package-lock.json", "tsconfig.json"];
const COPIED_FOLDERS = ["crates", "src", "ts", "scripts", "native", "proof"];
const BUILD =
  'import { buildAddon } from "./scripts/lib/addon.mjs"; import { buildDist } from "./scripts/lib/dist.mjs";' +
  'await buildAddon({ profile: "release", check: false }); await buildDist();';

/**
 * @param {{ programs: number, seed: string }} options
 * @returns {boolean} true if a fault was not found
 */
export function power({ programs, seed }) {
  plant();
  console.log(`seed ${seed}: building the package with ${plants.length} faults that can be switched on`);
  execFileSync(process.execPath, ["--input-type=module", "-e", BUILD], {
    cwd: TREE,
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, CARGO_TARGET_DIR: join(ROOT, "target/planted/cargo") },
  });
  const without = run(0, ["--programs", String(programs)], seed).failing;
  if (without.length > 0) console.log(`left out, because they fail without a fault: ${without.length} programs`);
  const rows = plants.map(({ name }, index) => {
    const { number, kinds } = search(index + 1, programs, seed, without);
    const row = { fault: name, "found after": number ?? `not in ${programs}`, as: kinds };
    console.log(`${String(row["found after"]).padStart(10)}  ${name}${kinds ? ` (${kinds})` : ""}`);
    return row;
  });
  const found = rows.filter((row) => row.as !== "").length;
  console.log(`${found} of ${rows.length} planted faults found within ${programs} programs`);
  return found < rows.length;
}

/** A copy of the sources with all faults, each behind a switch. */
function plant() {
  rmSync(TREE, { recursive: true, force: true });
  mkdirSync(TREE, { recursive: true });
  for (const name of [...COPIED, "tsdown.config.ts"]) cpSync(join(ROOT, name), join(TREE, name));
  for (const name of COPIED_FOLDERS) cpSync(join(ROOT, name), join(TREE, name), { recursive: true });
  symlinkSync(join(ROOT, "node_modules"), join(TREE, "node_modules"));
  appendFileSync(
    join(TREE, "crates/core/src/lib.rs"),
    `
/// The number of the planted fault that is active in this process.
pub fn planted(number: u32) -> bool {
    static ACTIVE: std::sync::OnceLock<u32> = std::sync::OnceLock::new();
    let active = || std::env::var("PLANTED").ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    *ACTIVE.get_or_init(active) == number
}
`,
  );
  const texts = new Map(["crates/core/src", "ts"].map((folder) => [folder, textsIn(join(TREE, folder))]));
  for (const [index, { name, from, find, replace }] of plants.entries()) {
    const number = index + 1;
    const files = texts.get(from);
    const places = [...files].filter(([, text]) => text.includes(find));
    const [[path, text] = []] = places;
    // A fault that was planted before keeps the text that another one looks for.
    if (places.length !== 1 || text.split(find).length !== 2)
      throw new Error(`the place of "${name}" is not found once in ${from}`);
    const planted = from === "ts" ? `(process.env["PLANTED"] === "${number}")` : `crate::planted(${number})`;
    files.set(
      path,
      text.replace(find, () => replace(planted)),
    );
    writeFileSync(path, files.get(path));
  }
}

function textsIn(folder) {
  const names = readdirSync(folder, { recursive: true }).filter((name) => /\.(rs|ts)$/.test(name));
  return new Map(names.map((name) => [join(folder, name), readFileSync(join(folder, name), "utf8")]));
}

/** The first program that fails with the fault, among those that do not fail without it. */
function search(planted, programs, seed, without) {
  const { failing, kinds } = run(planted, ["--programs", String(programs), "--skip", without.join(), "--first"], seed);
  return { number: failing.length === 0 ? undefined : failing[0] + 1, kinds };
}

function run(planted, args, seed) {
  const command = [join(TREE, "proof/independent.mjs"), "--seed", seed, "--faults", "0", "--json", ...args];
  const env = { ...process.env, PLANTED: String(planted) };
  let text;
  try {
    text = execFileSync(process.execPath, command, {
      cwd: TREE,
      env,
      encoding: "utf8",
      maxBuffer: 2 ** 28,
      stdio: "pipe",
    });
  } catch (error) {
    // A fault ends the process with 1.
    text = error.stdout;
  }
  const { failing, wrong, extra, missing, unhandled } = JSON.parse(text);
  const kinds = Object.entries({ wrong, extra, missing, unhandled }).filter(([, count]) => count > 0);
  return { failing, kinds: kinds.map(([kind]) => kind).join(", ") };
}
