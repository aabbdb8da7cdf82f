import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { messageOf } from "../errors/base.js";
import { InvalidRecordingError } from "../errors/index.js";
import { wrongKind } from "../files/kind.js";
import { replaceFile, SHARED } from "../files/replace.js";
import type { AgentSnapshot, RecordedRule } from "../types/snapshot.js";
import { recorderFaults } from "../snapshot/open.js";
import { putBack, takeOut, type Blobs } from "./blobs.js";
import { fits, fromLines } from "./from-lines.js";
import { FORMAT, VERSION, type HeaderLine, type Line, type TimingLine } from "./lines.js";
import { toLines } from "./to-lines.js";

/** Paths of a recording: its file, its timing file, and the folder for parts that are too large for a line. */
export interface RecordingPaths {
  readonly main: string;
  readonly timing: string;
  readonly blobs: string;
}

/** The contents of the files of a recording. */
export interface RecordingText {
  readonly main: string;
  readonly timing: string;
  readonly blobs: Blobs;
}

export function recordingText(snapshot: AgentSnapshot, test: string, rules: readonly RecordedRule[]): RecordingText {
  const { lines, timing } = toLines(snapshot);
  const blobs: Blobs = new Map();
  const normalize = rules.map(({ id, definition }) => ({ id, definition }));
  const { recorder } = snapshot;
  const header: HeaderLine = {
    format: FORMAT,
    version: VERSION,
    test,
    ...(recorder === undefined ? {} : { recorder }),
    ...(rules.length === 0 ? {} : { normalize }),
  };
  const text = (list: readonly object[]): string => list.map((line) => `${JSON.stringify(line)}\n`).join("");
  return { main: text([header, ...lines.map((line) => takeOut(line, blobs))]), timing: text(timing), blobs };
}

/** Writes a recording, to be committed: its files have the usual mode. */
export function writeRecording(paths: RecordingPaths, { main, timing, blobs }: RecordingText): void {
  // Files are written before the lines that refer to them.
  for (const [name, content] of blobs) {
    const path = join(paths.blobs, name);
    if (!existsSync(path)) replaceFile(path, content, SHARED);
  }
  replaceFile(paths.timing, timing, SHARED);
  replaceFile(paths.main, main, SHARED);
}

/**
 * Reads a recording. Returns `undefined` if it does not exist.
 * @throws InvalidRecordingError with the number of the line, and errors of the file system.
 */
export function readRecording(paths: RecordingPaths): AgentSnapshot | undefined {
  const text = readIfThere(paths.main);
  if (text === undefined) return undefined;
  const { main } = paths;
  const [first, ...rest] = linesOf(text);
  const header = parseLine(first ?? "{}", main, 1) as Partial<HeaderLine>;
  if (header.format !== FORMAT) {
    const other = wrongKind(header, "recording");
    throw new InvalidRecordingError(main, 1, other ?? `expected a line with "format": "${FORMAT}"`);
  }
  if (header.version !== VERSION) {
    const message = `version ${JSON.stringify(header.version)} of the format is not supported; this package reads version ${VERSION}`;
    throw new InvalidRecordingError(main, 1, message);
  }
  checkRecorder(main, header);
  const read = (name: string): Uint8Array => readFileSync(join(paths.blobs, name));
  const lines = rest.map((line, index) => {
    const parsed = parseLine(line, main, index + 2) as unknown as Line;
    return at(main, index + 2, () => putBack(parsed, read));
  });
  const timing = readTiming(paths.timing);
  try {
    return fromLines(header, lines, fits(lines, timing) ? timing : []);
  } catch (error) {
    const { index = -1, message } = error as Error & { index?: number };
    throw new InvalidRecordingError(main, index + 2, message, { cause: error });
  }
}

/** @throws InvalidRecordingError for replay flags of a newer version. */
function checkRecorder(main: string, { recorder }: Partial<HeaderLine>): void {
  const faults = recorder === undefined ? [] : recorderFaults(recorder);
  if (faults.length === 0) return;
  throw new InvalidRecordingError(main, 1, faults.map(({ path, message }) => `${path}: ${message}`).join(", "));
}

/** Timing is optional. Without it, a replay follows the order of the lines and does not wait. */
function readTiming(path: string): TimingLine[] {
  try {
    return linesOf(readIfThere(path) ?? "").map((line) => JSON.parse(line) as TimingLine);
  } catch {
    return [];
  }
}

function linesOf(text: string): string[] {
  return text.split("\n").filter((line) => line.trim() !== "");
}

function parseLine(line: string, path: string, number: number): Record<string, unknown> {
  const value = at(path, number, () => JSON.parse(line) as unknown);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new InvalidRecordingError(path, number, "expected a JSON object");
  }
  return value as Record<string, unknown>;
}

function at<T>(path: string, line: number, fn: () => T): T {
  try {
    return fn();
  } catch (cause) {
    throw new InvalidRecordingError(path, line, messageOf(cause), { cause });
  }
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
