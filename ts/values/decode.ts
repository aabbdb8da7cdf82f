// Reads values from a recording.

import { hasMember, memberOf, setMember } from "./members.js";
import { pointerTokens } from "./pointer.js";

/**
 * Restores the value that `encodeValue` wrote. Ignores a tag whose pointer leads nowhere or whose value does not fit,
 * because the user may have edited the recording.
 *
 * @param text JSON text.
 * @param types JSON text of `{ "<JSON pointer>": "<tag>" }`, or `null`.
 * @throws SyntaxError if `text` or `types` is not JSON.
 */
export function decodeValue(text: string, types: string | null): unknown {
  const value: unknown = JSON.parse(text);
  if (types === null) return value;
  const tags: unknown = JSON.parse(types);
  return typeof tags === "object" && tags !== null ? decodeParsed(value, tags as Record<string, unknown>) : value;
}

/** Restores a value with a tag that only its caller knows; `undefined` if it does not know the tag either. */
export type ReviveOther = (value: unknown, tag: unknown, pointer: string) => unknown;

/** Like `decodeValue`, for a parsed value. Changes `value` in place and returns the root. */
export function decodeParsed(value: unknown, types: Readonly<Record<string, unknown>>, other?: ReviveOther): unknown {
  // In an array, the root can be replaced like any other value.
  const holder = [value];
  const places = Object.entries(types).flatMap(([pointer, tag]) => {
    const tokens = pointerTokens(pointer);
    return tokens === undefined ? [] : [{ keys: ["0", ...tokens], tag, pointer }];
  });
  // Inner values first, because pointers cannot reach into a Map or Set.
  places.sort((left, right) => right.keys.length - left.keys.length);
  for (const { keys, tag, pointer } of places) {
    const key = keys.pop() as string;
    const parent = keys.reduce<unknown>(memberOf, holder);
    if (typeof parent === "object" && parent !== null)
      revive(parent, key, tag, (inner) => other?.(inner, tag, pointer));
  }
  return holder[0];
}

function revive(parent: object, key: string, tag: unknown, other: (value: unknown) => unknown): void {
  if (tag === "undefined") {
    reviveUndefined(parent, key);
    return;
  }
  if (!hasMember(parent, key)) return;
  const revived = reviveValue(parent[key], tag) ?? other(parent[key]);
  if (revived !== undefined) setMember(parent, key, revived);
}

function reviveUndefined(parent: object, key: string): void {
  // Only if the place was not edited: an array has null there, an object has no member.
  const inPlace = Array.isArray(parent) ? hasMember(parent, key) && parent[key] === null : !hasMember(parent, key);
  if (inPlace) setMember(parent, key, undefined);
}

/** Returns `undefined` if the tag is unknown or does not fit the value. */
function reviveValue(value: unknown, tag: unknown): unknown {
  switch (tag) {
    case "date":
      return reviveDate(value);
    case "bigint":
      return typeof value === "string" && /^-?\d+$/.test(value) ? BigInt(value) : undefined;
    case "number":
      return reviveNumber(value);
    case "map":
      return Array.isArray(value) && value.every(isPair) ? new Map(value) : undefined;
    case "set":
      return Array.isArray(value) ? new Set(value) : undefined;
    case "bytes":
    case "buffer":
    case "arraybuffer":
      return reviveBytes(value, tag);
    case "url":
      return typeof value === "string" && URL.canParse(value) ? new URL(value) : undefined;
    case "headers":
      return reviveHeaders(value);
    default:
      return undefined;
  }
}

function reviveDate(value: unknown): Date | undefined {
  if (value === null) return new Date(Number.NaN);
  if (typeof value !== "string") return undefined;
  const date = new Date(value);
  return Number.isNaN(date.getTime()) ? undefined : date;
}

function reviveNumber(value: unknown): number | undefined {
  switch (value) {
    case "NaN":
      return Number.NaN;
    case "Infinity":
      return Number.POSITIVE_INFINITY;
    case "-Infinity":
      return Number.NEGATIVE_INFINITY;
    case "-0":
    case 0:
      return -0;
    default:
      return undefined;
  }
}

function reviveHeaders(value: unknown): Headers | undefined {
  try {
    return Array.isArray(value) ? new Headers(value as [string, string][]) : undefined;
  } catch {
    return undefined;
  }
}

function isPair(value: unknown): value is [unknown, unknown] {
  return Array.isArray(value) && value.length === 2;
}

function reviveBytes(value: unknown, tag: "bytes" | "buffer" | "arraybuffer"): Uint8Array | ArrayBuffer | undefined {
  if (typeof value !== "string" || !isBase64(value)) return undefined;
  const buffer = Buffer.from(value, "base64");
  if (tag === "buffer") return buffer;
  // A copy, because small Buffers share a pool.
  const bytes = new Uint8Array(buffer);
  return tag === "bytes" ? bytes : bytes.buffer;
}

function isBase64(text: string): boolean {
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
}
