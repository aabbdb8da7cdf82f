// JSON schemas of zod 4 and zod/mini.
//
// zod 4 has its own converter, but its JSON differs from that for zod 3, and changes between versions of zod. The JSON
// schema is part of a request's hash, so a zod 4 schema is presented to the zod 3 converter as the equivalent zod 3
// schema. zod is not imported: this file reads the definitions that zod 4 documents for libraries (`_zod.def`).

import { zod4Checks } from "./zod4-checks.js";
import type { Zod4Def, Zod4Schema } from "./zod4-schema.js";
import type { Zod3Def, Zod3Schema } from "./zod3.js";

export function isZod4(schema: object): schema is Zod4Schema {
  const { _zod: internals } = schema as { _zod?: { def?: { type?: unknown } } };
  return typeof internals?.def?.type === "string";
}

// Cached, because the converter recognizes a schema that contains itself by its identity.
const shown = new WeakMap<object, Zod3Schema>();

export function asZod3(schema: Zod4Schema): Zod3Schema {
  const known = shown.get(schema);
  if (known !== undefined) return known;
  const description = descriptionOf(schema);
  let def: Zod3Def | undefined;
  const view: Zod3Schema = {
    get _def() {
      // Lazy, for schemas that contain themselves.
      return (def ??= { ...definitionOf(schema), description });
    },
    description,
    isOptional: () => mayBeAbsent(schema),
  };
  shown.set(schema, view);
  return view;
}

function definitionOf(schema: Zod4Schema): Zod3Def {
  const { def } = schema._zod;
  const plain = plainDefinitionOf(schema, def);
  // A refinement is a wrapper of the schema in zod 3 and a check of the schema in zod 4.
  return zod4Checks(def).some(({ check }) => check === "custom") ? effects(viewOf(plain)) : plain;
}

function plainDefinitionOf(schema: Zod4Schema, def: Zod4Def): Zod3Def {
  switch (def.type) {
    case "string":
    case "number":
    case "bigint":
      return scalar(def);
    case "template_literal":
      return typed("ZodString", { checks: [{ kind: "regex", regex: schema._zod.pattern }] });
    case "enum":
      return enumeration(Object.fromEntries(Object.entries(def["entries"] as object)));
    case "literal":
      return literal(def["values"] as unknown[]);
    case "object":
      return object(def);
    case "array":
      return typed("ZodArray", { type: asZod3(def["element"]), ...lengths(def, "Length") });
    case "set":
      return typed("ZodSet", { valueType: asZod3(def["valueType"]), ...lengths(def, "Size") });
    case "tuple":
      return typed("ZodTuple", { items: def["items"].map(asZod3), rest: def["rest"] ? asZod3(def["rest"]) : null });
    case "union":
      return typed("ZodUnion", { options: def["options"].map(asZod3) });
    case "intersection":
      return typed("ZodIntersection", { left: asZod3(def["left"]), right: asZod3(def["right"]) });
    case "record":
    case "map":
      return typed(def.type === "map" ? "ZodMap" : "ZodRecord", {
        keyType: asZod3(def["keyType"]),
        valueType: asZod3(def["valueType"]),
      });
    case "pipe":
      return pipe(schema, def);
    case "lazy":
      return typed("ZodLazy", { getter: () => asZod3(def["getter"]()) });
    default:
      return wrapper(def) ?? typed(TYPE_NAMES[def.type] ?? "ZodAny");
  }
}

/** Types without parts. The converter omits types that JSON cannot represent, or writes a schema that accepts all. */
const TYPE_NAMES: Readonly<Record<string, string>> = {
  boolean: "ZodBoolean",
  date: "ZodDate",
  function: "ZodFunction",
  nan: "ZodNaN",
  never: "ZodNever",
  null: "ZodNull",
  symbol: "ZodSymbol",
  undefined: "ZodUndefined",
  unknown: "ZodUnknown",
  void: "ZodVoid",
};

/** Types that wrap one schema. */
function wrapper(def: Zod4Def): Zod3Def | undefined {
  const inner = def["innerType"] as Zod4Schema | undefined;
  if (inner === undefined) return undefined;
  switch (def.type) {
    case "optional":
      return typed("ZodOptional", { innerType: asZod3(inner) });
    case "nullable":
      return typed("ZodNullable", { innerType: asZod3(inner) });
    case "default":
    case "prefault":
      return typed("ZodDefault", { innerType: asZod3(inner), defaultValue: () => def["defaultValue"] as unknown });
    case "promise":
      return typed("ZodPromise", { type: asZod3(inner) });
    case "nonoptional":
      return effects(asZod3(withoutOptional(inner)));
    default:
      return effects(asZod3(inner));
  }
}

function withoutOptional(schema: Zod4Schema): Zod4Schema {
  let inner = schema;
  while (inner._zod.def.type === "optional") inner = inner._zod.def["innerType"] as Zod4Schema;
  return inner;
}

/**
 * True if an object may lack a key of this schema. Read from the definition, because `_zod.optin` differs between
 * versions of zod 4.
 */
function mayBeAbsent(schema: Zod4Schema, above: readonly Zod4Schema[] = []): boolean {
  if (above.includes(schema)) return false;
  const { def } = schema._zod;
  const is = (inner: Zod4Schema): boolean => mayBeAbsent(inner, [...above, schema]);
  switch (def.type) {
    case "optional":
    case "default":
    case "prefault":
    case "catch":
      return true;
    case "nullable":
    case "readonly":
    case "promise":
    case "success":
      return is(def["innerType"]);
    case "lazy":
      return is(def["getter"]());
    case "pipe":
      return is(def["in"]._zod.def.type === "transform" ? def["out"] : def["in"]);
    case "union":
      return (def["options"] as Zod4Schema[]).some(is);
    case "intersection":
      return is(def["left"]) && is(def["right"]);
    default:
      return false;
  }
}

function scalar(def: Zod4Def): Zod3Def {
  const typeName = { string: "ZodString", number: "ZodNumber", bigint: "ZodBigInt" }[def.type] as string;
  return typed(typeName, { checks: zod4Checks(def).flatMap(({ zod3 }) => zod3) });
}

function lengths(def: Zod4Def, unit: "Length" | "Size"): Record<string, unknown> {
  const bounds: Record<string, { value: unknown }> = {};
  for (const { zod3 } of zod4Checks(def)) {
    for (const { kind, value } of zod3) {
      if (kind === "length" && unit === "Length") bounds["exactLength"] = { value };
      else if (kind === "length") bounds["minSize"] = bounds["maxSize"] = { value };
      else if (kind === "min" || kind === "max") bounds[`${kind}${unit}`] = { value };
    }
  }
  return bounds;
}

function object(def: Zod4Def): Zod3Def {
  const catchall = def["catchall"] as Zod4Schema | undefined;
  const type = catchall?._zod.def.type;
  const known = type === undefined || type === "never" || type === "unknown";
  return typed("ZodObject", {
    shape: () => {
      const shape = def["shape"] as Record<string, Zod4Schema>;
      return Object.fromEntries(Object.keys(shape).map((key) => [key, asZod3(shape[key] as Zod4Schema)]));
    },
    unknownKeys: type === "unknown" ? "passthrough" : type === "never" ? "strict" : "strip",
    catchall: known ? viewOf(typed("ZodNever")) : asZod3(catchall as Zod4Schema),
  });
}

function enumeration(entries: Record<string, unknown>): Zod3Def {
  const values = Object.values(entries);
  return values.every((value) => typeof value === "string")
    ? typed("ZodEnum", { values })
    : typed("ZodNativeEnum", { values: entries });
}

function literal(values: readonly unknown[]): Zod3Def {
  const [value] = values;
  if (values.length > 1) {
    return typed("ZodUnion", { options: values.map((each) => viewOf(typed("ZodLiteral", { value: each }))) });
  }
  if (value === null) return typed("ZodNull");
  return value === undefined ? typed("ZodUndefined") : typed("ZodLiteral", { value });
}

/** A transformation is converted as its input. */
function pipe(schema: Zod4Schema, def: Zod4Def): Zod3Def {
  const from = def["in"] as Zod4Schema;
  const to = def["out"] as Zod4Schema;
  if (from._zod.def.type === "transform") return effects(asZod3(to));
  if (to._zod.def.type === "transform" || schema._zod.traits?.has("$ZodCodec") === true) return effects(asZod3(from));
  return typed("ZodPipeline", { in: asZod3(from), out: asZod3(to) });
}

function effects(schema: Zod3Schema): Zod3Def {
  return typed("ZodEffects", { schema });
}

function typed(typeName: string, fields: object = {}): Zod3Def {
  return { typeName, ...fields };
}

function viewOf(def: Zod3Def): Zod3Schema {
  return { _def: def, isOptional: () => false };
}

/** Wrappers that inherit the description of the inner schema, as methods of zod 3 such as `optional()` do. */
const INHERITS_DESCRIPTION = new Set(["optional", "nullable", "default", "prefault", "catch", "promise"]);

function descriptionOf(schema: Zod4Schema): string | undefined {
  for (let at: Zod4Schema | undefined = schema; at !== undefined;) {
    const description = at.description ?? registry()?.get(at)?.description;
    if (typeof description === "string") return description;
    const { type, innerType }: Zod4Def = at._zod.def;
    at = INHERITS_DESCRIPTION.has(type) ? (innerType as Zod4Schema | undefined) : undefined;
  }
  return undefined;
}

/** The registry in which zod stores descriptions. Schemas of zod/mini have no property for them. */
function registry(): { get(schema: object): { description?: unknown } | undefined } | undefined {
  return (globalThis as { __zod_globalRegistry?: ReturnType<typeof registry> }).__zod_globalRegistry;
}
