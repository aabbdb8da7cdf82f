import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { temporaryFolder } from "./process.js";

/** Runs the `js` blocks of a page of the documentation, in order, as one program, and gives what it prints. */
export function runPage(page: string, env: Record<string, string> = {}): string {
  const text = readFileSync(fileURLToPath(new URL(`../../docs/${page}`, import.meta.url)), "utf8");
  const blocks = [...text.matchAll(/^```js\n(.*?)^```$/gms)].map(([, block]) => block as string);
  if (blocks.length === 0) throw new Error(`${page} has no code to run`);
  const folder = temporaryFolder();
  const file = join(folder, "page.mjs");
  writeFileSync(file, blocks.join("\n"));
  const ended = spawnSync(process.execPath, [file], {
    cwd: folder,
    encoding: "utf8",
    env: { ...process.env, NODE_ENV: "development", ...env },
  });
  if (ended.status !== 0) throw new Error(`${page}: exit code ${ended.status}\n${ended.stderr}`);
  return ended.stdout;
}
