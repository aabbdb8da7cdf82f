import { createRedactor, type Redactor } from "../redact/redactor.js";
import type { BuiltinRedactRule } from "../redact/rules.js";

/** A secret in a recording: the rule that found it, and the line number, from 1. */
export interface FoundSecret {
  readonly rule: string;
  readonly line: number;
}

/** Finds the values that redaction would replace, except images and files. */
export class SecretFinder {
  readonly #redactor: Redactor;

  /** @throws TypeError, RedactError if `allowed` names an unknown rule. */
  constructor(allowed: readonly BuiltinRedactRule[] = []) {
    this.#redactor = createRedactor({ without: [...new Set<BuiltinRedactRule>(["base64", ...allowed])] });
  }

  /** Searches JSON lines. */
  inLines(text: string): FoundSecret[] {
    return text.split("\n").flatMap((line, index) => {
      if (line === "") return [];
      return this.#redactor.findInJson(line).map(({ rule }) => ({ rule, line: index + 1 }));
    });
  }

  /** Searches binary content or text. Returns the matching rules. */
  inBytes(content: Uint8Array): string[] {
    const text = Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString("latin1");
    return this.#redactor.findInText(text).map(({ rule }) => rule);
  }
}
