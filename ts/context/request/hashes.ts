import { createHash } from "node:crypto";

import { calling, native } from "../../native.js";
import { JsonText } from "./json-text.js";

/** Number of hex digits in a short hash. */
export const SHORT = 16;

/** SHA-256 (64 hex digits) of the text that Python's `json.dumps(value, sort_keys=True, default=str)` returns. */
export function pythonSha256(text: JsonText): string {
  return withLastKeys(text, ({ bytes, source }) => native.pythonHash(bytes, source));
}

/** The text that `pythonSha256` hashes. */
export function pythonText(text: JsonText): string {
  return withLastKeys(text, ({ bytes, source }) => native.pythonJson(bytes, source));
}

/** `pythonSha256` of each element of a list. */
export function elementSha256(text: JsonText): readonly string[] {
  return withLastKeys(text, ({ bytes, source }) => native.elementHashes(bytes, source));
}

/** SHA-256 (64 hex digits) of the RFC 8785 form. */
export function canonicalSha256(text: JsonText): string {
  return withLastKeys(text, ({ wire }) => native.contentHash(wire));
}

export function bytesSha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** SHA-256 (64 hex digits) of a document as it is sent. */
export function documentSha256(document: JsonText): string {
  return bytesSha256(document.source ? document.bytes : Buffer.from(document.wire, "utf8"));
}

/**
 * Calls the core with a text. The core rejects objects with duplicate keys; then the last value of a key counts, as in
 * `JSON.parse` and in Python.
 */
export function withLastKeys<T>(text: JsonText, call: (text: JsonText) => T): T {
  try {
    return calling(() => call(text));
  } catch (error) {
    if (!isInvalidJson(error)) throw error;
    return calling(() => call(lastKeysOnly(text)));
  }
}

/** True if the core rejected a text. As `JSON.parse` may accept it, duplicate keys are a possible reason. */
export function isInvalidJson(error: unknown): boolean {
  return (error as { code?: unknown }).code === "ERR_REWIND_INVALID_JSON";
}

export function lastKeysOnly(text: JsonText): JsonText {
  return JsonText.of(JSON.parse(text.wire) as unknown);
}

/**
 * Returns the text from which the hashes of a capture are computed: that of Python's
 * `json.dumps(value, sort_keys=True, default=str)`, in pure ASCII.
 * @throws CaptureError if the value cannot be written as JSON.
 */
export function pythonJson(value: unknown): string {
  return pythonText(JsonText.of(value));
}
