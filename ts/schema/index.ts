// What the runtime wants of a schema: its JSON schema, and validation.

import { convertOther } from "./standard.js";
import { convertZod3, isZod3 } from "./zod3.js";
import { asZod3, isZod4 } from "./zod4.js";

export type JsonSchema = Record<string, unknown>;

/** What is wrong with a value. */
export interface Issue {
  /** Dotted path, such as `items.0.name`; "" is the value itself. */
  path: string;
  message: string;
}

export type Validated = { value: unknown } | { issues: Issue[] };

const converted = new WeakMap<object, JsonSchema | undefined>();

/**
 * JSON schema of a schema: draft-07 with closed objects and no references for zod 3.25+ and zod 4, and for other
 * libraries what they give, if they give any. The same object for the same schema: not to be changed.
 */
export function toJsonSchema(schema: unknown): JsonSchema | undefined {
  if (!isObject(schema)) return undefined;
  if (!converted.has(schema)) converted.set(schema, convert(schema));
  return converted.get(schema);
}

/**
 * Checks a value with a schema of zod, or of any library that speaks Standard Schema.
 *
 * @throws TypeError when `schema` is none, and whatever the schema's own functions throw.
 */
export async function validateWith(schema: unknown, value: unknown): Promise<Validated> {
  const result = await validatorOf(schema)(value);
  if (result.issues === undefined || result.issues === null) return { value: result.value };
  return {
    issues: result.issues.map(({ path, message }) => ({ path: pathText(path), message })),
  };
}

/** @throws TypeError when `schema` is none; `owner` is what it is of. */
export function assertSchema(schema: unknown, owner: string): void {
  validatorOf(schema, `${owner}: expected`);
}

function convert(schema: object): JsonSchema | undefined {
  const once = convertOnce(schema);
  if (once === undefined) return undefined;
  const text = jsonText(once);
  const result = JSON.parse(text) as JsonSchema;
  if (text.includes('"default":')) dropUnstableDefaults(result, JSON.parse(jsonText(convertOnce(schema) ?? {})));
  return result;
}

function convertOnce(schema: object): JsonSchema | undefined {
  if (isZod4(schema)) return convertZod3(asZod3(schema));
  if (isZod3(schema)) return convertZod3(schema);
  return convertOther(schema);
}

/** Bounds and literals may be BigInts. */
function jsonText(schema: JsonSchema): string {
  return JSON.stringify(schema, (_key, value: unknown) => (typeof value === "bigint" ? jsonInteger(value) : value));
}

function jsonInteger(value: bigint): number | string {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value.toString();
}

/** A default that is made anew each time, such as an id, would give every run other hashes: it is left out. */
function dropUnstableDefaults(schema: unknown, again: unknown, isSchema = true): void {
  if (!isObject(schema) || !isObject(again)) return;
  const [left, right] = [schema, again] as [JsonSchema, JsonSchema];
  for (const key of Object.keys(left)) {
    if (key !== "default" || !isSchema) {
      // The keys of `properties` are names, not keywords.
      dropUnstableDefaults(left[key], right[key], !(isSchema && key === "properties"));
    } else if (JSON.stringify(left[key]) !== JSON.stringify(right[key])) {
      delete left[key];
    }
  }
}

interface StandardResult {
  readonly value?: unknown;
  readonly issues?: readonly { readonly message: string; readonly path?: StandardPath }[] | null | undefined;
}

type StandardPath = readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;

interface StandardSchema {
  validate(value: unknown): StandardResult | Promise<StandardResult>;
}

type Validator = (value: unknown) => StandardResult | Promise<StandardResult>;

function validatorOf(schema: unknown, expected = "Expected"): Validator {
  if (isSchemaLike(schema)) {
    const { safeParseAsync } = schema;
    // The standard way first tries without promises, and so runs refinements twice where there are some.
    if (typeof safeParseAsync === "function" && (isZod3(schema) || isZod4(schema))) {
      return async (value) => {
        const { data, error } = (await safeParseAsync.call(schema, value)) as ZodResult;
        return error === undefined ? { value: data } : { issues: error.issues };
      };
    }
    const standard = schema["~standard"];
    if (typeof standard?.validate === "function") return (value) => standard.validate(value);
  }
  throw new TypeError(
    `${expected} a schema of zod 3.25+, zod 4, or another library that speaks Standard Schema ("~standard"), received ${described(schema)}.`,
  );
}

interface ZodResult {
  readonly data?: unknown;
  readonly error?: { readonly issues: NonNullable<StandardResult["issues"]> };
}

interface SchemaLike {
  readonly safeParseAsync?: unknown;
  readonly "~standard"?: StandardSchema;
}

function isSchemaLike(schema: unknown): schema is SchemaLike & object {
  return isObject(schema);
}

/** Schemas of some libraries are functions. */
function isObject(value: unknown): value is object {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}

function pathText(path: StandardPath = []): string {
  return path.map((step) => String(typeof step === "object" ? step.key : step)).join(".");
}

function described(value: unknown): string {
  return value === null ? "null" : Array.isArray(value) ? "an array" : `a value of type ${typeof value}`;
}
