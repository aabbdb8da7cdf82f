// One writer per log. A writer locks a file next to the log. The operating system releases the lock when the process ends,
// so a lock file that was left behind locks nothing.

import { readFileSync } from "node:fs";
import { hostname } from "node:os";

import { AuditLogError } from "../errors/audit.js";
import { native } from "../native.js";

interface Owner {
  pid: number;
  host: string;
}

/**
 * Locks a log for this writer.
 * @returns a function that releases the lock.
 * @throws AuditLogError (`ERR_REWIND_AUDIT_LOCKED`) if another writer has it.
 */
export function lock(path: string): () => void {
  const file = `${path}.lock`;
  const fileLock = new native.FileLock(file);
  const owner: Owner = { pid: process.pid, host: hostname() };
  const failure = fileLock.tryLock(JSON.stringify(owner));
  if (failure === null) return () => fileLock.release();
  if (failure.code === "EAGAIN") throw locked(path, readOwner(file));
  throw new Error(`${failure.code}: ${failure.message}, ${failure.syscall} '${file}'`);
}

/** Reads the owner for the error message. Fails where a locked file cannot be read (Windows). */
function readOwner(file: string): Owner | undefined {
  try {
    const owner = JSON.parse(readFileSync(file, "utf8")) as Partial<Owner> | null;
    return Number.isInteger(owner?.pid) && typeof owner?.host === "string" ? (owner as Owner) : undefined;
  } catch {
    return undefined;
  }
}

function locked(path: string, owner: Owner | undefined): AuditLogError {
  const who = owner === undefined ? "another writer" : `process ${owner.pid} on ${owner.host}`;
  return new AuditLogError(
    `The audit log ${path} is being written by ${who}. A log has one writer at a time: give each process its own path, ` +
      'such as "audit.{pid}.jsonl".',
    { path, code: "ERR_REWIND_AUDIT_LOCKED" },
  );
}
