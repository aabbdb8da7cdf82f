import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { at } from "./paths.mjs";

/**
 * Updates a committed, generated file.
 *
 * @param {string} path relative to the root
 * @param {string} text generated from the sources
 * @param {{ check: boolean }} options `check`: fails if the file differs, and changes nothing
 */
export function writeGenerated(path, text, { check }) {
  const current = existsSync(at(path)) ? readFileSync(at(path), "utf8") : undefined;
  if (current === text) return;
  if (check) {
    const state = current === undefined ? "is missing" : "is not what its sources generate";
    throw new Error(`${path} ${state}: run \`npm run build\` and \`npm run api\`, and commit it`);
  }
  mkdirSync(dirname(at(path)), { recursive: true });
  writeFileSync(at(path), text);
  console.log(`  wrote ${path}: commit it`);
}
