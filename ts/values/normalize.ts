import { createHash } from "node:crypto";

import { NormalizeError } from "../errors/index.js";
import type { RecordedRule } from "../types/snapshot.js";
import { setMember } from "./members.js";

/** Leaves values out of the hash of a request. The request that is sent and recorded does not change. */
export type NormalizeRule = {
  /** Name of the rule. Snapshots contain it. */
  id: string;
} & (
  | {
      /**
       * JSON pointers into the request document, such as `/messages/0/content` or `/input/requestId`. `*` matches any
       * key or index. The values there are replaced by `[id]`.
       */
      pointer: string | readonly string[];
    }
  | {
      /** Matches in all texts of the document are replaced by `replacement`, or by `[id]`. */
      pattern: RegExp;
      replacement?: string;
    }
  | {
      /**
       * Returns the document to hash. Gets a copy of the request document and its kind. Equal documents must have equal
       * results. Unlike the other rules, it processes the whole conversation in every turn.
       */
      apply: (document: Record<string, unknown>, kind: string) => unknown;
    }
);

/** Applies the rules of a run. */
export class Normalizer {
  readonly #rules: readonly NormalizeRule[];
  /** The rules as snapshots contain them. */
  readonly recorded: readonly RecordedRule[];
  /** True if each message is normalized separately, so that the hash of a conversation can be continued. */
  readonly byMessage: boolean;

  /** @throws TypeError for an invalid rule or a duplicate id. */
  constructor(rules: readonly NormalizeRule[]) {
    rules.forEach(checkRule);
    const ids = rules.map(({ id }) => id);
    const twice = ids.find((id, index) => ids.indexOf(id) !== index);
    if (twice !== undefined)
      throw new TypeError(`runWith: options.normalize has two rules with the id "${twice}"; rename one of them`);
    this.#rules = rules;
    this.recorded = rules.map((rule) => ({ id: rule.id, definition: definitionOf(rule) }));
    this.byMessage = rules.every((rule) => !("apply" in rule));
  }

  /** The document to hash, as JSON text. */
  document(text: string, kind: string): string {
    let document: unknown = JSON.parse(text);
    for (const rule of this.#rules) document = this.#applied(rule, document, kind, []);
    return JSON.stringify(document);
  }

  /** Messages of a conversation from index `first`, as a JSON array to hash. */
  messages(text: string, first: number): string {
    const messages = (JSON.parse(text) as unknown[]).map((message, index) => {
      let normalized = message;
      const path = ["messages", String(first + index)];
      for (const rule of this.#rules) normalized = this.#applied(rule, normalized, "prompt", path);
      return normalized;
    });
    return JSON.stringify(messages);
  }

  /** `path`: keys that lead to the value in the document. */
  #applied(rule: NormalizeRule, value: unknown, kind: string, path: readonly string[]): unknown {
    if ("pattern" in rule)
      return mapTexts(value, (text) => text.replaceAll(globally(rule.pattern), rule.replacement ?? `[${rule.id}]`));
    if ("pointer" in rule) {
      const pointers = [rule.pointer].flat().map(tokensOf);
      return pointers.reduce((blanked, tokens) => blankAt(blanked, tokens, path, `[${rule.id}]`), value);
    }
    try {
      return rule.apply(value as Record<string, unknown>, kind);
    } catch (cause) {
      throw new NormalizeError(`the rule "${rule.id}" of options.normalize threw an error; see its cause`, { cause });
    }
  }
}

function checkRule(rule: NormalizeRule, index: number): void {
  const at = `runWith: options.normalize.${index}`;
  if (typeof rule !== "object" || rule === null) throw new TypeError(`${at} must be an object`);
  if (typeof rule.id !== "string" || rule.id === "") throw new TypeError(`${at}.id must be a non-empty string`);
  const kinds = ["pointer", "pattern", "apply"].filter((kind) => kind in rule);
  if (kinds.length !== 1) throw new TypeError(`${at} ("${rule.id}") must have exactly one of pointer, pattern, apply`);
  if ("pattern" in rule && Object.prototype.toString.call(rule.pattern) !== "[object RegExp]") {
    throw new TypeError(`${at}.pattern ("${rule.id}") must be a regular expression`);
  }
  if ("apply" in rule && typeof rule.apply !== "function")
    throw new TypeError(`${at}.apply ("${rule.id}") must be a function`);
  if ("pointer" in rule) {
    for (const pointer of [rule.pointer].flat()) {
      if (typeof pointer !== "string" || !pointer.startsWith("/")) {
        throw new TypeError(`${at}.pointer ("${rule.id}") must be a JSON pointer such as "/input/requestId"`);
      }
    }
  }
}

function definitionOf(rule: NormalizeRule): string {
  if ("pattern" in rule) return `pattern ${String(rule.pattern)} ${JSON.stringify(rule.replacement ?? null)}`;
  if ("pointer" in rule) return `pointer ${[rule.pointer].flat().join(" ")}`;
  return `apply ${createHash("sha256").update(rule.apply.toString()).digest("hex")}`;
}

function globally(pattern: RegExp): RegExp {
  return pattern.global ? pattern : new RegExp(pattern.source, `${pattern.flags}g`);
}

/** Changes all texts in a JSON value in place, but no keys. */
function mapTexts(value: unknown, change: (text: string) => string): unknown {
  const holder: Record<string, unknown> = { value };
  const open: Record<string, unknown>[] = [holder];
  for (let container = open.pop(); container !== undefined; container = open.pop()) {
    for (const key of Object.keys(container)) {
      const member = container[key];
      if (typeof member === "string") setMember(container, key, change(member));
      else if (typeof member === "object" && member !== null) open.push(member as Record<string, unknown>);
    }
  }
  return holder["value"];
}

/** The keys of a JSON pointer. */
export function tokensOf(pointer: string): string[] {
  return pointer
    .slice(1)
    .split("/")
    .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** Replaces the values at the pointer by `blank`. `value` is the part of the document at `path`. */
function blankAt(value: unknown, tokens: readonly string[], path: readonly string[], blank: string): unknown {
  if (tokens.length < path.length || !path.every((token, index) => tokens[index] === "*" || tokens[index] === token))
    return value;
  const rest = tokens.slice(path.length);
  const holder: Record<string, unknown> = { value };
  let parents: [container: Record<string, unknown>, key: string][] = [[holder, "value"]];
  for (const token of rest) {
    parents = parents.flatMap(([container, key]) => {
      const member = container[key];
      if (typeof member !== "object" || member === null) return [];
      const keys = token === "*" ? Object.keys(member) : Object.hasOwn(member, token) ? [token] : [];
      return keys.map((next): [Record<string, unknown>, string] => [member as Record<string, unknown>, next]);
    });
  }
  for (const [container, key] of parents) setMember(container, key, blank);
  return holder["value"];
}
