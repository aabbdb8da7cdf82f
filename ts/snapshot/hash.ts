import { checkText } from "../errors/received.js";
import { calling, native } from "../native.js";
import { encoded } from "./text-pieces.js";

/**
 * Returns the canonical form (RFC 8785, JCS) of JSON text. Lone surrogates, which the RFC does not allow, remain `\udXXX`
 * escapes.
 * @throws RewindError (`ERR_REWIND_INVALID_JSON`) with the byte offset if the text is not JSON, an object has a duplicate
 * key, or a number is outside the range of a double. TypeError if `text` is not a string.
 */
export function canonicalize(text: string): string {
  checkText("canonicalize: text", text);
  return calling(() => native.canonicalize(text));
}

/**
 * Returns the SHA-256 hash of the canonical form of JSON text, as 64 lower-case hex digits. The contentHash of a call is
 * this hash of its request document.
 * @throws RewindError like `canonicalize`.
 */
export function contentHash(text: string): string {
  checkText("contentHash: text", text);
  const bytes = encoded(text);
  return calling(() => (bytes === undefined ? native.contentHash(text) : native.contentHashOfBytes(bytes)));
}
