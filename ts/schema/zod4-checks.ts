// Translates checks of zod 4 to checks of zod 3.

import { types } from "node:util";
import type { Zod4Def } from "./zod4-schema.js";

export interface Zod3Check {
  readonly kind: string;
  readonly value?: unknown;
  readonly [option: string]: unknown;
}

export interface TranslatedCheck {
  /** The name in zod 4. */
  readonly check: string;
  readonly zod3: readonly Zod3Check[];
}

/** Replaces a check that JSON schema cannot express, because the converter also counts checks. */
const UNSAID: readonly Zod3Check[] = [{ kind: "trim" }];

/** The checks of a schema. A format such as `z.email()` is both schema and check. */
export function zod4Checks(def: Zod4Def): TranslatedCheck[] {
  const own = typeof def["check"] === "string" ? [def] : [];
  const added = ((def["checks"] ?? []) as { _zod: { def: Zod4Def } }[]).map((check) => check._zod.def);
  return [...own, ...added]
    .filter(({ check }) => check !== "describe" && check !== "meta")
    .map((check) => ({ check: check["check"] as string, zod3: translate(check) }));
}

function translate(check: Zod4Def): readonly Zod3Check[] {
  switch (check["check"]) {
    case "min_length":
    case "min_size":
      return [{ kind: "min", value: check["minimum"] }];
    case "max_length":
    case "max_size":
      return [{ kind: "max", value: check["maximum"] }];
    case "length_equals":
      return [{ kind: "length", value: check["length"] }];
    case "size_equals":
      return [{ kind: "length", value: check["size"] }];
    case "greater_than":
      return [{ kind: "min", value: check["value"], inclusive: check["inclusive"] }];
    case "less_than":
      return [{ kind: "max", value: check["value"], inclusive: check["inclusive"] }];
    case "multiple_of":
      return [{ kind: "multipleOf", value: check["value"] }];
    case "number_format":
      return numberFormat(check["format"]);
    case "string_format":
      return [stringFormat(check)];
    default:
      return UNSAID;
  }
}

const INTEGER_RANGES: Readonly<Record<string, readonly [number, number]>> = {
  int32: [-(2 ** 31), 2 ** 31 - 1],
  uint32: [0, 2 ** 32 - 1],
};

function numberFormat(format: unknown): readonly Zod3Check[] {
  const range = INTEGER_RANGES[String(format)];
  if (range !== undefined) {
    const [minimum, maximum] = range;
    return [
      { kind: "int" },
      { kind: "min", value: minimum, inclusive: true },
      { kind: "max", value: maximum, inclusive: true },
    ];
  }
  return format === "safeint" ? [{ kind: "int" }] : UNSAID;
}

/** Formats with the same name in zod 3. */
const SAME_NAME = new Set([
  "email",
  "url",
  "uuid",
  "cuid",
  "cuid2",
  "ulid",
  "nanoid",
  "jwt",
  "base64",
  "base64url",
  "emoji",
  "datetime",
  "date",
  "time",
  "duration",
]);

function stringFormat(check: Zod4Def): Zod3Check {
  const format = String(check["format"]);
  if (SAME_NAME.has(format)) return { kind: format };
  switch (format) {
    case "guid":
      return { kind: "uuid" };
    case "ipv4":
    case "ipv6":
      return { kind: "ip", version: format.slice(2) };
    case "cidrv4":
    case "cidrv6":
      return { kind: "cidr", version: format.slice(4) };
    case "includes":
      return { kind: "includes", value: check["includes"] };
    case "starts_with":
      return { kind: "startsWith", value: check["prefix"] };
    case "ends_with":
      return { kind: "endsWith", value: check["suffix"] };
    default:
      return types.isRegExp(check["pattern"]) ? { kind: "regex", regex: check["pattern"] } : (UNSAID[0] as Zod3Check);
  }
}
