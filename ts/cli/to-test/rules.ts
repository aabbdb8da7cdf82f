// The rules that a run was recorded with, as source. Rules that a recording cannot represent become TO DO comments.

import type { AgentSnapshot, RecordedRedaction, RecordedRule } from "../../types/snapshot.js";
import { literal } from "./literal.js";

/** The rules of a run as expressions; `undefined` if it had none. */
export interface RulesSource {
  readonly normalize: string | undefined;
  readonly redact: string | undefined;
}

export function rulesSource({ normalize = [], redact }: Pick<AgentSnapshot, "normalize" | "redact">): RulesSource {
  return {
    normalize: normalize.length === 0 ? undefined : `[${lines(normalize.map(normalizeRule))}\n]`,
    redact: redact && redaction(redact),
  };
}

const lines = (list: readonly string[]): string => list.map((line) => `\n  ${line}`).join("");

function normalizeRule({ id, definition }: RecordedRule): string {
  const [, expression = "", replacement = "null"] = /^pattern (\/.*\/[a-z]*) (null|".*")$/s.exec(definition) ?? [];
  const pattern = regularExpression(expression);
  const own = text(replacement);
  if (pattern !== undefined && own !== undefined) {
    return `{ id: ${literal(id)}, pattern: ${pattern}${own === null ? "" : `, replacement: ${literal(own)}`} },`;
  }
  const [, pointers] = /^pointer (\/.*)$/s.exec(definition) ?? [];
  if (pointers !== undefined) return `{ id: ${literal(id)}, pointer: ${literal(pointers.split(/ (?=\/)/))} },`;
  return toDo("rule", id, definition);
}

function redaction({ rules, without = [], keyId }: RecordedRedaction): string {
  if (rules.length === 0 && without.length === 0 && keyId === undefined) return "true";
  const members = [
    ...(rules.length === 0 ? [] : [`rules: [${lines(rules.map(redactRule)).replaceAll("\n", "\n  ")}\n  ],`]),
    ...(without.length === 0 ? [] : [`without: ${literal(without)},`]),
    ...(keyId === undefined ? [] : [`// TO DO: put in the key that the run had: key: … (its id is ${comment(keyId)})`]),
  ];
  return `{${lines(members)}\n}`;
}

function redactRule({ id, definition }: RecordedRule): string {
  const [, expression = ""] = /^pattern (\/.*\/[a-z]*)$/s.exec(definition) ?? [];
  const pattern = regularExpression(expression);
  if (pattern !== undefined) return `{ id: ${literal(id)}, pattern: ${pattern} },`;
  const keys = parsed(/^keys (\[.*\])$/s.exec(definition)?.[1]);
  if (Array.isArray(keys) && keys.every((key) => typeof key === "string"))
    return `{ id: ${literal(id)}, keys: ${literal(keys)} },`;
  // A pattern that was passed as a string.
  const [, source] = /^pattern (.+)$/s.exec(definition) ?? [];
  return source === undefined ? toDo("rule", id, definition) : `{ id: ${literal(id)}, pattern: ${literal(source)} },`;
}

/** The source of a regular expression. `undefined` for any other text, because a recording must not inject code. */
function regularExpression(expression: string): string | undefined {
  const [, source, flags] = /^\/(.*)\/([a-z]*)$/s.exec(expression) ?? [];
  if (source === undefined) return undefined;
  try {
    return String(new RegExp(source, flags));
  } catch {
    return undefined;
  }
}

function text(json: string): string | null | undefined {
  const value = parsed(json);
  return value === null || typeof value === "string" ? value : undefined;
}

function parsed(json: string | undefined): unknown {
  try {
    return json === undefined ? undefined : JSON.parse(json);
  } catch {
    return undefined;
  }
}

function toDo(what: string, id: string, definition: string): string {
  return `// TO DO: put in the ${what} ${comment(literal(id))} that the run had: ${comment(definition)}`;
}

/** Text of a recording that is safe inside a line comment. */
export function comment(shown: string): string {
  return shown.replaceAll(/[\p{Cc}\u2028\u2029]/gu, " ");
}
