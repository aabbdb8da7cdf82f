import { calling, native } from "../native.js";
import { encoded } from "./text-pieces.js";

/**
 * The canonical form of JSON text by RFC 8785 (JCS), whatever its source. Lone surrogates, which the RFC
 * does not allow, stay `\udXXX` escapes.
 * @throws RewindError (`ERR_REWIND_INVALID_JSON`) with the byte offset, for text that is not JSON, has a
 * key twice in one object, or a number outside the range of a double.
 */
export function canonicalize(text: string): string {
  return calling(() => native.canonicalize(text));
}

/**
 * SHA-256 of the canonical form of JSON text, as 64 lower-case hex digits: the key of a journal row, when
 * `text` is the request document.
 * @throws RewindError as `canonicalize` does.
 */
export function contentHash(text: string): string {
  const bytes = encoded(text);
  return calling(() => (bytes === undefined ? native.contentHash(text) : native.contentHashOfBytes(bytes)));
}
