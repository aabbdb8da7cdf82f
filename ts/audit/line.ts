// Lines of an audit log: each carries the hash of the line before, and its own.

import { createHash, createHmac } from "node:crypto";

/** What stands before the first line of all. */
export const NO_LINE: string = "0".repeat(64);

/** Stands in the first line of a file. */
export interface StartLine {
  type: "start";
  version: 1;
  /** Number of the file, from 1. */
  file: number;
  mode: "full" | "hashes";
  /** Hashes are made with a key. */
  keyed: boolean;
  /** Bytes before this line that a killed process left behind. */
  torn?: Torn;
}

/** What a killed process was about to write. */
export interface Torn {
  bytes: number;
  sha256: string;
}

/** Stands after bytes that a killed process left behind. */
export interface ResumeLine {
  type: "resume";
  torn: Torn;
}

export interface RecordLine {
  type: "record";
  record: Record<string, unknown>;
}

export type LineBody = StartLine | ResumeLine | RecordLine;

/** A line whose own hash is right. */
export type Line = LineBody & {
  /** Number of the line in the log, over all its files, from 0. */
  seq: number;
  /** When it was written: ISO, UTC. */
  time: string;
  /** Hash of the line before. */
  prev: string;
  hash: string;
};

const HASH_LENGTH = 64;
const BEFORE_HASH = ',"hash":"';
const TAIL_LENGTH = BEFORE_HASH.length + HASH_LENGTH + '"}'.length;

/** SHA-256, or HMAC-SHA256 with a key: 64 hex digits. */
export function hashOf(bytes: string | Uint8Array, key: string | undefined): string {
  const hash = key === undefined ? createHash("sha256") : createHmac("sha256", key);
  return hash.update(bytes).digest("hex");
}

/** A line, without the newline, and its hash. */
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

/** What a line is: whole, changed after it was written, or no line of a log. */
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
