// The files of a log: the current one at the path of the log, earlier ones next to it with a number.

import { existsSync, readdirSync } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { basename, dirname, extname, join } from "node:path";

/** The path of an earlier file: `audit.jsonl` becomes `audit.1.jsonl`. */
export function rotatedPath(path: string, file: number): string {
  const extension = extname(path);
  return join(dirname(path), `${basename(path, extension)}.${file}${extension}`);
}

/** The numbers of the existing earlier files of a log, in order. */
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

/** A file of a log. If it has a handle, it must be read through the handle. */
export interface LogFile {
  file: string;
  handle?: FileHandle;
  /** True if the log ends with this file. Valid only after the file was read. */
  isLast(): boolean;
}

/** Yields each file of a log once, in order, even if the writer rotates the current one during the iteration. */
export async function* filesOf(path: string): AsyncGenerator<LogFile> {
  let read = 0;
  const unread = (): number[] => rotatedFiles(path).filter((number) => number > read);
  for (;;) {
    for (const number of unread()) {
      read = number;
      yield { file: rotatedPath(path, number), isLast: () => !existsSync(path) && unread().length === 0 };
    }
    const handle = await openIfThere(path);
    try {
      // Files that were rotated before the current one was opened come before it.
      if (unread().length > 0) continue;
      if (handle !== undefined) yield { file: path, handle, isLast: () => true };
      return;
    } finally {
      await handle?.close();
    }
  }
}

async function openIfThere(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
