// Shortens tool outputs. The calls and the result messages stay.

import { isRecord } from "../../values/members.js";
import type { CountTokens } from "../window/tokens.js";
import { messagesOf, sum } from "./drop.js";
import { unitsOf, type Item } from "./units.js";

export interface Counters {
  readonly text: CountTokens;
  readonly message: (message: unknown) => number;
}

/** Tokens that remain of an output that is cut to make room. */
const STUB_TOKENS = 16;

/**
 * Shortens each output to at most `most` tokens. Then cuts the oldest outputs to stubs until the rest fits. Outputs at
 * the end of the conversation are cut last, and only if `all` is true.
 */
export function pruneTools(
  items: readonly Item[],
  target: number,
  most: number,
  count: Counters,
  all: boolean,
): Item[] {
  const pruned = items.map((item) => shortened(item, most, count));
  let tokens = sum(pruned);
  const units = unitsOf(messagesOf(pruned));
  for (const atEnd of all ? [false, true] : [false]) {
    for (const { indices, pinned } of units) {
      if (pinned !== atEnd) continue;
      for (const index of indices) {
        const [whole, item] = [items[index], pruned[index]];
        if (tokens <= target || whole === undefined || item === undefined) continue;
        const stub = shortened(whole, STUB_TOKENS, count);
        tokens += stub.tokens - item.tokens;
        pruned[index] = stub;
      }
    }
  }
  return pruned;
}

/** Cuts each output of an item to `most` tokens. Returns the same item if that does not make it shorter. */
function shortened(item: Item, most: number, count: Counters): Item {
  const message = withOutputs(item.message, (output) => cutOutput(output, most, count.text));
  if (message === item.message) return item;
  const tokens = count.message(message);
  return tokens < item.tokens ? { message, tokens } : item;
}

/** Applies a function to the tool outputs of a message. Returns the same message if nothing changes. */
function withOutputs(message: unknown, change: (output: unknown) => unknown): unknown {
  if (!isRecord(message)) return message;
  if (message["role"] === "tool") return withMember(message, "content", change);
  if (message["type"] === "function_call_output") return withMember(message, "output", change);
  const { content } = message;
  if (!Array.isArray(content)) return message;
  let changed = false;
  const blocks = (content as unknown[]).map((block) => {
    if (!isRecord(block) || block["type"] !== "tool_result") return block;
    const next = withMember(block, "content", change);
    changed ||= next !== block;
    return next;
  });
  return changed ? { ...message, content: blocks } : message;
}

function withMember(
  holder: Record<string, unknown>,
  name: string,
  change: (value: unknown) => unknown,
): Record<string, unknown> {
  const before = holder[name];
  const after = change(before);
  return after === before ? holder : { ...holder, [name]: after };
}

/** Cuts text. A list of parts that is too long becomes one text, with other parts replaced by their type. */
function cutOutput(output: unknown, most: number, count: CountTokens): unknown {
  if (typeof output === "string") return cutText(output, most, count);
  if (!Array.isArray(output)) return output;
  const text = (output as unknown[])
    .map((part) => {
      if (typeof part === "string") return part;
      if (isRecord(part) && typeof part["text"] === "string") return part["text"];
      return isRecord(part) && typeof part["type"] === "string" ? `[${part["type"]}]` : JSON.stringify(part);
    })
    .join("\n");
  const cut = cutText(text, most, count);
  return cut === text ? output : [{ type: "text", text: cut }];
}

/** Keeps the beginning of a text and adds a note with the original length. Returns the same text if it is short enough. */
function cutText(text: string, most: number, count: CountTokens): string {
  const tokens = count(text);
  if (tokens <= most) return text;
  const note = `\n[… ${tokens} tokens in all, cut]`;
  const room = most - count(note);
  let [low, high] = [0, room <= 0 ? 0 : text.length];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (count(text.slice(0, middle)) <= room) low = middle;
    else high = middle - 1;
  }
  // Do not cut in the middle of a surrogate pair.
  const end = /[\uD800-\uDBFF]/.test(text.charAt(low - 1)) ? low - 1 : low;
  return text.slice(0, end) + note;
}
