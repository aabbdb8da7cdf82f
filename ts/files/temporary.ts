// Names for files that are written whole, and then put in the place of another one.

import { createHash, randomBytes } from "node:crypto";
import { readdirSync, rmSync } from "node:fs";
import { hostname } from "node:os";
import { basename, dirname, join } from "node:path";

/** So many characters of the other's name: the longest names leave no room for more beside them. */
const PART_OF_NAME = 60;

/** Which processes can be seen from here: not those of another machine, or container, that shares the folder. */
const HOST = createHash("sha256").update(hostname()).digest("hex").slice(0, 8);

const OWN_NAME = new RegExp(`^\\..+\\.${HOST}\\.(\\d+)\\.[0-9a-f]{12}\\.tmp$`);

const swept = new Set<string>();

/**
 * A path that is free, in the folder of `path`. What processes that were killed left of such files in the folder is
 * taken away first.
 */
export function temporaryFor(path: string): string {
  const folder = dirname(path);
  sweep(folder);
  const name = basename(path).slice(0, PART_OF_NAME);
  return join(folder, `.${name}.${HOST}.${process.pid}.${randomBytes(6).toString("hex")}.tmp`);
}

/** Once for each folder, which may hold many files: this process leaves none behind. */
function sweep(folder: string): void {
  if (swept.has(folder)) return;
  swept.add(folder);
  try {
    for (const name of readdirSync(folder)) if (isLeft(name)) rmSync(join(folder, name), { force: true });
  } catch {
    // What keeps this from being done will be told by the writing, if it matters.
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
