// JSON schemas of libraries other than zod.

import { createRequire } from "node:module";

type JsonSchema = Record<string, unknown>;

interface OtherSchema {
  readonly "~standard"?: {
    readonly vendor?: unknown;
    /** Standard JSON Schema. */
    readonly jsonSchema?: { input?(options: { target: string }): JsonSchema };
  };
  /** ArkType before it spoke Standard JSON Schema. */
  readonly toJsonSchema?: unknown;
}

interface ValibotConverter {
  toJsonSchema(schema: object, options: object): JsonSchema;
}

/**
 * The JSON schema of what the schema takes, where its library can tell; `undefined` where it cannot.
 * @throws whatever the library throws about a schema that has none.
 */
export function convertOther(schema: object): JsonSchema | undefined {
  const { "~standard": standard, toJsonSchema } = schema as OtherSchema;
  const input = standard?.jsonSchema?.input;
  if (typeof input === "function") return input({ target: "draft-07" });
  if (standard?.vendor === "valibot") return valibotConverter()?.toJsonSchema(schema, { typeMode: "input" });
  return typeof toJsonSchema === "function" ? (toJsonSchema.call(schema) as JsonSchema) : undefined;
}

/** Name of the library that a schema is of; `undefined` for what is no schema. */
export function vendorOf(schema: unknown): string | undefined {
  const vendor = (schema as OtherSchema)["~standard"]?.vendor;
  return typeof vendor === "string" ? vendor : undefined;
}

/** A package of its own, which not everybody has. */
export const VALIBOT_CONVERTER = "@valibot/to-json-schema";

function valibotConverter(): ValibotConverter | undefined {
  try {
    return createRequire(import.meta.url)(VALIBOT_CONVERTER) as ValibotConverter;
  } catch (error) {
    if ((error as { code?: unknown }).code === "MODULE_NOT_FOUND") return undefined;
    throw error;
  }
}
