import { existsSync, mkdirSync } from "node:fs";
import { delimiter, dirname } from "node:path";
import { at } from "./paths.mjs";
import { runNpm } from "./run.mjs";
import { step } from "./steps.mjs";

/** The newest binary of a major version on npm, or the one that was fetched before. */
export async function fetchNode(major) {
  const { platform, arch } = process;
  const name = `node-${platform === "win32" ? "win" : platform}-${arch}`;
  const folder = `.nodes/${major}`;
  const binary = at(folder, "node_modules", name, "bin", platform === "win32" ? "node.exe" : "node");
  if (!existsSync(binary)) {
    mkdirSync(at(folder), { recursive: true });
    const flags = ["--prefix", at(folder), "--no-save", "--ignore-scripts", "--no-audit", "--no-fund"];
    await step(`fetch Node.js ${major}`, () => runNpm(["install", ...flags, `${name}@${major}`]));
  }
  return binary;
}

/** True if this Node.js runs the files `*.node22.test.ts`. */
export function runsNode22Tests(version = process.versions.node) {
  const [major, minor] = version.split(".").map(Number);
  return major > 22 || (major === 22 && minor >= 15);
}

/** An environment in which child processes that run "node" get the binary `node`. */
export function environmentOf(node) {
  return { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env.PATH}` };
}
