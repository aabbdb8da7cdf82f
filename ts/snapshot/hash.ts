import { calling, native } from "../native.js";
import { encoded } from "./text-pieces.js";

/**
 * Returns the canonical form of JSON text by RFC 8785 (JCS). Lone surrogates, which the RFC does not allow, stay
 * `\udXXX` escapes.
 * @throws RewindError (`ERR_REWIND_INVALID_JSON`) with the byte offset, if the text is not JSON, repeats a key within
 * one object, or contains a number outside the range of a double.
 */
export function canonicalize(text: string): string {
  return calling(() => native.canonicalize(text));
}

/**
 * Returns the SHA-256 of the canonical form of JSON text, as 64 lowercase hex digits. The hash of a request document is
 * the key of its journal row.
 * @throws RewindError under the same conditions as `canonicalize`.
 */
export function contentHash(text: string): string {
  const bytes = encoded(text);
  return calling(() => (bytes === undefined ? native.contentHash(text) : native.contentHashOfBytes(bytes)));
}
