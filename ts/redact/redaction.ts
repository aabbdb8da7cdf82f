import { calling, native } from "../native.js";
import { deepFreeze } from "../values/freeze.js";
import type { RecordedRedaction } from "../types/snapshot.js";
import { encodeMarked, type Encoded, type Tombstone } from "../values/encode.js";
import { redactEncoded } from "./encoded.js";
import type { Redactor } from "./redactor.js";

/** Fields of events that contain no data of the agent and to which other events refer. */
const KEPT = new Set(["contentHash", "inputHash", "spanId", "normalize", "recorder", "redact", "schemaVersion"]);

/** Redacts everything that is recorded of a run: requests, outputs, failures, memory and events. */
export class Redaction {
  readonly #redactor: Redactor;
  /** Redacted copies of messages. A cache, because the events of each turn contain the whole conversation. */
  readonly #messages = new WeakMap<object, unknown>();

  constructor(redactor: Redactor) {
    this.#redactor = redactor;
  }

  get recorded(): RecordedRedaction {
    return this.#redactor.recorded;
  }

  json(text: string): string {
    return this.#redactor.json(text);
  }

  /** Redacts a name, such as that of a tool or an agent. */
  name(name: string): string {
    return this.#redactor.text(name);
  }

  encoded<E extends Encoded | Tombstone>(encoded: E): E {
    if ("tombstone" in encoded) return encoded;
    return redactEncoded(encoded, (json) => this.json(json)) as E;
  }

  /** The hash of a request as it is sent. */
  wireHash(request: string): string {
    return calling(() => native.contentHash(request));
  }

  /** Returns the same copy for the same frozen message, so that trace writers recognize it. */
  #message(message: unknown): unknown {
    const frozen = typeof message === "object" && message !== null && Object.isFrozen(message);
    const known = frozen ? this.#messages.get(message) : undefined;
    if (known !== undefined) return known;
    const copy = JSON.parse(this.json(encodeMarked(message).text)) as unknown;
    if (frozen) this.#messages.set(message, deepFreeze(copy));
    return copy;
  }

  /** Redacts the fields of an event. */
  fields(fields: object): object {
    const types = fields as Readonly<Record<string, unknown>>;
    return Object.fromEntries(
      Object.entries(fields).flatMap(([key, value]): [string, unknown][] => {
        if (value === undefined) return [];
        // Handled with the field that these types belong to.
        if (key.endsWith("Types") && key.slice(0, -"Types".length) in types) return [];
        if (KEPT.has(key) || typeof value === "number" || typeof value === "boolean") return [[key, value]];
        if (key === "toolResults" && Array.isArray(value)) return [[key, value.map((row: object) => this.fields(row))]];
        if (key === "messages" && Array.isArray(value)) return [[key, value.map((message) => this.#message(message))]];
        const typesKey = `${key}Types`;
        const typed = types[typesKey];
        const { text } = encodeMarked(value);
        const encoded = this.encoded({ text, types: typed === undefined ? null : JSON.stringify(typed) });
        const redacted: [string, unknown] = [key, JSON.parse(encoded.text)];
        return encoded.types === null ? [redacted] : [redacted, [typesKey, JSON.parse(encoded.types) as unknown]];
      }),
    );
  }
}
