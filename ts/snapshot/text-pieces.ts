import { native, type NativeTextSink } from "../native.js";

/** UTF-16 units per piece, small enough for the processor's caches. */
const PIECE = 1 << 16;

/** Shorter texts are passed as an argument. */
export const LONG_TEXT: number = 1 << 20;

const encoder = new TextEncoder();
/** Room for a piece of any characters, so that the encoder need not look ahead. Reused. */
let buffer: Uint8Array | undefined;

/** Passes a long text to the core. As an argument, the text would be walked twice: first for its length. */
export function inPieces(text: string): NativeTextSink {
  const sink = new native.TextSink(text.length);
  pushText(sink, text);
  return sink;
}

/** Buffers for longer texts are not reused, in UTF-16 units. */
const KEPT = 1 << 21;
let room: Uint8Array | undefined;

/** Passing bytes pays only for ASCII, because the core would have to validate other characters. The beginning decides. */
function beginsAsAscii(text: string): boolean {
  for (let index = 0; index < 1024; index += 1) {
    if (text.charCodeAt(index) > 0x7f) return false;
  }
  return true;
}

/**
 * A long text as UTF-8 in a reused buffer, valid until the next call. A string argument is copied to new memory, which
 * costs more than hashing it. `undefined` if bytes would not be faster.
 */
export function encoded(text: string): Uint8Array | undefined {
  if (text.length < PIECE || !beginsAsAscii(text)) return undefined;
  let bytes = room;
  if (bytes === undefined || bytes.length < text.length * 3) {
    bytes = new Uint8Array(text.length * 3);
    if (text.length <= KEPT) room = bytes;
  }
  return bytes.subarray(0, encoder.encodeInto(text, bytes).written);
}

/** Appends a text. Surrogate pairs are kept together. */
export function pushText(sink: NativeTextSink, text: string): void {
  buffer ??= new Uint8Array(PIECE * 3);
  for (let start = 0; start < text.length;) {
    let end = Math.min(start + PIECE, text.length);
    if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end--;
    const { written } = encoder.encodeInto(text.slice(start, end), buffer);
    sink.push(buffer.subarray(0, written));
    start = end;
  }
}

function isHighSurrogate(unit: number): boolean {
  return (unit & 0xfc00) === 0xd800;
}
