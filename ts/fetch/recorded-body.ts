// The body of a response as it is recorded.

/** JSON that comes out again byte for byte stands as it is, to be read in a review. */
export type RecordedBody =
  | { json: unknown }
  | { text: string }
  /** Redaction puts a text in their place. */
  | { bytes: Uint8Array | string };

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export function recordBody(bytes: Uint8Array): RecordedBody {
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    return { bytes: new Uint8Array(bytes) };
  }
  if (!/^[[{]/.test(text)) return { text };
  try {
    const json: unknown = JSON.parse(text);
    return JSON.stringify(json) === text ? { json } : { text };
  } catch {
    return { text };
  }
}

const SPACE = 0x20;
const AROUND_WORDS = new Set(Array.from("\"'<>()[]{},;", (character) => character.charCodeAt(0)));
/** No secret is longer, but those that are found by how they begin. */
const LONGEST_WORD = 4096;

/** What came of a body before it broke off, without the word at its end: half of a secret is not known as one. */
export function withoutCutWord(bytes: Uint8Array): Uint8Array {
  let end = bytes.length;
  while (end > 0 && bytes.length - end < LONGEST_WORD && isOfWord(bytes[end - 1] as number)) end -= 1;
  return bytes.subarray(0, end);
}

function isOfWord(byte: number): boolean {
  return byte > SPACE && !AROUND_WORDS.has(byte);
}

export function bodyBytes(body: RecordedBody): Uint8Array {
  if ("bytes" in body) return typeof body.bytes === "string" ? encoder.encode(body.bytes) : body.bytes;
  return encoder.encode("text" in body ? body.text : JSON.stringify(body.json));
}
