// Captured JSON is kept as text, so that it shares nothing with the caller and crosses to the core in one piece.

import { CaptureError } from "../../errors/index.js";
import { newTraceId } from "../../runtime/scope/ids.js";
import { deepFreeze } from "../../values/freeze.js";
import { isPlainJson } from "../../values/plain.js";

/** Tokens for numbers that JSON lacks. `JSON.stringify` never writes them, and the core recognizes them. */
const CORE_TOKENS: Readonly<Record<string, string>> = { NaN: "0e1", Infinity: "0e2", "-Infinity": "-0e2", "-0": "-0" };

/** A JSON value as text, in its original form: a string or UTF-8 bytes. */
export class JsonText {
  /** True if the number tokens of the text count, so that `1.0` differs from `1`. */
  readonly source: boolean;
  /** Prefix of the strings that replace values JSON lacks. Absent if the text has no such values. */
  readonly #marker: string | undefined;
  #text: string | undefined;
  #bytes: Buffer | undefined;
  #value: { readonly frozen: unknown } | undefined;

  private constructor(source: boolean, content: { text?: string; bytes?: Buffer; marker?: string | undefined }) {
    this.source = source;
    this.#text = content.text;
    this.#bytes = content.bytes;
    this.#marker = content.marker;
  }

  /**
   * Converts a value as `JSON.stringify` does, but preserves BigInt, NaN, the infinities and -0.
   * @throws CaptureError for a cycle, or if an accessor or `toJSON` throws.
   */
  static of(value: unknown): JsonText {
    try {
      if (isPlainJson(value)) return new JsonText(false, { text: JSON.stringify(value) });
      const marker = `agent-rewind:${newTraceId()}:`;
      let isMarked = false;
      const mark = (name: string): string => {
        isMarked = true;
        return marker + name;
      };
      const replacer = (_key: string, item: unknown): unknown => {
        if (typeof item === "bigint") return mark(item.toString());
        if (typeof item !== "number") return item;
        if (!Number.isFinite(item)) return mark(String(item));
        return Object.is(item, -0) ? mark("-0") : item;
      };
      const text = JSON.stringify(value, replacer) ?? "null";
      return new JsonText(false, { text, marker: isMarked ? marker : undefined });
    } catch (cause) {
      throw new CaptureError("The messages or tools cannot be written as JSON", { cause });
    }
  }

  /** Wraps text that `JSON.stringify` returned. */
  static ofStringified(text: string): JsonText {
    return new JsonText(false, { text });
  }

  /** Wraps the UTF-8 bytes of JSON text, which must not change afterwards. `source`: see the field. */
  static ofBytes(bytes: Buffer, source: boolean): JsonText {
    return new JsonText(source, { bytes });
  }

  /** The form that the core reads. */
  get bytes(): Buffer {
    this.#bytes ??= Buffer.from(
      this.#unmarked((name) => CORE_TOKENS[name] ?? `${name}e0`),
      "utf8",
    );
    return this.#bytes;
  }

  /** The text as sent over the wire: BigInt as digits, NaN and the infinities as `null`. */
  get wire(): string {
    return this.#unmarked((name) => (name === "-0" ? "0" : /^-?\d/.test(name) ? name : "null"));
  }

  /** The value, frozen. Parsed on first access. */
  get value(): unknown {
    this.#value ??= { frozen: deepFreeze(this.#parse()) };
    return this.#value.frozen;
  }

  #parse(): unknown {
    const marker = this.#marker;
    if (marker === undefined) return JSON.parse(this.#whole) as unknown;
    return JSON.parse(this.#whole, (_key, item: unknown) => {
      if (typeof item !== "string" || !item.startsWith(marker)) return item;
      const name = item.slice(marker.length);
      return name in CORE_TOKENS ? Number(name) : BigInt(name);
    }) as unknown;
  }

  get #whole(): string {
    this.#text ??= (this.#bytes as Buffer).toString("utf8");
    return this.#text;
  }

  #unmarked(write: (name: string) => string): string {
    const marker = this.#marker;
    if (marker === undefined) return this.#whole;
    return this.#whole.replaceAll(new RegExp(`"${marker}([^"]*)"`, "g"), (_all, name: string) => write(name));
  }

  get size(): number {
    return this.#text?.length ?? this.#bytes?.length ?? 0;
  }

  /** True if `JSON.stringify` of the value returns a text with the same hash. */
  get isPlain(): boolean {
    return this.#marker === undefined && !this.source;
  }
}
