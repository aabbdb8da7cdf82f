import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";

import { FOLDER, recordingOfFile, recordingsOf, wantedRecordings, type FileLike } from "./names.js";

/** Files of recordings whose tests are gone, and folders of test files that are gone. */
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

/** Removes what is obsolete, and the files beside recordings that no recording names any more. */
export function removeObsolete(file: FileLike): void {
  for (const path of obsoleteFiles(file)) rmSync(path, { recursive: true, force: true });
}

/** Removes the files beside the recordings of a test file that none of them names any more. */
export function removeUnnamed(filepath: string): void {
  const folder = recordingsOf(filepath);
  const beside = join(folder, "files");
  const names = namesIn(beside);
  if (names.length === 0) return;
  const texts = namesIn(folder)
    .filter((name) => recordingOfFile(name) !== undefined)
    .map((name) => readFileSync(join(folder, name), "utf8"));
  for (const name of names) {
    if (!texts.some((text) => text.includes(name))) rmSync(join(beside, name), { force: true });
  }
}

const noticed = new WeakSet<FileLike>();

/** Reports what is obsolete, or removes it, once for each test file. All its tests are known when the first one runs. */
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
  console.warn(
    `agent-rewind: obsolete recordings beside ${basename(file.filepath)}, which \`vitest -u\` removes:${list}`,
  );
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).toSorted();
  } catch {
    return [];
  }
}
