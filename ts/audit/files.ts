// The files of a log: the current one under the log's own path, earlier ones beside it with a number.

import { readdirSync } from "node:fs";
import { basename, dirname, extname, join } from "node:path";

/** Path of an earlier file: `audit.jsonl` becomes `audit.1.jsonl`. */
export function rotatedPath(path: string, file: number): string {
  const extension = extname(path);
  return join(dirname(path), `${basename(path, extension)}.${file}${extension}`);
}

/** Numbers of the earlier files of a log that there are, in order. */
export function rotatedFiles(path: string): number[] {
  const extension = extname(path);
  const start = `${basename(path, extension)}.`;
  let names: string[];
  try {
    names = readdirSync(dirname(path));
  } catch {
    return [];
  }
  return names
    .filter((name) => name.startsWith(start) && name.endsWith(extension))
    .map((name) => name.slice(start.length, name.length - extension.length))
    .filter((number) => /^[1-9]\d*$/.test(number))
    .map(Number)
    .toSorted((left, right) => left - right);
}
