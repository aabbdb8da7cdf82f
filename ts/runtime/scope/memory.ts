import { encodeValue } from "../../values/encode.js";

/** An agent's memory. It stores JSON texts, so that every value it returns is a copy. */
export class MemoryStore {
  readonly #texts = new Map<string, string>();
  readonly #onSet: (key: string, text: string, initial: boolean) => void;

  /** `text`: the initial values, as JSON text of an object. */
  constructor(text: string | undefined, onSet: (key: string, text: string, initial: boolean) => void) {
    this.#onSet = onSet;
    if (text === undefined) return;
    const values = JSON.parse(text) as Record<string, unknown>;
    for (const key of Object.keys(values)) this.#texts.set(key, JSON.stringify(values[key]));
  }

  has(key: string): boolean {
    return this.#texts.has(key);
  }

  get(key: string): unknown {
    const text = this.#texts.get(key);
    return text === undefined ? undefined : JSON.parse(text);
  }

  /** @throws TypeError if the value is not JSON. */
  set(key: string, value: unknown, initial: boolean): void {
    const text = jsonText(key, value);
    this.#texts.set(key, text);
    this.#onSet(key, text, initial);
  }

  copy(): Map<string, unknown> {
    return new Map([...this.#texts].map(([key, text]) => [key, JSON.parse(text) as unknown]));
  }

  /** All values as JSON text of an object. */
  text(): string {
    const members = [...this.#texts].map(([key, text]) => `${JSON.stringify(key)}:${text}`);
    return `{${members.join(",")}}`;
  }
}

function jsonText(key: string, value: unknown): string {
  const encoded = encodeValue(value);
  if ("tombstone" in encoded) {
    throw notJson(key, encoded.tombstone.path, encoded.tombstone.reason);
  }
  if (encoded.types !== null) {
    const [path = "", type = ""] = Object.entries(JSON.parse(encoded.types) as Record<string, string>)[0] ?? [];
    throw notJson(key, path, `${type} is not JSON`);
  }
  return encoded.text;
}

function notJson(key: string, path: string, reason: string): TypeError {
  const where = path === "" ? "the value" : `the value at ${path}`;
  return new TypeError(
    `equipMemory("${key}"): ${where} cannot be kept: ${reason}. Memory stores only JSON. Convert the value first.`,
  );
}
