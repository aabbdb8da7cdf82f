import { native, type NativeTextSink } from "../native.js";

/** UTF-16 units per piece: few enough to stay in the processor's caches. */
const PIECE = 1 << 16;

/** Shorter texts are passed as arguments. */
export const LONG_TEXT: number = 1 << 20;

const encoder = new TextEncoder();
/** Large enough for a piece of any characters, so that the encoder need not look ahead. Reused for the next text. */
let buffer: Uint8Array | undefined;

/** Passes a long text to the core. As an argument, it would be scanned once more for its length. */
export function inPieces(text: string): NativeTextSink {
  const sink = new native.TextSink(text.length);
  pushText(sink, text);
  return sink;
}

/** Longest text, in UTF-16 units, whose buffer is reused for the next one. */
const KEPT = 1 << 21;
let room: Uint8Array | undefined;

/** Guesses from its beginning if a text is ASCII. Only then passing bytes pays, because the core checks other scripts. */
function beginsAsAscii(text: string): boolean {
  for (let index = 0; index < 1024; index += 1) {
    if (text.charCodeAt(index) > 0x7f) return false;
  }
  return true;
}

/**
 * A long text as UTF-8; `undefined` if that would not pay. The next call reuses the memory, so read it before that. A
 * string argument would be copied to new memory, which costs more than hashing it.
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

/** Appends a text to a sink, in pieces that do not split characters. */
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
