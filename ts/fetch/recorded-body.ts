/** The body of a response in a recording. JSON that serializes to the same bytes is stored as JSON, to be readable. */
export type RecordedBody =
  | { json: unknown }
  | { text: string }
  /** Redaction replaces bytes with a text. */
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
/** Longer secrets are found by their prefix alone. */
const LONGEST_WORD = 4096;

/** An incomplete body without its last word. Redaction would not find a secret of which only a part has arrived. */
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
