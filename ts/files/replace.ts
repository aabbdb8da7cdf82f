// Replaces files at once: readers see the old or the new content, also after a crash.

import { chmodSync, mkdirSync, readlinkSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";

import { temporaryFor } from "./temporary.js";

/** Mode of new files that may hold what agents saw. */
export const PRIVATE = 0o600;
/** Mode of new files that are meant to be shared, such as those that are committed. */
export const SHARED = 0o666;

/** The limit of Linux. */
const MAX_LINKS = 40;

/** The path that symbolic links lead to, also if nothing exists there yet. */
export function linkTarget(link: string): string {
  let path = link;
  for (let links = 0; links < MAX_LINKS; links++) {
    try {
      path = resolve(dirname(path), readlinkSync(path));
    } catch {
      return path;
    }
  }
  // A circle of links: the write reports it.
  return link;
}

/** A temporary file that replaces another one when it is complete. */
export interface Replacement {
  readonly temporary: string;
  /** Options to create the temporary file. */
  readonly options: { readonly flag: "wx"; readonly flags: "wx"; readonly mode: number };
  /** Puts the temporary file in its place, with the mode of the file that was there. A link stays a link. */
  finish(): void;
  discard(): void;
}

/** @param mode the mode of a new file. */
export function replacementOf(path: string, mode: number): Replacement {
  const target = linkTarget(path);
  const kept = statSync(target, { throwIfNoEntry: false });
  const temporary = temporaryFor(target);
  return {
    temporary,
    // Not readable by others while it is written, if the file that it replaces is not.
    options: { flag: "wx", flags: "wx", mode: kept === undefined ? mode : kept.mode & mode },
    finish() {
      if (kept !== undefined) chmodSync(temporary, kept.mode & 0o7777);
      renameSync(temporary, target);
    },
    discard: () => rmSync(temporary, { force: true }),
  };
}

/** Creates the folder if necessary. */
export function replaceFile(path: string, content: string | Uint8Array, mode: number): void {
  mkdirSync(dirname(path), { recursive: true });
  const file = replacementOf(path, mode);
  try {
    writeFileSync(file.temporary, content, file.options);
    file.finish();
  } catch (error) {
    file.discard();
    throw error;
  }
}
