// JSON schemas of zod 3.

import { ignoreOverride, zodToJsonSchema } from "zod-to-json-schema";

/** The part of a zod 3 schema that the conversion reads. */
export interface Zod3Schema {
  readonly _def: Zod3Def;
  readonly description?: string | undefined;
  isOptional(): boolean;
}

export interface Zod3Def {
  readonly typeName: string;
  readonly description?: string | undefined;
}

export function isZod3(schema: object): schema is Zod3Schema {
  const { _def: def } = schema as { _def?: unknown };
  return typeof def === "object" && def !== null && typeof (def as { typeName?: unknown }).typeName === "string";
}

/**
 * Converts to draft-07. The only references are those of schemas that contain themselves.
 * @throws TypeError if the schema nests endlessly.
 */
export function convertZod3(schema: Zod3Schema): Record<string, unknown> {
  try {
    return zodToJsonSchema(schema as never, {
      $refStrategy: "none",
      override(_def, { currentPath }, seen, isForced) {
        const isAround = (path: readonly string[]): boolean =>
          path.length < currentPath.length && path.every((key, at) => key === currentPath[at]);
        return isForced !== true && seen !== undefined && isAround(seen.path) ? reference(seen.path) : ignoreOverride;
      },
    }) as Record<string, unknown>;
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw new TypeError(
      "The schema nests endlessly. Create a schema that contains itself only once, and return that one in z.lazy().",
      { cause },
    );
  }
}

/** The first key of a path is `#`. */
function reference([root = "#", ...keys]: readonly string[]): { $ref: string } {
  return { $ref: [root, ...keys.map((key) => key.replaceAll("~", "~0").replaceAll("/", "~1"))].join("/") };
}
