import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isStale } from "./freshness.mjs";
import { writeGenerated } from "./generated.mjs";
import { at, command, readJson } from "./paths.mjs";
import { run, runNode } from "./run.mjs";

/** The last build: `{ addon, profile }`. A bench must not measure a debug build. */
const RECORD = "native/.build.json";
const FILES = ["--js", "binding.cjs", "--dts", "binding.d.cts"];
const SOURCES = [
  "Cargo.toml",
  "Cargo.lock",
  "build.rs",
  "src",
  "crates/core/Cargo.toml",
  "crates/core/src",
  "package.json",
];

/**
 * True if the addon must be built again.
 *
 * @param {{ release?: boolean }} [options] `release`: a debug build is not enough
 */
export function isAddonStale({ release = false } = {}) {
  if (!existsSync(at(RECORD))) return true;
  const { addon, profile } = readJson(RECORD);
  return (release && profile !== "release") || isStale([`native/${addon}`, RECORD], SOURCES);
}

/**
 * Builds the addon into native/, with its loader and types.
 *
 * @param {{ profile: "release" | "debug", check: boolean, args?: string[] }} options
 *   `check`: the committed loader and types must match their sources.
 *   `args`: further arguments of `napi build`, such as a target other than this machine
 */
export async function buildAddon({ profile, check, args: more = [] }) {
  await requireCargo();
  const output = mkdtempSync(join(tmpdir(), "agent-rewind-addon-"));
  try {
    const args = ["build", "--platform", "--output-dir", output, ...FILES, "--no-const-enum", ...more];
    if (profile === "release") args.push("--release");
    await runNode(command("@napi-rs/cli", "napi"), args);
    install(output, { profile, check });
  } finally {
    rmSync(output, { recursive: true, force: true });
  }
}

function install(output, { profile, check }) {
  mkdirSync(at("native"), { recursive: true });
  rmSync(at(RECORD), { force: true });
  const names = readdirSync(output);
  const addon = names.find((name) => name.endsWith(".node"));
  for (const name of names.filter((other) => other !== addon)) {
    writeGenerated(`native/${name}`, readFileSync(join(output, name), "utf8"), { check });
  }
  // Renamed over the old file, because a process that has loaded it must not see it change.
  copyFileSync(join(output, addon), at("native", `${addon}.new`));
  renameSync(at("native", `${addon}.new`), at("native", addon));
  writeFileSync(at(RECORD), JSON.stringify({ addon, profile }));
}

async function requireCargo() {
  try {
    await run("cargo", ["--version"]);
  } catch (error) {
    throw new Error("the addon is built with Rust: install it from https://rustup.rs", {
      cause: error,
    });
  }
}
