import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";

import { FOLDER, recordingOfFile, recordingsOf, wantedRecordings, type FileLike } from "./names.js";
import { warn } from "../errors/printable.js";

/** Recordings whose test no longer exists, and folders whose test file no longer exists. */
export function obsoleteFiles(file: FileLike): string[] {
  const folder = recordingsOf(file.filepath);
  const wanted = wantedRecordings(file);
  const files = namesIn(folder).filter((name) => {
    const recording = recordingOfFile(name);
    return recording !== undefined && !wanted.has(recording);
  });
  const all = join(dirname(file.filepath), FOLDER);
  const folders = namesIn(all).filter((name) => !existsSync(join(dirname(file.filepath), name)));
  return [...files.map((name) => join(folder, name)), ...folders.map((name) => join(all, name))];
}

export function removeObsolete(file: FileLike): void {
  for (const path of obsoleteFiles(file)) rmSync(path, { recursive: true, force: true });
}

/** Removes the binary files of a test file's recordings that no recording refers to any more. */
export function removeUnnamed(filepath: string): void {
  const folder = recordingsOf(filepath);
  const blobs = join(folder, "files");
  const names = namesIn(blobs);
  if (names.length === 0) return;
  const texts = namesIn(folder)
    .filter((name) => recordingOfFile(name) !== undefined)
    .map((name) => readFileSync(join(folder, name), "utf8"));
  for (const name of names) {
    if (!texts.some((text) => text.includes(name))) rmSync(join(blobs, name), { force: true });
  }
}

const noticed = new WeakSet<FileLike>();

/** Reports or removes obsolete recordings, once per test file. vitest knows all tests when the first one starts. */
export function noticeObsolete(file: FileLike, remove: boolean): void {
  if (noticed.has(file)) return;
  noticed.add(file);
  if (remove) {
    removeObsolete(file);
    return;
  }
  const obsolete = obsoleteFiles(file);
  if (obsolete.length === 0) return;
  const list = obsolete.map((path) => `\n  ${path}`).join("");
  warn(`obsolete recordings of ${basename(file.filepath)} (\`vitest -u\` removes them):${list}`);
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).toSorted();
  } catch {
    return [];
  }
}
