// JSON schemas of libraries other than zod.

import { createRequire } from "node:module";

type JsonSchema = Record<string, unknown>;

interface OtherSchema {
  readonly "~standard"?: {
    readonly vendor?: unknown;
    /** Standard JSON Schema. */
    readonly jsonSchema?: { input?(options: { target: string }): JsonSchema };
  };
  /** Method of ArkType before it implemented Standard JSON Schema. */
  readonly toJsonSchema?: unknown;
}

interface ValibotConverter {
  toJsonSchema(schema: object, options: object): JsonSchema;
}

/**
 * The JSON schema of a schema's input; `undefined` if its library provides none.
 * @throws any error of the library about a schema without a JSON schema.
 */
export function convertOther(schema: object): JsonSchema | undefined {
  const { "~standard": standard, toJsonSchema } = schema as OtherSchema;
  const input = standard?.jsonSchema?.input;
  if (typeof input === "function") return input({ target: "draft-07" });
  if (standard?.vendor === "valibot") return valibotConverter()?.toJsonSchema(schema, { typeMode: "input" });
  return typeof toJsonSchema === "function" ? (toJsonSchema.call(schema) as JsonSchema) : undefined;
}

/** Name of a schema's library; `undefined` if the value is not a schema. */
export function vendorOf(schema: unknown): string | undefined {
  const vendor = (schema as OtherSchema)["~standard"]?.vendor;
  return typeof vendor === "string" ? vendor : undefined;
}

/** An optional package. */
export const VALIBOT_CONVERTER = "@valibot/to-json-schema";

function valibotConverter(): ValibotConverter | undefined {
  try {
    return createRequire(import.meta.url)(VALIBOT_CONVERTER) as ValibotConverter;
  } catch (error) {
    if ((error as { code?: unknown }).code === "MODULE_NOT_FOUND") return undefined;
    throw error;
  }
}
