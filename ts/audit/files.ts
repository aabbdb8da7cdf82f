// The files of a log: the current one under the log's own path, earlier ones beside it with a number.

import { existsSync, readdirSync } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
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

/** A file of a log, to be read by its handle if it has one. */
export interface LogFile {
  file: string;
  handle?: FileHandle;
  /** Whether the log ends here; to be asked when the file has been read. */
  isLast(): boolean;
}

/** The files of a log, in order, each once, also if the writer puts the current one aside meanwhile. */
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
      // What was put aside before the current file was opened comes before it.
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
