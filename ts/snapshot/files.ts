import { readFile, stat, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { getSystemErrorName, types } from "node:util";

import { InvalidSnapshotError } from "../errors/index.js";
import { kindOf } from "../errors/received.js";
import { wrongKind } from "../files/kind.js";
import { linkTarget } from "../files/replace.js";
import { temporaryFor } from "../files/temporary.js";
import { calling, fromNativeError, native, type NativeFileFailure } from "../native.js";
import type { AgentSnapshot, RestoreOptions } from "../types/snapshot.js";
import { handleOf, snapshotObject, withoutRoot } from "./handle.js";
import { checkSnapshot } from "./open.js";
import { nativeOptions, restored, restoreError } from "./restore.js";

/**
 * Writes a snapshot as JSON text, equal to `JSON.stringify(snapshot)`. If `root` was never accessed, the frames are
 * written without parsing them.
 * @throws InvalidSnapshotError; LimitError if the text is longer than a string can be (512 MB).
 */
export function stringifySnapshot(snapshot: AgentSnapshot): string {
  return writing(snapshot).text();
}

/** The text before and after `root`, with the current values of the other fields. */
function aroundRoot(snapshot: AgentSnapshot): { head: string; tail: string } {
  const keys = Object.keys(snapshot);
  const fields: Partial<Record<string, unknown>> = withoutRoot(snapshot);
  const at = keys.indexOf("root");
  const text = (some: string[]): string =>
    JSON.stringify(Object.fromEntries(some.map((key) => [key, fields[key]]))).slice(1, -1);
  const [before, after] = [text(keys.slice(0, at)), text(keys.slice(at + 1))];
  return { head: `{${before}${before === "" ? "" : ","}"root":`, tail: `${after === "" ? "" : ","}${after}}` };
}

/**
 * Reads a snapshot from JSON text or its UTF-8 bytes.
 * @throws InvalidSnapshotError with all faults, LimitError
 * @throws TypeError if the argument is neither.
 */
export function parseSnapshot(text: string | Uint8Array): AgentSnapshot {
  if (typeof text !== "string" && !types.isUint8Array(text)) {
    const hint = "pass a parsed snapshot directly to runWith";
    throw new TypeError(`parseSnapshot: text must be a string or a Uint8Array, received ${kindOf(text)}; ${hint}`);
  }
  try {
    const handle =
      typeof text === "string"
        ? native.SnapshotHandle.read(text.startsWith("\ufeff") ? text.slice(1) : text)
        : native.readBytesSync(withoutMark(text));
    return snapshotObject(handle);
  } catch (error) {
    throw snapshotError(error, text);
  }
}

/** An error of the core, or one that names the function for what the text is. */
function snapshotError(error: unknown, content: unknown): unknown {
  const message = wrongKind(content, "snapshot");
  return message === undefined ? fromNativeError(error) : new InvalidSnapshotError([{ path: "", message }]);
}

/** Some editors save files with a byte order mark. */
function withoutMark<Bytes extends Uint8Array>(bytes: Bytes): Bytes {
  const isMarked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  return isMarked ? (bytes.subarray(3) as Bytes) : bytes;
}

/**
 * Reads a snapshot file. The text is parsed on another thread.
 * @throws InvalidSnapshotError with all faults, LimitError, and errors of the file system.
 */
export async function readSnapshot(path: string | URL): Promise<AgentSnapshot> {
  const bytes = await readFile(path);
  const finished = await native.readBytes(withoutMark(bytes));
  try {
    return snapshotObject(finished.take());
  } catch (error) {
    throw snapshotError(error, bytes);
  }
}

/**
 * Writes a snapshot file on another thread. The file is replaced atomically: readers see the old or the new file, also
 * after a crash. If the path is a symbolic link, its target is replaced. Devices and pipes are written to directly.
 * @throws InvalidSnapshotError, and errors of the file system.
 */
export async function writeSnapshot(file: string | URL, snapshot: AgentSnapshot): Promise<void> {
  const named = typeof file === "string" ? file : fileURLToPath(file);
  // Before the first await, because the caller may change the snapshot meanwhile.
  const { text, replace } = writing(snapshot);
  const found = await stat(named).catch(() => undefined);
  // Replacing a device or a pipe by a file would cut off its other users.
  if (found !== undefined && !found.isFile() && !found.isDirectory()) return writeFile(named, text());
  const path = linkTarget(named);
  const temporary = temporaryFor(path);
  const failure = await replace(path, temporary);
  if (failure !== null) throw fileSystemError(failure, failure.syscall === "rename" ? path : temporary);
}

interface Writing {
  readonly text: () => string;
  readonly replace: (path: string, temporary: string) => Promise<NativeFileFailure | null>;
}

function writing(snapshot: AgentSnapshot): Writing {
  checkSnapshot(snapshot);
  const handle = handleOf(snapshot);
  if (handle === undefined) {
    const text = JSON.stringify(snapshot);
    return { text: () => text, replace: (path, temporary) => native.writeTextFile(path, temporary, text) };
  }
  const { head, tail } = aroundRoot(snapshot);
  return {
    text: () => head + calling(() => handle.rootText()) + tail,
    replace: (path, temporary) => handle.writeFile(path, temporary, head, tail),
  };
}

/** An error in the form of node:fs. */
function fileSystemError({ syscall, errno, code: known, message }: NativeFileFailure, path: string): Error {
  const isNumberOfNode = errno !== undefined && process.platform !== "win32";
  const code = isNumberOfNode ? getSystemErrorName(-errno) : known;
  const fields = { code, syscall, path, ...(isNumberOfNode && { errno: -errno }) };
  return Object.assign(new Error(`${code}: ${message}, ${syscall} '${path}'`), fields);
}

/**
 * Restores a snapshot from a trace file, like `restoreSnapshot`, on another thread.
 * @throws RestoreError, and errors of the file system.
 *
 * @example
 * ```ts
 * import { readTrace, restoreSnapshotFromFile } from "agent-rewind/debugger";
 *
 * // The last run of the file, at its end.
 * export const latest = await restoreSnapshotFromFile("run.jsonl");
 *
 * // The state before the editor started.
 * for await (const event of readTrace("run.jsonl")) {
 *   if (event.type !== "agent:start" || event.agentId !== "editor") continue;
 *   const { spanId } = event.trace;
 *   console.log(await restoreSnapshotFromFile("run.jsonl", { spanId, anchor: "before" }));
 * }
 * ```
 */
export async function restoreSnapshotFromFile(
  path: string | URL,
  options: RestoreOptions = {},
): Promise<AgentSnapshot> {
  const bytes = await readFile(path);
  const finished = await native.restoreBytes(bytes, nativeOptions(options, false));
  try {
    return restored(finished.take(), options);
  } catch (error) {
    throw restoreError(error, bytes);
  }
}
