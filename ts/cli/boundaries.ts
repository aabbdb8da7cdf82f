// Reads boundary records from logs: lines of an audit log, or plain JSON lines with the same fields.

import { readLine } from "../audit/line.js";
import { wrongKind } from "../files/kind.js";
import { defined } from "../values/defined.js";
import { contentHash } from "../snapshot/hash.js";
import { hashFaults, type HashFault } from "./boundary-hashes.js";
import { InputError } from "./exit.js";
import { nameOf, readInput, reading } from "./input.js";

/** One request to a model, as recorded in a log. */
export interface Boundary {
  file: string;
  /** Line number in the file, from 1. */
  line: number;
  timestamp: string;
  session?: string;
  agent: string;
  messages?: unknown[];
  tools?: unknown[];
  messageCount?: number;
  toolCount?: number;
  messageHash?: string;
  toolsHash?: string;
  /** Hashes of each message and tool, in a log without content. */
  messageHashes?: string[];
  toolHashes?: string[];
  /** Hashes that do not match the messages or tools. */
  hashFaults?: HashFault[];
}

export interface BoundaryLog {
  boundaries: Boundary[];
  /** Messages about lines that were skipped. */
  warnings: string[];
}

const NEWLINE = 0x0a;

/** @throws InputError for a line that is not a record, except for an incomplete line of a killed process. */
export async function readBoundaries(path: string): Promise<BoundaryLog> {
  const bytes = await readInput(path);
  const boundaries: Boundary[] = [];
  const warnings: string[] = [];
  let number = 0;
  for (let from = 0; from < bytes.length;) {
    const found = bytes.indexOf(NEWLINE, from);
    const end = found < 0 ? bytes.length : found;
    const line = bytes.subarray(from, end);
    from = end + 1;
    number += 1;
    if (line.length === 0) continue;
    const record = recordOf(line);
    if (record === "control") continue;
    if (record === undefined) {
      if (found >= 0 && !isTorn(bytes, from))
        throw new InputError(`${nameOf(path)}:${number}: the line is not a JSON object`);
      warnings.push(`${nameOf(path)}:${number}: skipped an incomplete line`);
      continue;
    }
    const other = wrongKind(record, "audit log", "command");
    if (other !== undefined) throw new InputError(`${nameOf(path)}:${number}: ${other}`);
    const faults = reading(`${nameOf(path)}:${number}`, () => hashFaults(record, line));
    boundaries.push({ ...boundaryOf(record, path, number), ...(faults.length === 0 ? {} : { hashFaults: faults }) });
  }
  return { boundaries, warnings };
}

/** The record in a line. "control" for the lines of an audit log that contain no record. */
function recordOf(bytes: Buffer): Record<string, unknown> | "control" | undefined {
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString("utf8"));
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const { type, prev, seq, record } = value as Record<string, unknown>;
  if (typeof prev !== "string" || typeof seq !== "number") return value as Record<string, unknown>;
  return type === "record" && typeof record === "object" && record !== null
    ? (record as Record<string, unknown>)
    : "control";
}

/** True if the next line records bytes that a killed process left. */
function isTorn(bytes: Buffer, from: number): boolean {
  const end = bytes.indexOf(NEWLINE, from);
  const next = readLine(bytes.subarray(from, end < 0 ? bytes.length : end), undefined);
  if ("noLine" in next) return false;
  const line = "line" in next ? next.line : next.changed;
  return line.type !== "record" && line.torn !== undefined;
}

function boundaryOf(record: Record<string, unknown>, file: string, line: number): Boundary {
  const text = (...names: string[]): string | undefined =>
    names.map((name) => record[name]).find((value): value is string => typeof value === "string");
  const list = (name: string): unknown[] | undefined =>
    Array.isArray(record[name]) ? (record[name] as unknown[]) : undefined;
  const count = (...names: string[]): number | undefined =>
    names.map((name) => record[name]).find((value): value is number => typeof value === "number");
  return defined({
    file,
    line,
    timestamp: text("timestamp") ?? "",
    session: text("session_id", "sessionId"),
    agent: text("agent_name", "agentName", "agent_id", "agentId") ?? "",
    messages: list("messages"),
    tools: list("tools"),
    messageHash: text("message_hash", "messageHash"),
    toolsHash: text("tools_hash", "toolsHash"),
    messageHashes: list("messageHashes") as string[] | undefined,
    toolHashes: list("toolHashes") as string[] | undefined,
    messageCount: list("messages")?.length ?? list("messageHashes")?.length ?? count("message_count", "messageCount"),
    toolCount: list("tools")?.length ?? list("toolHashes")?.length ?? count("tools_count", "toolsCount"),
  });
}

/** True if two boundaries sent the same messages or tools. Compares content if both have it, otherwise hashes. */
export function sameContent(left: Boundary, right: Boundary, what: "messages" | "tools"): boolean {
  const hash = what === "messages" ? "messageHash" : "toolsHash";
  const haveContent = left[what] !== undefined && right[what] !== undefined;
  if (!haveContent && left[hash]?.length === right[hash]?.length && left[hash] !== undefined)
    return left[hash] === right[hash];
  return JSON.stringify(itemHashes(left, what)) === JSON.stringify(itemHashes(right, what));
}

/** Indices of the messages or tools that differ. Empty if a log contains neither content nor hashes of the items. */
export function differingItems(left: Boundary, right: Boundary, what: "messages" | "tools"): number[] {
  const [leftHashes, rightHashes] = [itemHashes(left, what), itemHashes(right, what)];
  if (leftHashes === undefined || rightHashes === undefined) return [];
  const length = Math.max(leftHashes.length, rightHashes.length);
  return Array.from({ length }, (_, at) => at).filter((at) => leftHashes[at] !== rightHashes[at]);
}

function itemHashes(boundary: Boundary, what: "messages" | "tools"): readonly string[] | undefined {
  const known = what === "messages" ? boundary.messageHashes : boundary.toolHashes;
  return known ?? boundary[what]?.map((item) => hashOf(item, boundary));
}

function hashOf(value: unknown, { file, line }: Boundary): string {
  return reading(`${nameOf(file)}:${line}`, () => contentHash(JSON.stringify(value)));
}
