// Checks the arguments of `forkSnapshot` and converts them for the binding.

import { isError } from "../../errors/base.js";
import type { NativeForkChange } from "../../native.js";
import type { ErrorInfo } from "../../types/snapshot.js";
import { encodeWhole, type Encoded } from "../../values/encode.js";
import { toErrorInfo } from "../../values/error-info.js";
import { isRecord } from "../../values/members.js";
import { ForkError } from "../../errors/index.js";
import { misspelled } from "../../errors/nearest.js";
import { unknownName } from "./unknown-name.js";

/** Identifies a call or a frame: a callId, or an object with more detail. */
export type ForkTarget = string | CallIdTarget | ContentHashTarget;

export interface CallIdTarget {
  callId: string;
  /** The occurrence, from 0 in order of the starts, if several generations contain the callId. Default: the last. */
  occurrence?: number;
}

export interface ContentHashTarget {
  contentHash: string;
  /** The occurrence, from 0 in order of the starts, if several requests are equal. Default: the last. */
  occurrence?: number;
  /** The callId of the frame that made the request. */
  frame?: string;
  /** "prompt", "tool" or a custom kind. */
  kind?: string;
}

/** A change of one call or frame. */
export interface ForkChange {
  /** The call or frame to change: a callId, such as `"root/agent:a:0/tool:search:2"`, or `{ contentHash }`. */
  at: ForkTarget;
  /**
   * Removes the call or frame, and everything that started after its end, so that all of it is executed again. Together
   * with `output` or `error`, the entry itself stays with that outcome, and only the later ones are removed.
   */
  drop?: true;
  /**
   * The new output: any value that can be recorded; for a prompt, the assistant message; for a call of `rewindFetch` or the
   * AI SDK, the form of the recorded output, or a text as the answer of the model. The output of a frame is used only with
   * `runWith({ completedFrames: "reuse" })`, because its handler runs again otherwise.
   */
  output?: unknown;
  /** The new error. For frames, the condition of `output` applies. */
  error?: Error | ErrorInfo;
  /** New JSON values of keys in the frame's memory, at its start and at the dump. `undefined` removes a key. */
  memory?: Record<string, unknown>;
}

export interface CheckedChange {
  /** Path in the arguments. */
  readonly path: string;
  /** The original `at`. */
  readonly given: unknown;
  readonly crossing: NativeForkChange;
}

const KEYS = ["at", "drop", "output", "error", "memory"];
const TARGET_KEYS = ["callId", "contentHash", "occurrence", "frame", "kind"];
const TARGET = 'a callId, or an object such as { contentHash: "…", occurrence: 0 }';

/** @throws ForkError */
export function checkChanges(changes: unknown): CheckedChange[] {
  if (!Array.isArray(changes)) return [checkChange(changes, "changes")];
  return changes.map((change: unknown, index) => checkChange(change, `changes.${index}`));
}

function checkChange(change: unknown, path: string): CheckedChange {
  if (!isRecord(change))
    throw new ForkError(path, `expected an object such as { at, output }, received ${received(change)}.`);
  const { at } = change;
  checkKeys(change, KEYS, path, at);
  const target = checkTarget(at, `${path}.at`);
  const drop = checkDrop(change["drop"], `${path}.drop`);
  const output = "output" in change ? checkOutput(change["output"], `${path}.output`) : undefined;
  const error = checkError(change["error"], `${path}.error`);
  const memory = checkMemory(change["memory"], `${path}.memory`);
  if (output !== undefined && error !== undefined) {
    throw new ForkError(path, "expected output or error, not both: a call either returns or fails.", { at });
  }
  if (!drop && output === undefined && error === undefined && memory === undefined) {
    throw new ForkError(path, "nothing to change: set drop, output, error or memory.", { at });
  }
  const crossing = {
    ...target,
    drop,
    ...(output === undefined ? {} : { output: output.text }),
    ...(output === undefined || output.types === null ? {} : { types: output.types }),
    ...(error === undefined ? {} : { error }),
    ...(memory === undefined ? {} : { memory }),
  };
  return { path, given: at, crossing };
}

function checkTarget(at: unknown, path: string): Omit<NativeForkChange, "drop"> {
  if (typeof at === "string") return { callId: JSON.stringify(at) };
  if (!isRecord(at)) throw new ForkError(path, `expected ${TARGET}, received ${received(at)}.`, { at });
  checkKeys(at, TARGET_KEYS, path, at);
  for (const key of ["callId", "contentHash", "frame", "kind"]) {
    if (at[key] !== undefined && typeof at[key] !== "string") {
      throw new ForkError(`${path}.${key}`, `expected a string, received ${received(at[key])}.`, { at });
    }
  }
  const { callId, contentHash, occurrence, frame, kind } = at as Partial<CallIdTarget & ContentHashTarget>;
  if ((callId === undefined) === (contentHash === undefined)) {
    throw new ForkError(path, `expected ${TARGET}${callId === undefined ? "" : ", not both"}.`, { at });
  }
  if (occurrence !== undefined && !(Number.isSafeInteger(occurrence) && occurrence >= 0)) {
    throw new ForkError(`${path}.occurrence`, `expected a whole number from 0, received ${received(occurrence)}.`, {
      at,
    });
  }
  if (callId !== undefined && (frame !== undefined || kind !== undefined)) {
    throw new ForkError(path, "frame and kind go with contentHash only: a callId already contains them.", { at });
  }
  return {
    ...(occurrence === undefined ? {} : { occurrence }),
    ...(callId === undefined ? {} : { callId: JSON.stringify(callId) }),
    ...(contentHash === undefined ? {} : { contentHash: JSON.stringify(contentHash) }),
    ...(frame === undefined ? {} : { frame: JSON.stringify(frame) }),
    ...(kind === undefined ? {} : { kind: JSON.stringify(kind) }),
  };
}

function checkDrop(drop: unknown, path: string): boolean {
  if (drop === undefined || drop === true) return drop === true;
  throw new ForkError(path, `expected true, or leave it out; received ${received(drop)}.`);
}

function checkOutput(output: unknown, path: string): Encoded {
  const encoded = encodeWhole(output);
  if (!("tombstone" in encoded)) return encoded;
  const { path: pointer, reason } = encoded.tombstone;
  throw new ForkError(
    path,
    `${pointer === "" ? "the value" : `the value at ${pointer}`} cannot be recorded: ${reason}.`,
  );
}

/** JSON text of an ErrorInfo. */
function checkError(error: unknown, path: string): string | undefined {
  if (error === undefined) return undefined;
  if (isError(error)) return JSON.stringify(toErrorInfo(error));
  if (!isRecord(error) || typeof error["name"] !== "string" || typeof error["message"] !== "string") {
    throw new ForkError(path, `expected an Error, or { name, message }, received ${received(error)}.`);
  }
  return jsonText(error, path);
}

function checkMemory(memory: unknown, path: string): NativeForkChange["memory"] {
  if (memory === undefined) return undefined;
  if (!isRecord(memory)) {
    throw new ForkError(path, `expected an object with the keys to change, received ${received(memory)}.`);
  }
  return Object.entries(memory).map(([key, value]) => ({
    key: JSON.stringify(key),
    ...(value === undefined ? {} : { value: jsonText(value, `${path}.${key}`) }),
  }));
}

function jsonText(value: unknown, path: string): string {
  const encoded = encodeWhole(value);
  const [pointer, reason] =
    "tombstone" in encoded
      ? [encoded.tombstone.path, encoded.tombstone.reason]
      : (Object.entries(JSON.parse(encoded.types ?? "{}") as Record<string, string>)[0] ?? []);
  if (pointer === undefined) return (encoded as Encoded).text;
  const place = pointer === "" ? "the value" : `the value at ${pointer}`;
  throw new ForkError(path, `${place} is not JSON (${reason}): convert it first.`);
}

function checkKeys(value: Record<string, unknown>, known: readonly string[], path: string, at: unknown): void {
  const unknown = Object.keys(value).find((key) => !known.includes(key));
  if (unknown === undefined) return;
  const meant = misspelled(unknown, known);
  const hint = meant === undefined ? "" : ` Did you mean ${JSON.stringify(meant)}?`;
  throw unknownName(path, `unknown key ${JSON.stringify(unknown)}.${hint}`, unknown, known, at);
}

function received(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object") return "an object";
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean"
    ? JSON.stringify(value)
    : typeof value;
}
