// Turn events in a trace file. Each event contains the whole conversation, which would make the file grow with the square
// of the turns. So only the first turn of a prompt is written in full; later turns contain only the messages that they add.

import { createHash, type Hash } from "node:crypto";
import type { MessagesDelta, TraceEvent } from "../types/events.js";
import type { Message } from "../types/messages.js";

/** A turn event in memory. */
type Turn = TraceEvent & { messages: Message[] };
/** A turn event in a file. */
type DeltaTurn = TraceEvent & { messagesDelta: MessagesDelta };

/** Number of prompts whose conversations are remembered. The least recently used one is dropped first. */
const REMEMBERED = 1_000;

function isTurn(event: TraceEvent): event is Turn {
  const { type, messages } = event as { type: string; messages?: unknown };
  return (type === "turn:start" || type === "turn:end") && Array.isArray(messages);
}

export function isDeltaTurn(event: TraceEvent): event is DeltaTurn {
  return "messagesDelta" in event;
}

/** SHA-256 over the messages of a conversation, one JSON text per line. It continues from turn to turn. */
class RunningHash {
  #hash: Hash = createHash("sha256");

  add(messages: readonly Message[]): void {
    for (const message of messages) this.#hash.update(`${JSON.stringify(message)}\n`);
  }

  digest(): string {
    return this.#hash.copy().digest("hex");
  }
}

/** All turns of a prompt have the same parent span. */
const promptOf = ({ trace }: TraceEvent): string => `${trace.traceId}/${trace.parentSpanId}`;

/** Replaces `messages` with `messagesDelta`, or the reverse, at the same position among the fields. */
function replaceField(event: TraceEvent, from: string, to: string, value: unknown): TraceEvent {
  const entries = Object.entries(event).map(([key, old]): [string, unknown] =>
    key === from ? [to, value] : [key, old],
  );
  return Object.fromEntries(entries) as unknown as TraceEvent;
}

/** Sets an entry and drops the least recently used one if the map is full. */
function remember<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key);
  map.set(key, value);
  if (map.size > REMEMBERED) map.delete(map.keys().next().value as string);
}

/** The part of a conversation that a file contains. */
interface Written {
  messages: readonly Message[];
  hash: RunningHash;
  /** True if all messages were frozen when they were written, so that identical objects have equal content. */
  isFrozen: boolean;
}

/** Removes the messages from turn events that the file already contains. */
export class DeltaWriter {
  readonly #known = new Map<string, Written>();

  /** Returns the event to write. Never throws: a malformed event is returned unchanged. */
  shorten(event: TraceEvent): TraceEvent {
    try {
      return isTurn(event) ? this.#shorten(event) : event;
    } catch {
      return event;
    }
  }

  #shorten(event: Turn): TraceEvent {
    const key = promptOf(event);
    const { messages } = event;
    const known = this.#known.get(key);
    if (known === undefined || !continues(messages, known)) {
      const hash = new RunningHash();
      hash.add(messages);
      this.#remember(key, { messages, hash, isFrozen: areFrozen(messages) });
      return event;
    }
    const count = known.messages.length;
    const add = messages.slice(count);
    const prefixHash = known.hash.digest();
    known.hash.add(add);
    this.#remember(key, { messages, hash: known.hash, isFrozen: areFrozen(add) });
    return replaceField(event, "messages", "messagesDelta", { count, prefixHash, add } satisfies MessagesDelta);
  }

  #remember(key: string, written: Written): void {
    const { messages } = written;
    remember(this.#known, key, Object.isFrozen(messages) ? written : { ...written, messages: [...messages] });
  }

  /** Call this if an event was not written, so that later events do not refer to it. */
  forget(): void {
    this.#known.clear();
  }
}

const areFrozen = (messages: readonly Message[]): boolean => messages.every((message) => Object.isFrozen(message));

/**
 * True if a conversation continues the written one. Compares by identity, because the runtime freezes its messages and
 * a comparison of content twice per turn would be slow.
 */
function continues(messages: readonly Message[], { messages: before, isFrozen }: Written): boolean {
  if (!isFrozen || messages.length < before.length) return false;
  for (let index = 0; index < before.length; index++) if (messages[index] !== before[index]) return false;
  return true;
}

/** Restores the whole conversation of turn events. */
export class DeltaReader {
  readonly #known = new Map<string, { messages: Message[]; hash: RunningHash }>();

  /**
   * Returns the event with all its messages, or a string that explains why the messages cannot be restored.
   */
  complete(event: TraceEvent): TraceEvent | string {
    const key = promptOf(event);
    if (isTurn(event)) {
      const hash = new RunningHash();
      hash.add(event.messages);
      remember(this.#known, key, { messages: event.messages, hash });
      return event;
    }
    if (!isDeltaTurn(event)) return event;
    const { count, prefixHash, add } = event.messagesDelta;
    const known = this.#known.get(key);
    if (known === undefined) return `it adds to ${count} messages, but the turn with these messages is not in the file`;
    if (known.messages.length !== count)
      return `it adds to ${count} messages, but the turns before it have ${known.messages.length}`;
    if (known.hash.digest() !== prefixHash)
      return "the messages that it adds to differ from those of the turns before it";
    const messages = [...known.messages, ...add];
    known.hash.add(add);
    remember(this.#known, key, { messages, hash: known.hash });
    return replaceField(event, "messagesDelta", "messages", messages);
  }
}
