// Converts schemas to JSON schemas, and validates with them.

import { convertOther } from "./standard.js";
import { convertZod3, isZod3 } from "./zod3.js";
import { asZod3, isZod4 } from "./zod4.js";

export type JsonSchema = Record<string, unknown>;

/** A fault of a value. */
export interface Issue {
  /** Dotted path, such as `items.0.name`; "" is the value itself. */
  path: string;
  message: string;
}

export type Validated = { value: unknown } | { issues: Issue[] };

const converted = new WeakMap<object, JsonSchema | undefined>();

/**
 * Converts a schema to a JSON schema. For zod 3.25+ and zod 4 the result is draft-07 with closed objects and without
 * references. For other libraries it is the one that they provide, or `undefined`. Calls with the same schema return the
 * same object, so it must not be changed.
 */
export function toJsonSchema(schema: unknown): JsonSchema | undefined {
  if (!isObject(schema)) return undefined;
  if (!converted.has(schema)) converted.set(schema, convert(schema));
  return converted.get(schema);
}

/**
 * Validates a value with a schema of zod, or of any library that implements Standard Schema.
 *
 * @throws TypeError if `schema` is not a schema, and any error that functions of the schema throw.
 */
export async function validateWith(schema: unknown, value: unknown): Promise<Validated> {
  const result = await validatorOf(schema)(value);
  if (result.issues === undefined || result.issues === null) return { value: result.value };
  return {
    issues: result.issues.map(({ path, message }) => ({ path: pathText(path), message })),
  };
}

/** @throws TypeError if `schema` is not a schema. The message begins with `owner`. */
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

/** Writes BigInts too, which bounds and literals may be. */
function jsonText(schema: JsonSchema): string {
  return JSON.stringify(schema, (_key, value: unknown) => (typeof value === "bigint" ? jsonInteger(value) : value));
}

function jsonInteger(value: bigint): number | string {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value.toString();
}

/** Removes defaults that differ between two conversions, such as new ids: they would change the hashes in every run. */
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
    // Standard Schema first validates without promises, and so runs asynchronous refinements twice.
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
    `${expected} a schema of zod 3.25+, zod 4, or another library that implements Standard Schema ("~standard"), received ${described(schema)}.`,
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

/** Also true for functions, which the schemas of some libraries are. */
function isObject(value: unknown): value is object {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}

function pathText(path: StandardPath = []): string {
  return path.map((step) => String(typeof step === "object" ? step.key : step)).join(".");
}

function described(value: unknown): string {
  return value === null ? "null" : Array.isArray(value) ? "an array" : `a value of type ${typeof value}`;
}
