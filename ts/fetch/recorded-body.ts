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

export function bodyBytes(body: RecordedBody): Uint8Array {
  if ("bytes" in body) return typeof body.bytes === "string" ? encoder.encode(body.bytes) : body.bytes;
  return encoder.encode("text" in body ? body.text : JSON.stringify(body.json));
}
