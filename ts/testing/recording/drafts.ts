// Drafts: what a failed test has recorded, outside of version control, until it passes.

import { existsSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";

import type { RecordingPaths } from "../../recording/files.js";

/** The paths of the draft of a recording: below the next `node_modules`. */
export function draftPaths(paths: RecordingPaths): RecordingPaths {
  const main = resolve(paths.main);
  const root = projectOf(dirname(main));
  const cache = root === undefined ? tmpdir() : join(root, "node_modules", ".cache");
  const moved = (path: string): string =>
    join(cache, "agent-rewind", relative(root ?? "/", resolve(path)).replaceAll(/^[a-zA-Z]:|\.\./g, "_"));
  return { main: moved(paths.main), timing: moved(paths.timing), blobs: moved(paths.blobs) };
}

function projectOf(folder: string): string | undefined {
  if (existsSync(join(folder, "node_modules"))) return folder;
  const above = dirname(folder);
  return above === folder ? undefined : projectOf(above);
}

/** Removes the files of a recording. Large values stay, because recordings share them. */
export function removeRecording({ main, timing }: RecordingPaths): void {
  for (const path of [main, timing]) rmSync(path, { force: true });
}
