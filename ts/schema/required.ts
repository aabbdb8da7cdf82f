import { JsonSchemaNotFoundError } from "../errors/index.js";
import { encodeValue } from "../values/encode.js";
import { assertSchema, toJsonSchema, type JsonSchema } from "./index.js";
import { VALIBOT_CONVERTER, vendorOf } from "./standard.js";

/** Names a schema in error messages. */
export interface SchemaPlace {
  /** The owner, such as `promptAgent` or `tool "search"`. */
  readonly owner: string;
  /** How to pass a JSON schema, such as `promptAgent(schema, { jsonSchema })`. */
  readonly remedy: string;
}

/**
 * The JSON schema for a model: `given`, or the one that the schema's library provides.
 *
 * @throws TypeError if the schema is not one, or `given` is not a JSON object.
 * @throws JsonSchemaNotFoundError if the library provides none.
 */
export function requireJsonSchema(schema: unknown, given: unknown, { owner, remedy }: SchemaPlace): JsonSchema {
  assertSchema(schema, owner);
  if (given !== undefined) return copyOf(given, owner);
  const vendor = vendorOf(schema);
  let cause: unknown;
  try {
    const converted = toJsonSchema(schema);
    if (converted !== undefined) return converted;
  } catch (error) {
    // If a zod schema cannot be converted, the error of zod describes the fault.
    if (vendor === undefined || vendor === "zod") throw error;
    cause = error;
  }
  const install = vendor === "valibot" && cause === undefined ? VALIBOT_CONVERTER : undefined;
  throw new JsonSchemaNotFoundError({ owner, remedy, vendor, install }, cause === undefined ? {} : { cause });
}

/** A copy, because the caller may change the original later. */
function copyOf(given: unknown, owner: string): JsonSchema {
  const encoded = encodeValue(given);
  if ("tombstone" in encoded) {
    const { path, reason } = encoded.tombstone;
    throw new TypeError(`${owner}: jsonSchema${path.replaceAll("/", ".")} is not JSON: ${reason}`);
  }
  if (!encoded.text.startsWith("{")) throw new TypeError(`${owner}: jsonSchema must be an object`);
  return JSON.parse(encoded.text) as JsonSchema;
}
