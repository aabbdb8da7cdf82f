import type { RecordedRedaction } from "../types/snapshot.js";

/** A rule that is built in. `"base64"` replaces images and files by their size and hash. */
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

/** A rule of one's own. */
export type RedactRule = {
  /** Stands in the placeholders: 1 to 64 of the characters A-Z, a-z, 0-9, `_`, `.` and `-`. */
  id: string;
} & (
  | {
      /**
       * What matches in any key or text is replaced. Matched in linear time: without look-around, backreferences and
       * `\p`; `i` is known for ASCII only.
       */
      pattern: RegExp | string;
    }
  | {
      /** Texts and numbers under members of these names are replaced; case, `_` and `-` make no difference. */
      keys: readonly string[];
    }
);

export interface RedactOptions {
  rules?: readonly RedactRule[];
  /**
   * Makes the digests in placeholders (HMAC-SHA256). Without one, secrets that could be guessed (card numbers, passwords
   * in URLs, Authorization values, what rules of one's own find) get placeholders without a digest, so that two of a
   * kind cannot be told apart.
   */
  key?: string;
  /** Built-in rules that are not to be applied: `["base64"]` keeps images and files. */
  without?: readonly BuiltinRedactRule[];
}

/** Changes when what is built in finds other things. */
const BUILT_IN = 2;

/** @throws TypeError for options that are none. */
export function checkOptions(options: RedactOptions, owner: string): void {
  const { rules = [], key, without = [] } = options;
  if (!Array.isArray(rules)) throw new TypeError(`${owner}.rules must be an array`);
  if (key !== undefined && (typeof key !== "string" || key === ""))
    throw new TypeError(`${owner}.key must be a string that is not empty`);
  if (!Array.isArray(without) || !without.every((id) => typeof id === "string"))
    throw new TypeError(`${owner}.without must be an array of ids of built-in rules`);
  for (const [index, rule] of (rules as readonly RedactRule[]).entries()) checkRule(rule, `${owner}.rules.${index}`);
}

function checkRule(rule: RedactRule, at: string): void {
  if (typeof rule !== "object" || rule === null) throw new TypeError(`${at} must be an object`);
  if (typeof rule.id !== "string") throw new TypeError(`${at}.id must be a string`);
  if ("pattern" in rule === "keys" in rule) throw new TypeError(`${at} ("${rule.id}") must have one of pattern, keys`);
  if ("pattern" in rule) {
    if (typeof rule.pattern !== "string" && !isRegExp(rule.pattern))
      throw new TypeError(`${at}.pattern ("${rule.id}") must be a regular expression or the source of one`);
  } else if (!Array.isArray(rule.keys) || !rule.keys.every((key) => typeof key === "string" && key !== "")) {
    throw new TypeError(`${at}.keys ("${rule.id}") must be an array of strings that are not empty`);
  }
}

function isRegExp(value: unknown): value is RegExp {
  return Object.prototype.toString.call(value) === "[object RegExp]";
}

/** A rule as the binding takes it. */
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
