// Counts tokens with a function of the user. Without one, the core estimates them.

import { native } from "../../native.js";
import type { JsonText } from "../request/json-text.js";
import { isRecord } from "../../values/members.js";

/** Returns the number of tokens in a text. */
export type CountTokens = (text: string) => number;

const PER_MESSAGE = 4;
const PER_TOOL_CALL = 10;
const TOOL_CALL_ID = 10;
const IMAGE = 85;
/** Added once to a non-empty list of messages. */
export const PER_LIST = 3;

/** Estimates the tokens of plain text: 0.25 per ASCII character and 1.3 per other character. */
export function estimateTokens(text: string): number {
  return native.textTokens(Buffer.from(text, "utf8"));
}

/** Tokens of each message. Returns an empty list if the messages are not a list. */
export function messageTokens(messages: JsonText, count: CountTokens | undefined): readonly number[] {
  if (count === undefined) return native.messageTokens(messages.bytes, messages.source);
  const list = messages.value;
  return Array.isArray(list) ? list.map((message: unknown) => tokensOfMessage(message, count)) : [];
}

function tokensOfMessage(message: unknown, count: CountTokens): number {
  if (!isRecord(message)) return PER_MESSAGE;
  const { content, name, tool_call_id: id, tool_calls: calls } = message;
  let tokens = PER_MESSAGE + tokensOfContent(content, count) + tokensOf(name, count);
  if (id !== undefined && id !== null && id !== "") tokens += TOOL_CALL_ID;
  if (!Array.isArray(calls)) return tokens;
  for (const call of calls as unknown[]) {
    if (!isRecord(call)) continue;
    const called = isRecord(call["function"]) ? call["function"] : call;
    tokens += tokensOf(called["name"], count) + tokensOf(called["arguments"], count) + PER_TOOL_CALL;
  }
  return tokens;
}

export function tokensOfContent(content: unknown, count: CountTokens): number {
  if (!Array.isArray(content)) return tokensOf(content, count);
  let tokens = 0;
  for (const part of content as unknown[]) {
    if (isRecord(part) && part["type"] === "image_url") tokens += IMAGE;
    else if (isRecord(part) && part["type"] === "text") tokens += tokensOf(part["text"], count);
    else tokens += tokensOf(part, count);
  }
  return tokens;
}

/** Counts a string directly and any other value by its JSON text. Absent and empty values count 0. */
function tokensOf(value: unknown, count: CountTokens): number {
  if (value === undefined || value === null || value === "") return 0;
  if (typeof value === "string") return count(value);
  return count(JSON.stringify(value, (_key, item: unknown) => (typeof item === "bigint" ? item.toString() : item)));
}
