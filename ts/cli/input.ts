// Reads inputs: files, or standard input under the name "-".

import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { buffer } from "node:stream/consumers";

import { messageOf } from "../errors/base.js";
import { kindOf as kindOfValue, kindOfText, wrongKind } from "../files/kind.js";
import { readRecording as readTestRecording } from "../recording/files.js";
import { parseSnapshot } from "../snapshot/files.js";
import { restoreSnapshot } from "../snapshot/restore.js";
import type { TraceEvent } from "../types/events.js";
import type { AgentSnapshot, RestoreOptions } from "../types/snapshot.js";
import { RunView } from "../view/run-view.js";
import { InputError } from "./exit.js";

/** @throws InputError */
export async function readInput(path: string): Promise<Buffer> {
  try {
    return path === "-" ? await buffer(process.stdin) : await readFile(path);
  } catch (cause) {
    throw inputError(path, cause);
  }
}

/** An InputError with the name of the file and the message of the cause. */
export function inputError(path: string, cause: unknown): InputError {
  return new InputError(`${nameOf(path)}: ${messageOf(cause)}`, { cause });
}

export function nameOf(path: string): string {
  return path === "-" ? "standard input" : path;
}

export interface RecordedRun {
  readonly kind: "snapshot" | "trace" | "recording";
  readonly snapshot: AgentSnapshot;
  /** The bytes of a trace. */
  readonly trace?: Buffer;
  readonly view: RunView;
}

/**
 * Reads a snapshot, a trace or the recording of a test. `options` apply to traces. Audit logs have no run.
 * @throws InputError
 */
export async function readRun(
  path: string,
  options: RestoreOptions = {},
): Promise<RecordedRun | { readonly kind: "audit log" }> {
  const bytes = await readInput(path);
  const kind = kindOf(bytes);
  if (kind === "trace") {
    const snapshot = restored(path, bytes, options);
    return reading(path, () => ({ kind, snapshot, trace: bytes, view: new RunView(snapshot, bytes) }));
  }
  const other = kind ?? kindOfText(bytes);
  if (other === "audit log") return { kind: other };
  if (other === undefined)
    throw new InputError(`${nameOf(path)}: neither a snapshot nor a trace (JSON lines, or a list of events)`);
  const snapshot = reading(path, () => (other === "recording" ? ofTest(path) : parseSnapshot(bytes)));
  const { traceId } = snapshot.provenance;
  if (options.traceId !== undefined && options.traceId !== traceId)
    throw new InputError(`${nameOf(path)}: this is a snapshot of the run "${traceId}", not of "${options.traceId}"`);
  return reading(path, () => ({ kind: kind ?? "recording", snapshot, view: new RunView(snapshot) }));
}

/** As {@link readRun}. @throws InputError for an audit log. */
export async function readRecording(path: string, options: RestoreOptions = {}): Promise<RecordedRun> {
  const run = await readRun(path, options);
  if (run.kind !== "audit log") return run;
  throw new InputError(`${nameOf(path)}: ${wrongKind(await readInput(path), "snapshot", "command")}`);
}

function ofTest(main: string): AgentSnapshot {
  const timing = main.replace(/\.jsonl$/, ".timing.jsonl");
  const snapshot = readTestRecording({ main, timing, blobs: join(dirname(main), "files") });
  if (snapshot === undefined) throw new InputError("the recording of a test can be read from a file only");
  return snapshot;
}

/** @throws InputError */
export async function readTrace(path: string, options: RestoreOptions): Promise<AgentSnapshot> {
  const bytes = await readInput(path);
  if (kindOf(bytes) !== "trace") {
    const other = wrongKind(bytes, "trace", "command");
    throw new InputError(`${nameOf(path)}: ${other ?? "not a trace (JSON lines, or a list of events)"}`);
  }
  return restored(path, bytes, options);
}

function restored(path: string, bytes: Buffer, options: RestoreOptions): AgentSnapshot {
  return reading(path, () => {
    const isList = bytes[firstByte(bytes)] === 0x5b;
    return restoreSnapshot(isList ? (JSON.parse(bytes.toString("utf8")) as TraceEvent[]) : bytes, options);
  });
}

/** Calls `read` and turns its errors into an InputError that names the input. */
export function reading<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw inputError(path, cause);
  }
}

const LOOK = 4_096;

/** Detects the kind by the beginning. Parses the whole input only if the beginning is not sufficient. */
function kindOf(bytes: Buffer): "snapshot" | "trace" | undefined {
  const first = firstByte(bytes);
  const head = bytes.toString("utf8", first, first + LOOK);
  if (/^\[\s*(?:\{|\])/.test(head)) return "trace";
  if (!head.startsWith("{")) return undefined;
  if (/^\{\s*"(?:processId|root|provenance|version)"/.test(head)) return "snapshot";
  const lineEnd = bytes.indexOf(0x0a, first);
  const line = parsed(bytes.subarray(first, lineEnd < 0 ? bytes.length : lineEnd));
  if (line !== undefined && kindOfValue(line) === "audit log") return undefined;
  if (line !== undefined && typeof line["type"] === "string") return "trace";
  return "root" in (line ?? parsed(bytes) ?? {}) ? "snapshot" : undefined;
}

function firstByte(bytes: Buffer): number {
  let at = bytes.subarray(0, 3).equals(Buffer.from("\ufeff")) ? 3 : 0;
  while (at < bytes.length && [0x20, 0x09, 0x0a, 0x0d].includes(bytes[at] as number)) at += 1;
  return at;
}

function parsed(bytes: Buffer): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString("utf8"));
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
