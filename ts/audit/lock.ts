// One writer a log. The lock is a file beside it that names the process; that of a dead process is taken over.

import { randomBytes } from "node:crypto";
import { linkSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";

import { AuditLogError } from "../errors/audit.js";

interface Owner {
  pid: number;
  host: string;
  /** When the process started, where the system tells: numbers of processes are used again. */
  started?: string;
  token: string;
}

/** How long a process may take to put another lock in the place of one that was left behind, in milliseconds. */
const TAKE_OVER = 10_000;

/**
 * Locks a log for this writer.
 * @returns the undoing.
 * @throws AuditLogError (`ERR_REWIND_AUDIT_LOCKED`) if another writer has it.
 */
export function lock(path: string): () => void {
  const file = `${path}.lock`;
  const token = randomBytes(12).toString("hex");
  const started = startOf(process.pid);
  const owner: Owner = { pid: process.pid, host: hostname(), ...(started === undefined ? {} : { started }), token };
  const own = `${file}.${token}`;
  writeFileSync(own, JSON.stringify(owner), { mode: 0o600, flag: "wx" });
  try {
    if (!tryLink(own, file) && !takeOver(own, file)) throw locked(path, readOwner(file));
  } finally {
    rmSync(own, { force: true });
  }
  return () => {
    if (readOwner(file)?.token === token) rmSync(file, { force: true });
  };
}

/** A link is made by one process only, and never half written. */
function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** Takes over the lock of a dead process. Only one process at a time may look and remove. */
function takeOver(own: string, file: string): boolean {
  if (isAlive(readOwner(file))) return false;
  const guard = `${file}.guard`;
  if (!tryLink(own, guard)) {
    const age = ageOf(guard);
    if (age === undefined || age < TAKE_OVER) return false;
    // Its process was killed while it took over.
    rmSync(guard, { force: true });
    if (!tryLink(own, guard)) return false;
  }
  try {
    if (isAlive(readOwner(file))) return false;
    rmSync(file, { force: true });
    return tryLink(own, file);
  } finally {
    rmSync(guard, { force: true });
  }
}

function ageOf(file: string): number | undefined {
  const stats = statSync(file, { throwIfNoEntry: false });
  return stats === undefined ? undefined : Date.now() - stats.ctimeMs;
}

function readOwner(file: string): Owner | undefined {
  try {
    const owner = JSON.parse(readFileSync(file, "utf8")) as Partial<Owner> | null;
    // What no writer has written locks nothing.
    return Number.isInteger(owner?.pid) && (owner?.pid as number) > 0 && typeof owner?.host === "string"
      ? (owner as Owner)
      : undefined;
  } catch {
    return undefined;
  }
}

/** Whether the owner may still write. Of another machine nothing is known. */
function isAlive(owner: Owner | undefined): boolean {
  if (owner === undefined) return false;
  if (owner.host !== hostname()) return true;
  try {
    process.kill(owner.pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
  return owner.started === undefined || owner.started === startOf(owner.pid);
}

function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The second field is a name, and may hold anything.
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
  } catch {
    return undefined;
  }
}

function locked(path: string, owner: Owner | undefined): AuditLogError {
  const who = owner === undefined ? "another writer" : `process ${owner.pid} on ${owner.host}`;
  return new AuditLogError(
    `The audit log ${path} is being written by ${who}. A log has one writer at a time: give each process a path of its ` +
      'own, such as "audit.{pid}.jsonl".',
    { path, code: "ERR_REWIND_AUDIT_LOCKED" },
  );
}
