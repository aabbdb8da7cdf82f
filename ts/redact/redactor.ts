import { RedactError } from "../errors/index.js";
import { checkText } from "../errors/received.js";
import { calling, native } from "../native.js";
import type { RecordedRedaction } from "../types/snapshot.js";
import { decodeValue } from "../values/decode.js";
import { encodeValue } from "../values/encode.js";
import { redactEncoded } from "./encoded.js";
import { checkOptions, nativeRule, recordedRules, type RedactOptions } from "./rules.js";
import { RedactStream, type RedactStreamOptions } from "./stream.js";

/** A secret that was found. */
export interface RedactFinding {
  /** The id of the rule. */
  rule: string;
  /** JSON pointer in the input to the string or number; for a key, to its object. */
  pointer: string;
  /** True if the secret is in a key. */
  key?: true;
  /** Start and end in the string, in UTF-16 code units. */
  span: [start: number, end: number];
}

/** Replaces secrets with placeholders. A placeholder depends only on the options and the secret. */
export class Redactor {
  readonly #native: InstanceType<typeof native.Redactor>;
  /** The rules as a snapshot records them. They contain an id of the key, not the key. */
  readonly recorded: RecordedRedaction;

  /** @throws TypeError, RedactError for an invalid or unsupported rule. */
  constructor(options: RedactOptions = {}, owner = "createRedactor: options") {
    checkOptions(options, owner);
    const { rules = [], key, without = [] } = options;
    this.#native = calling(
      () =>
        new native.Redactor({
          rules: rules.map(nativeRule),
          without: [...without],
          ...(key === undefined ? {} : { key }),
        }),
    );
    this.recorded = recordedRules(options, this.#native.keyId ?? undefined);
  }

  /** Redacts plain text. If the text is JSON, the names of its members count too. */
  text(text: string): string {
    checkText("redactor.text: text", text);
    const redacted = this.#redact(JSON.stringify(text));
    return redacted === undefined ? text : (JSON.parse(redacted) as string);
  }

  /**
   * Returns a redacted copy of a value, including its keys. A placeholder is a string, even if it replaces a number.
   * @throws TypeError for a value that is not JSON, Date, Map, Set, URL, BigInt, bytes or `undefined`.
   */
  value(value: unknown): unknown {
    const encoded = encodeValue(value);
    if ("tombstone" in encoded) {
      const { path, reason } = encoded.tombstone;
      throw new TypeError(`redactor.value: the value${path === "" ? "" : ` at ${path}`} cannot be redacted: ${reason}`);
    }
    const { text, types } = redactEncoded(encoded, (json) => this.json(json));
    return decodeValue(text, types);
  }

  /**
   * Redacts JSON text. Whitespace, order and numbers are preserved.
   * @throws RewindError (`ERR_REWIND_INVALID_JSON`) with the byte offset if the text is not JSON. LimitError if it is nested
   * too deep or has too many values.
   */
  json(text: string): string {
    checkText("redactor.json: text", text);
    return this.#redact(text) ?? text;
  }

  /** Returns the secrets that `text` would replace. */
  findInText(text: string): RedactFinding[] {
    checkText("redactor.findInText: text", text);
    return this.findInJson(JSON.stringify(text));
  }

  /** Returns the secrets that `json` would replace, in order. */
  findInJson(text: string): RedactFinding[] {
    checkText("redactor.findInJson: text", text);
    return JSON.parse(calling(() => this.#native.find(text))) as RedactFinding[];
  }

  /** Starts the redaction of text that arrives in chunks. */
  stream(options: RedactStreamOptions = {}): RedactStream {
    return new RedactStream((holdBack) => this.#native.stream(holdBack), options);
  }

  #redact(text: string): string | undefined {
    return calling(() => this.#native.redact(text)) ?? undefined;
  }
}

/**
 * Creates a redactor.
 * @throws TypeError, RedactError for an invalid or unsupported rule.
 */
export function createRedactor(options: RedactOptions = {}): Redactor {
  return new Redactor(options);
}

export function redactorOf(option: boolean | RedactOptions | Redactor | undefined): Redactor | undefined {
  if (option === undefined || option === false) return undefined;
  if (option === true) return new Redactor({});
  if (typeof option !== "object" || option === null)
    throw new TypeError("runWith: options.redact must be a boolean, redactor options, or a redactor");
  // Not `instanceof`: the redactor may come from another copy of the package.
  if ("recorded" in option && typeof option.json === "function") return option;
  return new Redactor(option as RedactOptions, "runWith: options.redact");
}

/** @throws RedactError if a snapshot was recorded with other redaction rules than those of the run. */
export function checkSameRules(recorded: RecordedRedaction | undefined, own: RecordedRedaction | undefined): void {
  if (JSON.stringify(sorted(recorded)) === JSON.stringify(sorted(own))) return;
  const of = (rules: RecordedRedaction | undefined): string => {
    if (rules === undefined) return "without redaction";
    const parts = [`under the rules ${JSON.stringify(rules.rules.map(({ id }) => id))}`];
    if (rules.without !== undefined) parts.push(`without ${JSON.stringify(rules.without)}`);
    if (rules.keyId !== undefined) parts.push(`with the key ${rules.keyId}`);
    return `${parts.join(", ")} (built in: version ${rules.builtIn})`;
  };
  throw new RedactError(
    `the snapshot was recorded ${of(recorded)}, but the run is ${of(own)}, so its requests would not match the recorded ones. ` +
      "Pass the options.redact with which the snapshot was recorded, or record a new snapshot.",
  );
}

/** The rules in a fixed order of members, for a comparison as JSON. */
function sorted(rules: RecordedRedaction | undefined): unknown {
  if (rules === undefined) return null;
  return [rules.builtIn, rules.without ?? [], rules.rules?.map(({ id, definition }) => [id, definition]), rules.keyId];
}
