import { JsonSchemaNotFoundError } from "../errors/index.js";
import { encodeValue } from "../values/encode.js";
import { assertSchema, toJsonSchema, type JsonSchema } from "./index.js";
import { VALIBOT_CONVERTER, vendorOf } from "./standard.js";

/** Where a schema stands, for messages. */
export interface SchemaPlace {
  /** Such as `promptAgent` or `tool "search"`. */
  readonly owner: string;
  /** What a JSON schema can be given by, such as `promptAgent(schema, { jsonSchema })`. */
  readonly remedy: string;
}

/**
 * The JSON schema that a model is told: the one that was given, or else what the schema's library says.
 *
 * @throws TypeError when the schema is none, or `given` is not a JSON object.
 * @throws JsonSchemaNotFoundError when the library says nothing.
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
    // A zod schema that cannot be converted has a fault of its own, which its error tells.
    if (vendor === undefined || vendor === "zod") throw error;
    cause = error;
  }
  const install = vendor === "valibot" && cause === undefined ? VALIBOT_CONVERTER : undefined;
  throw new JsonSchemaNotFoundError({ owner, remedy, vendor, install }, cause === undefined ? {} : { cause });
}

/** A copy, for the caller may change what was given while it is used. */
function copyOf(given: unknown, owner: string): JsonSchema {
  const encoded = encodeValue(given);
  if ("tombstone" in encoded) {
    const { path, reason } = encoded.tombstone;
    throw new TypeError(`${owner}: jsonSchema${path.replaceAll("/", ".")} is not JSON: ${reason}`);
  }
  if (!encoded.text.startsWith("{")) throw new TypeError(`${owner}: jsonSchema must be an object`);
  return JSON.parse(encoded.text) as JsonSchema;
}
