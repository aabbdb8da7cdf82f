// Checks if the hashes in a boundary record match its messages and tools.

import type { CaptureRecord } from "../context/capture/boundary-types.js";
import { canonicalSha256, pythonSha256 } from "../context/request/hashes.js";
import { JsonText } from "../context/request/json-text.js";
import { recordContent } from "../context/capture/verify.js";
import { native } from "../native.js";
import { visible } from "./output.js";

/** A hash that does not match the content of its record. */
export interface HashFault {
  /** Name of the member with the hash. */
  field: string;
  expected: string;
  actual: string;
}

const FIELDS = [
  { names: ["message_hash", "messageHash"], content: "messages" },
  { names: ["tools_hash", "toolsHash"], content: "tools" },
] as const;

/**
 * Recomputes the hashes of the content in a record and returns those that differ. Redacted content cannot be checked.
 * @param line text of the record, which contains the number tokens as they were written.
 */
export function hashFaults(record: Readonly<Record<string, unknown>>, line?: Buffer): HashFault[] {
  return FIELDS.flatMap(({ names, content }): HashFault[] => {
    if (!Array.isArray(record[content]) && typeof record["request"] !== "string") return [];
    const texts = textsOf(record, content, line);
    if (texts.length === 0 || texts.some(isRedacted)) return [];
    return names.flatMap((field): HashFault[] => {
      const expected = record[field];
      if (typeof expected !== "string" || !/^(?:[0-9a-f]{16}|[0-9a-f]{64})$/.test(expected)) return [];
      if (texts.some((text) => pythonSha256(text).startsWith(expected) || canonicalSha256(text) === expected))
        return [];
      return [{ field, expected, actual: pythonSha256(texts[0] as JsonText).slice(0, expected.length) }];
    });
  });
}

/** The content in all forms from which the hash may have been computed. */
function textsOf(record: Readonly<Record<string, unknown>>, name: "messages" | "tools", line?: Buffer): JsonText[] {
  const captured = recordContent(record as unknown as CaptureRecord)?.[name];
  const bounds = line === undefined ? undefined : native.boundaryParts(line)?.[name];
  const [from, to] = bounds ?? [];
  const written = line === undefined || from === undefined ? undefined : line.subarray(from, to);
  return [
    ...(captured === undefined ? [] : [captured]),
    ...(written === undefined ? [] : [JsonText.ofBytes(Buffer.from(written), true)]),
  ];
}

/** Describes a fault in one line for the terminal. */
export function faultText({ field, expected, actual }: HashFault): string {
  return `${field} is ${visible(expected)}, but the content has ${actual}`;
}

const isRedacted = (text: JsonText): boolean => /\[(?:redacted|base64):/.test(text.wire);
