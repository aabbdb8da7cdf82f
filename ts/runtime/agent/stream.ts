import type { Message } from "../../types/messages.js";
import type { StreamEvent, TokenUsage } from "../../types/model.js";
import type { CallMeta } from "../../types/snapshot.js";
import { encodeValue } from "../../values/encode.js";
import { Watcher, type StreamConsumer, type StreamInfo, type StreamWatcher } from "../scope/watcher.js";

/** @throws TypeError if the consumer is not a function. The message begins with `owner`. */
export function streamWatchers(owner: string, consumer: StreamConsumer | undefined): StreamWatcher[] {
  if (consumer === undefined) return [];
  if (typeof consumer !== "function") throw new TypeError(`${owner}: onStream must be a function`);
  return [new Watcher(`${owner}'s onStream`, consumer)];
}

export function deliver(watchers: readonly StreamWatcher[], event: StreamEvent, info: StreamInfo): void {
  for (const watcher of watchers) watcher.call(copyOf(event), info);
}

/** The recorded answer as stream events. The pieces of each kind are joined. */
export function* recordedStream(message: Message, meta: CallMeta = {}): Generator<StreamEvent> {
  const { content, reasoning_content: reasoning, tool_calls: toolCalls = [], extra } = message;
  if (typeof reasoning === "string" && reasoning !== "") yield { type: "reasoning", content: reasoning };
  if (typeof content === "string" && content !== "") yield { type: "text", content };
  for (const [index, toolCall] of toolCalls.entries()) yield { type: "tool_call", toolCall: { index, ...toolCall } };
  if (extra !== undefined) yield { type: "extra", extra };
  const { usage, finishReason, usageInFinish } = meta;
  if (usage !== undefined && usageInFinish !== true) yield { type: "usage", usage };
  if (finishReason === undefined) return;
  yield { type: "finish", finishReason, ...(usage !== undefined && usageInFinish === true ? { usage } : {}) };
}

/** Collects the usage and finish reason of an answer, which are recorded as its meta. */
export class StreamFacts {
  #meta: CallMeta = {};

  see(event: StreamEvent): void {
    if (event.type !== "usage" && event.type !== "finish") return;
    const usage = event.usage === undefined ? undefined : recordable(event.usage);
    if (usage !== undefined) this.#meta = { ...this.#meta, usage };
    if (event.type === "usage") return;
    this.#meta = { ...this.#meta, finishReason: event.finishReason };
    if (usage !== undefined) this.#meta = { ...this.#meta, usageInFinish: true };
  }

  get meta(): CallMeta {
    return this.#meta;
  }
}

/** A JSON copy; `undefined` if the value is not JSON. */
function recordable(usage: TokenUsage): TokenUsage | undefined {
  const encoded = encodeValue(usage);
  return "tombstone" in encoded ? undefined : (JSON.parse(encoded.text) as TokenUsage);
}

function copyOf(event: StreamEvent): StreamEvent {
  switch (event.type) {
    case "text":
    case "reasoning":
    case "error":
      return { ...event };
    default:
      return cloned(event);
  }
}

function cloned<T extends object>(event: T): T {
  try {
    return structuredClone(event);
  } catch {
    // `extra` of an adapter may contain values that cannot be cloned.
    return { ...event };
  }
}
