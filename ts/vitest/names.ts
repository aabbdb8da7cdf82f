import { createHash } from "node:crypto";
import { basename, dirname, join } from "node:path";

import type { RecordingPaths } from "../recording/files.js";
import type { RecordingReport } from "../testing/recording/seen.js";

/** The used part of vitest's tasks. */
export interface TaskLike {
  readonly name: string;
  readonly type: string;
  fails?: boolean;
  readonly meta: { agentRewind?: RecordingReport };
  readonly suite?: TaskLike | undefined;
  readonly file: FileLike;
  /** `duration` is set at the end, after all hooks. */
  readonly result?: { readonly state: string; readonly startTime?: number; readonly duration?: number } | undefined;
}

export interface FileLike extends Omit<TaskLike, "file"> {
  readonly filepath: string;
  readonly tasks: readonly (TaskLike | SuiteLike)[];
}

export interface SuiteLike extends TaskLike {
  readonly tasks: readonly (TaskLike | SuiteLike)[];
}

export const FOLDER = "__recordings__";
const EXTENSION = ".jsonl";
const TIMING = ".timing.jsonl";
const MAX_NAME = 60;

/** Unique names of all tests of a file. Repeated names are numbered. */
export function testNames(file: FileLike): Map<TaskLike, string> {
  const names = new Map<TaskLike, string>();
  const counts = new Map<string, number>();
  const collect = (tasks: FileLike["tasks"], prefix: string): void => {
    for (const task of tasks) {
      const name = prefix === "" ? task.name : `${prefix} > ${task.name}`;
      if ("tasks" in task) {
        collect(task.tasks, name);
        continue;
      }
      const count = (counts.get(name) ?? 0) + 1;
      counts.set(name, count);
      names.set(task, count === 1 ? name : `${name} (${count})`);
    }
  };
  collect(file.tasks, "");
  return names;
}

/** The folder of the recordings of a test file. */
export function recordingsOf(filepath: string): string {
  return join(dirname(filepath), FOLDER, basename(filepath));
}

export function recordingPaths(filepath: string, testName: string): RecordingPaths {
  const folder = recordingsOf(filepath);
  const name = fileName(testName);
  return { main: join(folder, name + EXTENSION), timing: join(folder, name + TIMING), blobs: join(folder, "files") };
}

/** A file name that stays unique on case-insensitive file systems. */
function fileName(testName: string): string {
  if (testName.length <= MAX_NAME && /^[a-z0-9]+(?: [a-z0-9]+)*$/.test(testName)) return testName.replaceAll(" ", "-");
  const words = testName
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, "-")
    .replaceAll(/^-+|-+$/g, "");
  const hash = createHash("sha256").update(testName).digest("hex").slice(0, 8);
  return `${Array.from(words).slice(0, MAX_NAME).join("")}-${hash}`;
}

/** The name of the recording that a file belongs to; `undefined` for other files. */
export function recordingOfFile(file: string): string | undefined {
  const extension = [TIMING, EXTENSION].find((end) => file.endsWith(end));
  return extension === undefined ? undefined : file.slice(0, -extension.length);
}

/** The names of the recordings of all tests of a file. */
export function wantedRecordings(file: FileLike): Set<string> {
  return new Set([...testNames(file).values()].map(fileName));
}
