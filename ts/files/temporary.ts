// Names for files that are written whole, and then put in the place of another one.

import { createHash, randomBytes } from "node:crypto";
import { readdirSync, rmSync } from "node:fs";
import { hostname } from "node:os";
import { basename, dirname, join } from "node:path";

/** So many characters of the other's name: the longest names leave no room for more beside them. */
const PART_OF_NAME = 60;

/** Which processes can be seen from here: not those of another machine, or container, that shares the folder. */
const HOST = createHash("sha256").update(hostname()).digest("hex").slice(0, 8);

const swept = new Set<string>();

/**
 * A path that is free, in the folder of `path`. What processes that were killed left of such files is taken away first.
 */
export function temporaryFor(path: string): string {
  const folder = dirname(path);
  const prefix = `.${basename(path).slice(0, PART_OF_NAME)}.${HOST}.`;
  sweep(folder, prefix);
  return join(folder, `${prefix}${process.pid}.${randomBytes(6).toString("hex")}.tmp`);
}

/** Once for each name: of this process's own files none is left. */
function sweep(folder: string, prefix: string): void {
  const key = join(folder, prefix);
  if (swept.has(key)) return;
  swept.add(key);
  try {
    for (const name of readdirSync(folder)) {
      if (name.startsWith(prefix) && isLeft(name.slice(prefix.length))) rmSync(join(folder, name), { force: true });
    }
  } catch {
    // What keeps this from being done will be told by the writing, if it matters.
  }
}

function isLeft(rest: string): boolean {
  const [, pid] = /^(\d+)\.[0-9a-f]{12}\.tmp$/.exec(rest) ?? [];
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
