import { checkObject } from "../errors/received.js";
import type { RecordedRedaction } from "../types/snapshot.js";

/** A built-in rule. `"base64"` replaces images and files with their size and hash. */
export type BuiltinRedactRule =
  | "anthropic-key"
  | "openai-key"
  | "google-key"
  | "aws-key"
  | "github-key"
  | "gitlab-key"
  | "slack-key"
  | "stripe-key"
  | "huggingface-key"
  | "groq-key"
  | "xai-key"
  | "perplexity-key"
  | "replicate-key"
  | "fireworks-key"
  | "cerebras-key"
  | "together-key"
  | "nvidia-key"
  | "langsmith-key"
  | "npm-key"
  | "jwt"
  | "private-key"
  | "card-number"
  | "url-password"
  | "authorization"
  | "base64";

/** A custom rule. */
export type RedactRule = {
  /** Part of the placeholders: 1 to 64 of the characters A-Z, a-z, 0-9, `_`, `.` and `-`. */
  id: string;
} & (
  | {
      /**
       * Matches in any key or text are replaced. Matching takes linear time, so look-around, backreferences and `\p` are
       * not supported. The flag `i` applies to ASCII only.
       */
      pattern: RegExp | string;
    }
  | {
      /** Texts and numbers in members with these names are replaced. Case, `_` and `-` are ignored. */
      keys: readonly string[];
    }
);

export interface RedactOptions {
  rules?: readonly RedactRule[];
  /**
   * Key for the digests in placeholders (HMAC-SHA256). Without a key, secrets that could be guessed (card numbers,
   * passwords in URLs, Authorization values, matches of custom rules) get placeholders without a digest, so different
   * secrets of one rule look the same.
   */
  key?: string;
  /** Built-in rules to disable. `["base64"]` keeps images and files. */
  without?: readonly BuiltinRedactRule[];
}

/** Version of the built-in rules. Increase it when they find different secrets. */
const BUILT_IN = 2;

/** @throws TypeError for invalid options. */
export function checkOptions(options: RedactOptions, owner: string): void {
  checkObject(owner, options);
  const { rules = [], key, without = [] } = options;
  if (!Array.isArray(rules)) throw new TypeError(`${owner}.rules must be an array`);
  if (key !== undefined && (typeof key !== "string" || key === ""))
    throw new TypeError(`${owner}.key must be a non-empty string`);
  if (!Array.isArray(without) || !without.every((id) => typeof id === "string"))
    throw new TypeError(`${owner}.without must be an array of ids of built-in rules`);
  for (const [index, rule] of (rules as readonly RedactRule[]).entries()) checkRule(rule, `${owner}.rules.${index}`);
}

function checkRule(rule: RedactRule, at: string): void {
  if (typeof rule !== "object" || rule === null) throw new TypeError(`${at} must be an object`);
  if (typeof rule.id !== "string") throw new TypeError(`${at}.id must be a string`);
  if ("pattern" in rule === "keys" in rule)
    throw new TypeError(`${at} ("${rule.id}") must have either pattern or keys`);
  if ("pattern" in rule) {
    if (typeof rule.pattern !== "string" && !isRegExp(rule.pattern))
      throw new TypeError(`${at}.pattern ("${rule.id}") must be a regular expression or its source`);
  } else if (!Array.isArray(rule.keys) || !rule.keys.every((key) => typeof key === "string" && key !== "")) {
    throw new TypeError(`${at}.keys ("${rule.id}") must be an array of non-empty strings`);
  }
}

function isRegExp(value: unknown): value is RegExp {
  return Object.prototype.toString.call(value) === "[object RegExp]";
}

/** The form of a rule that the binding accepts. */
export function nativeRule(rule: RedactRule): { id: string; pattern?: string; flags?: string; keys?: string[] } {
  if ("keys" in rule) return { id: rule.id, keys: [...rule.keys] };
  if (typeof rule.pattern === "string") return { id: rule.id, pattern: rule.pattern };
  return { id: rule.id, pattern: rule.pattern.source, flags: rule.pattern.flags };
}

/** The rules as a snapshot records them. */
export function recordedRules(options: RedactOptions, keyId: string | undefined): RecordedRedaction {
  const rules = (options.rules ?? []).map((rule) => ({
    id: rule.id,
    definition: "keys" in rule ? `keys ${JSON.stringify(rule.keys)}` : `pattern ${String(rule.pattern)}`,
  }));
  const without = [...(options.without ?? [])].toSorted((left, right) => (left < right ? -1 : 1));
  return {
    builtIn: BUILT_IN,
    ...(without.length === 0 ? {} : { without }),
    rules,
    ...(keyId === undefined ? {} : { keyId }),
  };
}
