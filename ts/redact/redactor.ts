import { RedactError } from "../errors/index.js";
import { calling, native } from "../native.js";
import type { RecordedRedaction } from "../types/snapshot.js";
import { decodeValue } from "../values/decode.js";
import { encodeValue } from "../values/encode.js";
import { redactEncoded } from "./encoded.js";
import { checkOptions, nativeRule, recordedRules, type RedactOptions } from "./rules.js";
import { RedactStream, type RedactStreamOptions } from "./stream.js";

/** A secret that was found. */
export interface RedactFinding {
  /** Id of the rule. */
  rule: string;
  /** JSON pointer of the string or number; of a key, that of its object. Its keys are those of the input. */
  pointer: string;
  /** The secret is in a key. */
  key?: true;
  /** Where it begins and ends in the string, in UTF-16 units. */
  span: [start: number, end: number];
}

/** Replaces secrets by placeholders. Its placeholders depend on nothing but its options and the secret. */
export class Redactor {
  readonly #native: InstanceType<typeof native.Redactor>;
  /** The rules as a snapshot records them; without the key, which only an id tells. */
  readonly recorded: RecordedRedaction;

  /** @throws TypeError, RedactError for a rule that is none, or that is not supported. */
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

  /** Plain text. Where it is JSON, the names of its members count. */
  text(text: string): string {
    const redacted = this.#redact(JSON.stringify(text));
    return redacted === undefined ? text : (JSON.parse(redacted) as string);
  }

  /**
   * A copy of a value, in keys and values. What becomes a placeholder is a string, also where it was a number.
   * @throws TypeError for what is not JSON, nor a Date, Map, Set, URL, BigInt, bytes or `undefined`.
   */
  value(value: unknown): unknown {
    const encoded = encodeValue(value);
    if ("tombstone" in encoded) {
      const { path, reason } = encoded.tombstone;
      throw new TypeError(`redactor.value: the value${path === "" ? "" : ` at ${path}`} cannot be read: ${reason}`);
    }
    const { text, types } = redactEncoded(encoded, (json) => this.json(json));
    return decodeValue(text, types);
  }

  /**
   * JSON text. White space, order and numbers stay as they are.
   * @throws RewindError (`ERR_REWIND_INVALID_JSON`) with the byte offset, LimitError
   */
  json(text: string): string {
    return this.#redact(text) ?? text;
  }

  /** What `text` would replace. */
  findInText(text: string): RedactFinding[] {
    return this.findInJson(JSON.stringify(text));
  }

  /** What `json` would replace, in order. */
  findInJson(text: string): RedactFinding[] {
    return JSON.parse(calling(() => this.#native.find(text))) as RedactFinding[];
  }

  /** For text that comes in chunks. */
  stream(options: RedactStreamOptions = {}): RedactStream {
    return new RedactStream((holdBack) => this.#native.stream(holdBack), options);
  }

  #redact(text: string): string | undefined {
    return calling(() => this.#native.redact(text)) ?? undefined;
  }
}

/**
 * Makes a redactor.
 * @throws TypeError, RedactError for a rule that is none, or that is not supported.
 */
export function createRedactor(options: RedactOptions = {}): Redactor {
  return new Redactor(options);
}

/** The redactor that an option of `runWith` asks for. */
export function redactorOf(option: boolean | RedactOptions | Redactor | undefined): Redactor | undefined {
  if (option === undefined || option === false) return undefined;
  if (option === true) return new Redactor({});
  if (typeof option !== "object" || option === null)
    throw new TypeError("runWith: options.redact must be true, options of a redactor, or a redactor");
  // It may be of the other copy of the package.
  if ("recorded" in option && typeof option.json === "function") return option;
  return new Redactor(option as RedactOptions, "runWith: options.redact");
}

/** @throws RedactError unless a recording was made under the rules of the run. */
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
    `the snapshot was recorded ${of(recorded)}, and the run is ${of(own)}: its requests would not be found again. ` +
      "Give options.redact as it was when the snapshot was recorded, or record it anew.",
  );
}

/** In one order of members, whoever wrote them. */
function sorted(rules: RecordedRedaction | undefined): unknown {
  if (rules === undefined) return null;
  return [rules.builtIn, rules.without ?? [], rules.rules?.map(({ id, definition }) => [id, definition]), rules.keyId];
}
