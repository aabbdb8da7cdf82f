// Hashes of captured text.

import { createHash } from "node:crypto";

import { calling, native } from "../../native.js";
import { JsonText } from "./json-text.js";

/** Digits of the short form. */
export const SHORT = 16;

/** SHA-256, 64 hex digits, of what Python's `json.dumps(value, sort_keys=True, default=str)` gives. */
export function pythonSha256(text: JsonText): string {
  return withLastKeys(text, ({ bytes, source }) => native.pythonHash(bytes, source));
}

/** The text that `pythonSha256` is the hash of. */
export function pythonText(text: JsonText): string {
  return withLastKeys(text, ({ bytes, source }) => native.pythonJson(bytes, source));
}

/** SHA-256, 64 hex digits, of each element of a list. */
export function elementSha256(text: JsonText): readonly string[] {
  return withLastKeys(text, ({ bytes, source }) => native.elementHashes(bytes, source));
}

/** SHA-256, 64 hex digits, of the RFC 8785 form. */
export function canonicalSha256(text: JsonText): string {
  return withLastKeys(text, ({ wire }) => native.contentHash(wire));
}

/** SHA-256, 64 hex digits, of bytes as they are. */
export function bytesSha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** SHA-256, 64 hex digits, of a document as it is sent. */
export function documentSha256(document: JsonText): string {
  return bytesSha256(document.source ? document.bytes : Buffer.from(document.wire, "utf8"));
}

/**
 * Calls the core. Where an object has a key twice, which the core refuses, the last one counts, as it does for
 * `JSON.parse` and for Python.
 */
export function withLastKeys<T>(text: JsonText, call: (text: JsonText) => T): T {
  try {
    return calling(() => call(text));
  } catch (error) {
    if (!isDoubledKey(error)) throw error;
    return calling(() => call(lastKeysOnly(text)));
  }
}

/** Whether the core refused a text for what JavaScript takes. */
export function isDoubledKey(error: unknown): boolean {
  return (error as { code?: unknown }).code === "ERR_REWIND_INVALID_JSON";
}

export function lastKeysOnly(text: JsonText): JsonText {
  return JsonText.of(JSON.parse(text.wire) as unknown);
}

/**
 * The text that the hashes of a snapshot are made of: what Python's `json.dumps(value, sort_keys=True, default=str)`
 * gives. Pure ASCII.
 * @throws CaptureError if the value cannot be written as JSON.
 */
export function pythonJson(value: unknown): string {
  return pythonText(JsonText.of(value));
}
