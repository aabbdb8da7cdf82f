import { native, type TextSink } from "../native.js";

/** UTF-16 units that are handed over at a time: few enough to stay in the processor's caches. */
const PIECE = 1 << 16;

/** Below this a text crosses as it is. */
export const LONG_TEXT: number = 1 << 20;

const encoder = new TextEncoder();
/** Room for a piece whatever its characters are, so that the encoder need not look ahead. Kept for the next text. */
let buffer: Uint8Array | undefined;

/** Hands a long text over to the core. As an argument it would be walked once more, for its length alone. */
export function inPieces(text: string): TextSink {
  const sink = new native.TextSink(text.length);
  pushText(sink, text);
  return sink;
}

/** Adds a text, whole characters, to what was handed over. */
export function pushText(sink: TextSink, text: string): void {
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
