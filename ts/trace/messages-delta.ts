// Turn events in a trace file. Each holds its whole conversation, which would make the file grow with the square of
// the turns: so only the first turn of a prompt is written in full, and each that follows names what it adds.

import { createHash, type Hash } from "node:crypto";
import type { MessagesDelta, TraceEvent } from "../types/events.js";
import type { Message } from "../types/messages.js";

/** A turn event as it stands in memory. */
type Turn = TraceEvent & { messages: Message[] };
/** A turn event as it stands in a file. */
type DeltaTurn = TraceEvent & { messagesDelta: MessagesDelta };

/** Prompts whose conversation is remembered; the one that was not heard of for longest is forgotten. */
const REMEMBERED = 1_000;

export function isTurn(event: TraceEvent): event is Turn {
  const { type, messages } = event as { type: string; messages?: unknown };
  return (type === "turn:start" || type === "turn:end") && Array.isArray(messages);
}

export function isDeltaTurn(event: TraceEvent): event is DeltaTurn {
  return "messagesDelta" in event;
}

/** SHA-256 over the messages of a conversation as they are written, one a line; it goes on from turn to turn. */
class RunningHash {
  #hash: Hash = createHash("sha256");

  add(messages: readonly Message[]): void {
    for (const message of messages) this.#hash.update(`${JSON.stringify(message)}\n`);
  }

  digest(): string {
    return this.#hash.copy().digest("hex");
  }
}

/** The turns of a prompt share the span that they hang on. */
const promptOf = ({ trace }: TraceEvent): string => `${trace.traceId}/${trace.parentSpanId}`;

/** Replaces `messages` by `messagesDelta`, or the other way round, at the same place among the fields. */
function replaceField(event: TraceEvent, from: string, to: string, value: unknown): TraceEvent {
  const entries = Object.entries(event).map(([key, old]): [string, unknown] =>
    key === from ? [to, value] : [key, old],
  );
  return Object.fromEntries(entries) as unknown as TraceEvent;
}

/** Keeps a map to those entries that were used last. */
function remember<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key);
  map.set(key, value);
  if (map.size > REMEMBERED) map.delete(map.keys().next().value as string);
}

/** What a file holds of a conversation. */
interface Written {
  messages: readonly Message[];
  hash: RunningHash;
  /** Whether all were frozen when they were written, so that they are the same while they are identical. */
  isFrozen: boolean;
}

/** For writing: leaves out of turn events what the file holds. */
export class DeltaWriter {
  readonly #known = new Map<string, Written>();

  /** The event as it is to be written. Never throws: what is no event of a run is written as it is. */
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

  /** An event was not written: what follows must not build on it. */
  forget(): void {
    this.#known.clear();
  }
}

const areFrozen = (messages: readonly Message[]): boolean => messages.every((message) => Object.isFrozen(message));

/**
 * Whether a conversation goes on from what was written of it. The runtime's messages are frozen, and so known by
 * identity; they are many, and looked at twice a turn.
 */
function continues(messages: readonly Message[], { messages: before, isFrozen }: Written): boolean {
  if (!isFrozen || messages.length < before.length) return false;
  for (let index = 0; index < before.length; index++) if (messages[index] !== before[index]) return false;
  return true;
}

/** For reading: gives turn events their whole conversation back. */
export class DeltaReader {
  readonly #known = new Map<string, { messages: Message[]; hash: RunningHash }>();

  /**
   * The event with its messages; or, where what it builds on is not there, what is missing.
   * @returns a string that says why the messages cannot be given back.
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
    if (known === undefined) return `it adds to ${count} messages, and the turn that holds them is not in the file`;
    if (known.messages.length !== count)
      return `it adds to ${count} messages, and the turns before it hold ${known.messages.length}`;
    if (known.hash.digest() !== prefixHash) return "the messages that it adds to are not those of the turns before it";
    const messages = [...known.messages, ...add];
    known.hash.add(add);
    remember(this.#known, key, { messages, hash: known.hash });
    return replaceField(event, "messagesDelta", "messages", messages);
  }
}
