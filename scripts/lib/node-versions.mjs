import { existsSync, mkdirSync } from "node:fs";
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
