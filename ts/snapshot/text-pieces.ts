import { native, type NativeTextSink } from "../native.js";

/** UTF-16 units that are handed over at a time: few enough to stay in the processor's caches. */
const PIECE = 1 << 16;

/** Below this a text crosses as it is. */
export const LONG_TEXT: number = 1 << 20;

const encoder = new TextEncoder();
/** Room for a piece whatever its characters are, so that the encoder need not look ahead. Kept for the next text. */
let buffer: Uint8Array | undefined;

/** Hands a long text over to the core. As an argument it would be walked once more, for its length alone. */
export function inPieces(text: string): NativeTextSink {
  const sink = new native.TextSink(text.length);
  pushText(sink, text);
  return sink;
}

/** Room for longer texts than this is not kept for the next one, in UTF-16 units. */
const KEPT = 1 << 21;
let room: Uint8Array | undefined;

/** By its beginning, whether a long text is worth handing over as bytes: other scripts would have to be checked there. */
function beginsAsAscii(text: string): boolean {
  for (let index = 0; index < 1024; index += 1) {
    if (text.charCodeAt(index) > 0x7f) return false;
  }
  return true;
}

/**
 * A long text as UTF-8, in room that is used again: read it before the next call. A string as an argument is copied to
 * new memory, which costs more than to hash it. `undefined` where that would not pay.
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

/** Adds a text, whole characters, to what was handed over. */
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
