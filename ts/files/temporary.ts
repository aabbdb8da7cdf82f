// Temporary files that replace another file when they are complete.

import { createHash, randomBytes } from "node:crypto";
import { readdirSync, rmSync } from "node:fs";
import { hostname } from "node:os";
import { basename, dirname, join } from "node:path";

/** Maximum number of characters taken from the target's name, so that the temporary name is not too long. */
const PART_OF_NAME = 60;

/** Identifies the machine or container, because process ids of others that share the folder are meaningless here. */
const HOST = createHash("sha256").update(hostname()).digest("hex").slice(0, 8);

const OWN_NAME = new RegExp(`^\\..+\\.${HOST}\\.(\\d+)\\.[0-9a-f]{12}\\.tmp$`);

const swept = new Set<string>();

/**
 * Returns an unused path in the folder of `path`. First removes temporary files that killed processes left in the folder.
 */
export function temporaryFor(path: string): string {
  const folder = dirname(path);
  sweep(folder);
  const name = basename(path).slice(0, PART_OF_NAME);
  return join(folder, `.${name}.${HOST}.${process.pid}.${randomBytes(6).toString("hex")}.tmp`);
}

/** Cleans a folder once per process: the folder may be large, and this process removes its own files. */
function sweep(folder: string): void {
  if (swept.has(folder)) return;
  swept.add(folder);
  try {
    for (const name of readdirSync(folder)) if (isLeft(name)) rmSync(join(folder, name), { force: true });
  } catch {
    // If the folder is not usable, the write reports it.
  }
}

function isLeft(name: string): boolean {
  const [, pid] = OWN_NAME.exec(name) ?? [];
  return pid !== undefined && !isAlive(Number(pid));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}
