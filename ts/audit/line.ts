// Lines of an audit log. Each contains its own hash and the hash of the previous line.

import { createHash, createHmac } from "node:crypto";

/** `prev` of the first line of a log. */
export const NO_LINE: string = "0".repeat(64);

/** Identifies a line of the log. Store it elsewhere, so that `verifyLog` detects changes up to this line. */
export interface AuditHead {
  /** Number of the line in the log, from 0. */
  seq: number;
  /** 64 hex digits. */
  hash: string;
}

/** The first line of a file. */
export interface StartLine {
  type: "start";
  version: 1;
  /** Number of the file in the log, from 1. */
  file: number;
  mode: "full" | "hashes";
  /** True if hashes are computed with a key. */
  keyed: boolean;
  /** Bytes before this line that a killed process left. */
  torn?: Torn;
}

/** An incomplete line that a killed process left. */
export interface Torn {
  bytes: number;
  sha256: string;
}

/** Follows an incomplete line that a killed process left. */
export interface ResumeLine {
  type: "resume";
  torn: Torn;
}

export interface RecordLine {
  type: "record";
  record: Record<string, unknown>;
}

export type LineBody = StartLine | ResumeLine | RecordLine;

/** A line with its place in the hash chain. */
export type Line = LineBody & {
  /** Number of the line in the log, over all its files, from 0. */
  seq: number;
  /** Time of writing: ISO 8601, UTC. */
  time: string;
  /** Hash of the previous line. */
  prev: string;
  hash: string;
};

const HASH_LENGTH = 64;
const BEFORE_HASH = ',"hash":"';
const TAIL_LENGTH = BEFORE_HASH.length + HASH_LENGTH + '"}'.length;

/** SHA-256, or HMAC-SHA256 if there is a key: 64 hex digits. */
export function hashOf(bytes: string | Uint8Array, key: string | undefined): string {
  const hash = key === undefined ? createHash("sha256") : createHmac("sha256", key);
  return hash.update(bytes).digest("hex");
}

/** Returns the text of a line, without the newline, and its hash. */
export function writeLine(
  body: LineBody,
  chain: { seq: number; prev: string },
  key: string | undefined,
): { text: string; hash: string } {
  const { type, ...rest } = body;
  const { seq, prev } = chain;
  const open = JSON.stringify({ seq, time: new Date().toISOString(), prev, type, ...rest }).slice(0, -1);
  const hash = hashOf(open, key);
  return { text: `${open}${BEFORE_HASH}${hash}"}`, hash };
}

export function tornOf(bytes: Uint8Array): Torn {
  return { bytes: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") };
}

/** An intact line, a line that was changed after it was written, or bytes that are not a line of a log. */
export type ReadLine = { line: Line } | { changed: Line } | { noLine: true };

export function readLine(bytes: Buffer, key: string | undefined): ReadLine {
  const split = bytes.length - TAIL_LENGTH;
  if (split < 0 || bytes.toString("latin1", split, split + BEFORE_HASH.length) !== BEFORE_HASH) return { noLine: true };
  let line: Line;
  try {
    line = JSON.parse(bytes.toString("utf8")) as Line;
  } catch {
    return { noLine: true };
  }
  if (!isLine(line)) return { noLine: true };
  return hashOf(bytes.subarray(0, split), key) === line.hash ? { line } : { changed: line };
}

function isLine(line: Partial<Line> | null): boolean {
  return (
    typeof line === "object" &&
    line !== null &&
    Number.isSafeInteger(line.seq) &&
    typeof line.prev === "string" &&
    typeof line.hash === "string" &&
    typeof line.type === "string"
  );
}
