// Decides if an endpoint accepts a JSON schema in strict mode. Other schemas are sent unchanged and without strict mode:
// to make their properties required or nullable would allow answers that the program's own schema refuses.

import { isRecord } from "../values/members.js";

/** The nesting that endpoints accept. */
const MAX_LEVELS = 10;

/** Bounds the recursion: nesting including unions. */
const MAX_DEPTH = 100;

const ANNOTATIONS = new Set(["$schema", "description", "title"]);
const FORMATS = new Set<unknown>([
  "date-time",
  "time",
  "date",
  "duration",
  "email",
  "hostname",
  "ipv4",
  "ipv6",
  "uuid",
]);

const KEYWORDS: Readonly<Record<string, readonly string[]>> = {
  string: ["pattern", "format"],
  number: ["multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"],
  integer: ["multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"],
  boolean: [],
  null: [],
  array: ["items", "minItems", "maxItems"],
  object: ["properties", "required", "additionalProperties"],
};

/** True if an object schema can be sent in strict mode unchanged. */
export function canBeStrict(schema: unknown): boolean {
  if (!isRecord(schema) || schema["type"] !== "object") return false;
  const { $defs, definitions, ...root } = schema;
  const shared = [...valuesOf($defs), ...valuesOf(definitions)];
  return [root, ...shared].every((part) => isStrict(part, 1, 1));
}

function isStrict(schema: unknown, level: number, depth: number): boolean {
  if (!isRecord(schema) || level > MAX_LEVELS || depth > MAX_DEPTH) return false;
  const keywords = Object.keys(schema).filter((keyword) => !ANNOTATIONS.has(keyword));
  const only = (...allowed: string[]): boolean => keywords.every((keyword) => allowed.includes(keyword));
  if (typeof schema["$ref"] === "string") return only("$ref");
  if (Array.isArray(schema["anyOf"]))
    return only("anyOf") && schema["anyOf"].every((one) => isStrict(one, level, depth + 1));
  if ("const" in schema || "enum" in schema) return only("const", "enum", "type");
  const { type } = schema;
  const types: unknown[] = Array.isArray(type) ? type : [type];
  if (types.length === 0 || !types.every(isKnownType)) return false;
  if (!only("type", ...types.flatMap((one) => KEYWORDS[one as string] ?? []))) return false;
  if (types.includes("string") && "format" in schema && !FORMATS.has(schema["format"])) return false;
  if (types.includes("array") && !isStrict(schema["items"], level + 1, depth + 1)) return false;
  return !types.includes("object") || isClosedObject(schema, level, depth);
}

/** True if all properties are required, and no others are allowed. */
function isClosedObject(schema: Record<string, unknown>, level: number, depth: number): boolean {
  const { properties = {}, required = [], additionalProperties } = schema;
  if (additionalProperties !== false || !isRecord(properties) || !Array.isArray(required)) return false;
  return Object.entries(properties).every(
    ([name, one]) => required.includes(name) && isStrict(one, level + 1, depth + 1),
  );
}

function isKnownType(type: unknown): boolean {
  return typeof type === "string" && Object.hasOwn(KEYWORDS, type);
}

function valuesOf(definitions: unknown): unknown[] {
  return isRecord(definitions) ? Object.values(definitions) : [];
}
