import { createRedactor, type Redactor } from "../redact/redactor.js";
import type { BuiltinRedactRule } from "../redact/rules.js";

/** A secret in a recording: the rule that found it, and the line, from 1. */
export interface FoundSecret {
  readonly rule: string;
  readonly line: number;
}

/** Finds what redaction would replace, but for images and files, which are no secrets. */
export class SecretFinder {
  readonly #redactor: Redactor;

  /** @throws TypeError, RedactError for a rule that there is none of. */
  constructor(allowed: readonly BuiltinRedactRule[] = []) {
    this.#redactor = createRedactor({ without: [...new Set<BuiltinRedactRule>(["base64", ...allowed])] });
  }

  /** In JSON lines. */
  inLines(text: string): FoundSecret[] {
    return text.split("\n").flatMap((line, index) => {
      if (line === "") return [];
      return this.#redactor.findInJson(line).map(({ rule }) => ({ rule, line: index + 1 }));
    });
  }

  /** The rules that find something in bytes or text. */
  inBytes(content: Uint8Array): string[] {
    const text = Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString("latin1");
    return this.#redactor.findInText(text).map(({ rule }) => rule);
  }
}
