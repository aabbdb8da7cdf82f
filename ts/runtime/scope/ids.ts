import { randomBytes } from "node:crypto";

// Random bytes come from a pool: a system call per span would cost more than the rest of an event.
const POOL_BYTES = 4096;
let pool = Buffer.alloc(0);
let used = 0;

function hex(bytes: number): string {
  if (used + bytes > pool.length) {
    pool = randomBytes(POOL_BYTES);
    used = 0;
  }
  used += bytes;
  return pool.toString("hex", used - bytes, used);
}

/** 32 hex digits. */
export function newTraceId(): string {
  return hex(16);
}

/** Id of a run, of which a trace can contain several: 32 hex digits. */
export function newRunId(): string {
  return hex(16);
}

/** 16 hex digits. */
export function newSpanId(): string {
  return hex(8);
}
