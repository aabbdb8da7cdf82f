import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { at } from "./paths.mjs";

/**
 * True if an output is missing or older than one of its sources.
 *
 * @param {string[]} outputs files, relative to the root
 * @param {string[]} sources files and folders, relative to the root; absent ones do not count
 */
export function isStale(outputs, sources) {
  const built = Math.min(...outputs.map((path) => modified(at(path)) ?? -Infinity));
  const changed = Math.max(...sources.map((path) => newest(at(path))));
  return built < changed;
}

/** The newest time below a path. Folders count too: their time changes when a file is removed. */
function newest(path) {
  const own = modified(path);
  if (own === undefined) return -Infinity;
  if (!statSync(path).isDirectory()) return own;
  return Math.max(own, ...readdirSync(path).map((name) => newest(join(path, name))));
}

function modified(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs;
}
