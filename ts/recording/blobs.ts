// Stores bytes and long texts of a line in files next to the recording, named by their hash.

import { createHash } from "node:crypto";

import { hasMember, memberOf, setMember } from "../values/members.js";
import { appendToken, pointerTokens } from "../values/pointer.js";
import type { Files, Line } from "./lines.js";

/** Longest text that stays in its line, in UTF-16 units. */
const MAX_TEXT = 8_192;
/** Longest base64 text of bytes that stays in its line. */
const MAX_BYTES = 256;

/** Contents of files next to a recording, by their names. */
export type Blobs = Map<string, Uint8Array>;

const TYPED = [
  ["output", "types"],
  ["output", "outputTypes"],
  ["props", "propsTypes"],
] as const;

/** Returns a copy of the line whose large parts are moved to `blobs`. */
export function takeOut(line: Line, blobs: Blobs): Line {
  const files: Files = {};
  const bytes = bytesIn(line);
  const copy = copyWith(line, (value, pointer) => {
    const isBytes = bytes.has(pointer);
    if (value.length <= (isBytes ? MAX_BYTES : MAX_TEXT)) return value;
    const content = isBytes ? Buffer.from(value, "base64") : Buffer.from(value);
    // UTF-8 cannot represent lone surrogates, so such a text stays in its line.
    if (!isBytes && content.toString() !== value) return value;
    const name = `${createHash("sha256").update(content).digest("hex")}.${isBytes ? "bin" : "txt"}`;
    blobs.set(name, content);
    files[pointer] = name;
    return "";
  });
  return Object.keys(files).length === 0 ? line : { ...(copy as Line), files };
}

/**
 * Inserts the contents of files that `takeOut` moved out. Changes the line.
 * @throws Error if a file is missing, or its content does not match the hash in its name.
 */
export function putBack(line: Line, read: (name: string) => Uint8Array): Line {
  const { files, ...rest } = line;
  for (const [pointer, name] of Object.entries(files ?? {})) {
    const [, hash, kind] = /^([\da-f]{64})\.(bin|txt)$/.exec(name) ?? [];
    if (hash === undefined)
      throw new Error(`${JSON.stringify(name)} is not a valid name of a file next to a recording`);
    const content = Buffer.from(read(name));
    if (createHash("sha256").update(content).digest("hex") !== hash)
      throw new Error(`the content of ${name} does not match the hash in its name`);
    setAt(rest, pointer, content.toString(kind === "bin" ? "base64" : "utf8"));
  }
  return rest;
}

/** Pointers to the texts of a line that represent bytes. */
function bytesIn(line: Line): Set<string> {
  const fields = line as unknown as Record<string, Record<string, string> | undefined>;
  return new Set(
    TYPED.flatMap(([name, typesName]) =>
      Object.entries(fields[typesName] ?? {})
        .filter(([, tag]) => tag === "bytes" || tag === "buffer" || tag === "arraybuffer")
        .map(([pointer]) => `/${name}${pointer}`),
    ),
  );
}

/** A copy of a JSON value with changed texts. Works without recursion, because data can be nested deeply. */
function copyWith(value: object, change: (text: string, pointer: string) => string): unknown {
  const holder: { copy?: unknown } = {};
  const open: { source: unknown; pointer: string; target: object; key: string }[] = [
    { source: value, pointer: "", target: holder, key: "copy" },
  ];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { source, pointer, target, key } = next;
    let copy = source;
    if (typeof source === "string") copy = change(source, pointer);
    else if (typeof source === "object" && source !== null) {
      copy = Array.isArray(source) ? [] : {};
      // Members are copied last to first, so this fixes the order of the keys.
      for (const name of Object.keys(source)) setMember(copy as object, name, undefined);
      for (const name of Object.keys(source)) {
        const member = (source as Record<string, unknown>)[name];
        open.push({ source: member, pointer: appendToken(pointer, name), target: copy as object, key: name });
      }
    }
    setMember(target, key, copy);
  }
  return holder.copy;
}

function setAt(value: object, pointer: string, text: string): void {
  const tokens = pointerTokens(pointer) ?? [];
  const last = tokens.pop();
  const parent = tokens.reduce<unknown>(memberOf, value);
  if (last === undefined || !hasMember(parent, last)) {
    throw new Error(`"files" names ${JSON.stringify(pointer)}, which is not in the line`);
  }
  setMember(parent, last, text);
}
