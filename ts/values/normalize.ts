import { createHash } from "node:crypto";

import { NormalizeError } from "../errors/index.js";
import type { RecordedRule } from "../types/snapshot.js";

/** What is left out of the hash of a request. What is sent, and what is kept, stays as it is. */
export type NormalizeRule = {
  /** Name of the rule; part of what a snapshot records. */
  id: string;
} & (
  | {
      /**
       * JSON pointers into the request document (`/messages/0/content`, `/input/requestId`; `*` stands for any
       * key or index): what stands there is blanked.
       */
      pointer: string | readonly string[];
    }
  | {
      /** What matches in any text of the document is replaced, by `[id]` or by `replacement`. */
      pattern: RegExp;
      replacement?: string;
    }
  | {
      /**
       * Gives the document to be hashed; called with a copy. It has to give the same for equal documents.
       * Reads the whole conversation at every turn, which the other rules do not.
       */
      apply: (document: Record<string, unknown>, kind: string) => unknown;
    }
);

/** Applies the rules of a run. */
export class Normalizer {
  readonly #rules: readonly NormalizeRule[];
  /** The rules as a snapshot records them. */
  readonly recorded: readonly RecordedRule[];
  /** Whether each message can be normalized by itself, so that the hash of a conversation can go on. */
  readonly byMessage: boolean;

  /** @throws TypeError for a rule that is none, or an id that is given twice. */
  constructor(rules: readonly NormalizeRule[]) {
    rules.forEach(checkRule);
    const ids = rules.map(({ id }) => id);
    const twice = ids.find((id, index) => ids.indexOf(id) !== index);
    if (twice !== undefined) throw new TypeError(`runWith: options.normalize has two rules with the id "${twice}"`);
    this.#rules = rules;
    this.recorded = rules.map((rule) => ({ id: rule.id, definition: definitionOf(rule) }));
    this.byMessage = rules.every((rule) => !("apply" in rule));
  }

  /** The document to be hashed, as JSON text. */
  document(text: string, kind: string): string {
    let document: unknown = JSON.parse(text);
    for (const rule of this.#rules) document = this.#applied(rule, document, kind, []);
    return JSON.stringify(document);
  }

  /** Messages of a conversation from index `first` on, to be hashed: a JSON array. */
  messages(text: string, first: number): string {
    const messages = (JSON.parse(text) as unknown[]).map((message, index) => {
      let normalized = message;
      const path = ["messages", String(first + index)];
      for (const rule of this.#rules) normalized = this.#applied(rule, normalized, "prompt", path);
      return normalized;
    });
    return JSON.stringify(messages);
  }

  /** `path`: where in the document the value is. */
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
      throw new NormalizeError(`the rule "${rule.id}" of options.normalize threw`, { cause });
    }
  }
}

function checkRule(rule: NormalizeRule, index: number): void {
  const at = `runWith: options.normalize.${index}`;
  if (typeof rule !== "object" || rule === null) throw new TypeError(`${at} must be an object`);
  if (typeof rule.id !== "string" || rule.id === "") throw new TypeError(`${at}.id must be a string that is not empty`);
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

/** Changes all texts in a JSON value of our own; keys stay. */
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

function tokensOf(pointer: string): string[] {
  return pointer
    .slice(1)
    .split("/")
    .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** Blanks what stands at the pointer in a document, of which `value` is the part at `path`. */
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

/** Also where the key is `__proto__`. */
function setMember(container: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(container, key, { value, writable: true, enumerable: true, configurable: true });
}
