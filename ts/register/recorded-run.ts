// Finds the run of this process in a recording. Several processes of one program append to one file.

import { createHash } from "node:crypto";
import { closeSync, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join, relative } from "node:path";
import { isMainThread } from "node:worker_threads";

import { messageOf } from "../errors/base.js";
import { EVENTS } from "../events/names.js";
import { fromLines } from "../recording/from-lines.js";
import { restoreSnapshot } from "../snapshot/restore.js";
import type { AgentSnapshot } from "../types/snapshot.js";
import { SettingsError } from "./settings.js";

/** Attributes of a run: which process it is. */
export interface ProcessInfo {
  readonly "process.program": string;
  readonly "process.pid": number;
  readonly "process.host": string;
}

export function processInfo(): ProcessInfo {
  const [, script = "", ...args] = process.argv;
  const identity = JSON.stringify([isMainThread, relative(process.cwd(), script), args]);
  // A hash, because arguments may be secrets.
  const program = createHash("sha256").update(identity).digest("hex").slice(0, 16);
  return { "process.program": program, "process.pid": process.pid, "process.host": hostname() };
}

interface RunStart {
  readonly traceId: string;
  readonly info: Partial<ProcessInfo>;
}

export interface RecordedRun {
  /** Without calls if this process was not recorded. */
  readonly snapshot: AgentSnapshot;
  /** True if another program was recorded, or this one with other arguments. */
  readonly isOther: boolean;
}

/** @throws SettingsError if the file cannot be read, is no recording, or is still being written. */
export function readRecordedRun(file: string, own: ProcessInfo): RecordedRun {
  try {
    const bytes = readFileSync(file);
    const { starts, ended } = runsIn(bytes);
    for (const { traceId, info } of starts) {
      if (!ended.has(traceId) && isAlive(info, own))
        throw new SettingsError(
          `${file} is still being written by process ${info["process.pid"]}. Wait for its end, or replay a copy.`,
          3,
        );
    }
    const same = starts.filter(({ info }) => info["process.program"] === own["process.program"]);
    const isOnly = starts.length === 1;
    const run = same.length > 0 ? same[claim(own["process.program"])] : isOnly ? starts[claim("only")] : undefined;
    if (starts.length > 0 && run === undefined) return { snapshot: fromLines({}, [], []), isOther: true };
    const snapshot = restoreSnapshot(bytes, run === undefined ? {} : { traceId: run.traceId });
    for (const { message } of snapshot.warnings ?? []) process.stderr.write(`agent-rewind: ${file}: ${message}\n`);
    return { snapshot, isOther: same.length === 0 };
  } catch (error) {
    if (error instanceof SettingsError) throw error;
    throw new SettingsError(`${file}: ${messageOf(error)}`, 3);
  }
}

function runsIn(bytes: Buffer): { starts: RunStart[]; ended: Set<string> } {
  const starts: RunStart[] = [];
  const ended = new Set<string>();
  for (const line of bytes.toString("utf8").split("\n")) {
    const [, type] = /^\{"type":"(runWith:\w+)"/.exec(line) ?? [];
    if (type !== EVENTS.RUN_WITH_START && type !== EVENTS.RUN_WITH_END) continue;
    const { trace } = JSON.parse(line) as { trace: { traceId: string; attributes?: Partial<ProcessInfo> } };
    if (type === EVENTS.RUN_WITH_END) ended.add(trace.traceId);
    else starts.push({ traceId: trace.traceId, info: trace.attributes ?? {} });
  }
  return { starts, ended };
}

function isAlive(info: Partial<ProcessInfo>, own: ProcessInfo): boolean {
  const { "process.pid": pid, "process.host": host } = info;
  if (pid === undefined || host !== own["process.host"] || pid === own["process.pid"]) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

const CLAIMS = "AGENT_REWIND_CLAIMS";

/** A folder that all processes of a replay share. */
function claimsFolder(): string {
  let folder = process.env[CLAIMS];
  if (folder === undefined) {
    const created = mkdtempSync(join(tmpdir(), "agent-rewind-"));
    folder = process.env[CLAIMS] = created;
    process.on("exit", () => rmSync(created, { recursive: true, force: true }));
  }
  return folder;
}

/** The number of equal processes of this replay that came before. */
function claim(program: string): number {
  for (let number = 0; ; number += 1) if (touch(`${program}-${number}`)) return number;
}

/** Creates a file in the shared folder. False if it exists. */
function touch(name: string): boolean {
  const folder = claimsFolder();
  mkdirSync(folder, { recursive: true });
  try {
    closeSync(openSync(join(folder, name), "wx"));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return false;
  }
}

/** Notes that an answer is missing, for the exit codes of the processes and threads around this one. */
export function noteMiss(): void {
  touch(MISSED);
}

/** True if an answer is missing in this process, or in one that it has started. */
export function hasMissed(): boolean {
  const folder = process.env[CLAIMS];
  return folder !== undefined && existsSync(join(folder, MISSED));
}

const MISSED = "missed";
