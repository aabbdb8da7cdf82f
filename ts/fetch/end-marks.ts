// The marks with which protocols of models end a streamed answer. A client may stop reading there, before the body ends.

/** True if a body contains the end mark of its protocol, or is as long as its head says. What follows the mark does not matter. */
export function hasEndMark(bytes: Uint8Array, headers: readonly (readonly [name: string, value: string])[]): boolean {
  const {
    "content-type": type = "",
    "content-length": length,
    "content-encoding": coding,
  } = Object.fromEntries(headers);
  if (coding === undefined && length !== undefined && Number(length) === bytes.length) return true;
  if (type.includes("vnd.amazon.eventstream")) return hasBedrockEnd(Buffer.from(bytes));
  const text = new TextDecoder().decode(bytes);
  if (/^application\/json\b/.test(type)) return parsed(text) !== undefined;
  return text.split(/\r\n|[\r\n]/).some(isEndLine);
}

/** A line of server-sent events, or of JSON lines. */
function isEndLine(line: string): boolean {
  const data = /^(?:data:\s*)?((?:\[DONE\]|\{.*\}))\s*$/s.exec(line)?.[1];
  if (data === undefined) return false;
  return data === "[DONE]" || (MAY_END.test(data) && isEnd(parsed(data) ?? {}));
}

/** Spares most lines from being parsed. */
const MAY_END = /"(?:done|finishReason|generated_text|type|event_type)"/;

/** The types of the last event of an answer, of Anthropic, OpenAI's responses, Cohere and the AI SDK. */
const LAST_TYPES: ReadonlySet<unknown> = new Set([
  "message_stop",
  "response.completed",
  "response.failed",
  "response.incomplete",
  "message-end",
  "stream-end",
]);

interface LastEvent {
  readonly type?: unknown;
  readonly event_type?: unknown;
  readonly done?: unknown;
  readonly generated_text?: unknown;
  readonly candidates?: readonly { readonly finishReason?: unknown }[];
}

function isEnd({ type, event_type: eventType, done, generated_text: generated, candidates }: LastEvent): boolean {
  if (LAST_TYPES.has(type) || LAST_TYPES.has(eventType)) return true;
  // Ollama, and Hugging Face's text generation.
  if (done === true || typeof generated === "string") return true;
  // Gemini: each candidate ends on its own.
  const ended = Array.isArray(candidates) && candidates.every(({ finishReason }) => typeof finishReason === "string");
  return ended && candidates.length > 0;
}

function parsed(text: string): LastEvent | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

const EVENT_TYPE = Buffer.from(":event-type\u0007");

/** Bedrock ends an answer with `messageStop` and `metadata`, in binary messages. */
function hasBedrockEnd(bytes: Buffer): boolean {
  let hasStopped = false;
  for (let at = 0; at + 12 <= bytes.length;) {
    const length = bytes.readUInt32BE(at);
    if (length < 16 || at + length > bytes.length) return false;
    const headers = bytes.subarray(at + 12, at + 12 + bytes.readUInt32BE(at + 4));
    const name = headers.indexOf(EVENT_TYPE) + EVENT_TYPE.length;
    const type =
      headers.indexOf(EVENT_TYPE) < 0 ? "" : headers.toString("utf8", name + 2, name + 2 + headers.readUInt16BE(name));
    if (hasStopped && type === "metadata") return true;
    hasStopped ||= type === "messageStop";
    at += length;
  }
  return false;
}
