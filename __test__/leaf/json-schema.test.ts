import { describe, expect, it, vi } from "vitest";
import * as z4 from "zod";
import * as mini from "zod/mini";
import { z as z3 } from "zod3";
import * as early4 from "zod3/v4";
import { zodToJsonSchema } from "zod-to-json-schema";
import { toJsonSchema } from "../../ts/schema/index.js";

/** The reference implementation. Existing recordings were hashed with its output. */
function reference(schema: z3.ZodTypeAny, $refStrategy: "none" | "root" = "none"): unknown {
  return JSON.parse(JSON.stringify(zodToJsonSchema(schema as never, { $refStrategy })));
}

/** Written once for both major versions of zod, which differ in their types but not in the calls used here. */
const BOTH: Record<string, (z: any) => unknown> = {
  "an object": (z) => z.object({ a: z.string(), b: z.number(), c: z.boolean() }),
  "an empty object": (z) => z.object({}),
  "keys such as __proto__": (z) => z.object({ constructor: z.string(), toString: z.number() }),
  "optional keys": (z) => z.object({ a: z.string().optional(), b: z.number().nullish(), c: z.string() }),
  "all keys optional": (z) => z.object({ a: z.string().optional() }),
  "a default": (z) =>
    z.object({ a: z.string().default("x"), b: z.number().default(1), c: z.array(z.string()).default([]) }),
  "a caught key": (z) => z.object({ a: z.string().catch("x") }),
  "a key of undefined": (z) => z.object({ a: z.undefined(), b: z.void() }),
  "strict, loose and caught-all objects": (z) =>
    z.object({ a: z.object({}).strict(), b: z.object({}).passthrough(), c: z.object({}).catchall(z.number()) }),
  "partial, picked and extended objects": (z) =>
    z.object({ a: z.string(), b: z.number() }).partial().extend({ c: z.string() }).pick({ a: true, c: true }),
  arrays: (z) =>
    z.object({
      a: z.array(z.string()),
      b: z.array(z.number()).min(1).max(3),
      c: z.array(z.any()),
      d: z.array(z.boolean()).length(2),
      e: z.array(z.unknown()).nonempty(),
    }),
  "nested objects": (z) => z.object({ a: z.object({ b: z.array(z.object({ c: z.object({ d: z.string() }) })) }) }),
  enums: (z) =>
    z.object({
      a: z.enum(["x", "y"]),
      b: z.nativeEnum({ A: "a", B: "b" }),
      c: z.nativeEnum({ A: 1, B: 2 }),
      d: z.nativeEnum(NumberEnum),
    }),
  literals: (z) => z.object({ a: z.literal("x"), b: z.literal(7), c: z.literal(true), d: z.null() }),
  "a union of types": (z) => z.union([z.string(), z.number(), z.boolean(), z.null()]),
  "a union of literals": (z) => z.union([z.literal("a"), z.literal(1), z.literal("a")]),
  "a union of enums": (z) => z.union([z.enum(["a", "b"]), z.enum(["b", "c"])]),
  "a union of objects": (z) => z.union([z.object({ a: z.string() }), z.object({ b: z.number() }), z.string().min(1)]),
  "a union of described literals": (z) => z.union([z.literal("a").describe("first"), z.literal("b")]),
  or: (z) => z.object({ a: z.string().or(z.number().int()) }),
  "a discriminated union": (z) =>
    z.discriminatedUnion("kind", [
      z.object({ kind: z.literal("a"), x: z.number() }),
      z.object({ kind: z.literal("b") }),
    ]),
  "an intersection": (z) => z.intersection(z.object({ a: z.string() }), z.object({ b: z.number() })),
  "a chain of intersections": (z) =>
    z
      .object({ a: z.string() })
      .and(z.object({ b: z.number() }))
      .and(z.object({ c: z.string() }).passthrough()),
  records: (z) =>
    z.object({
      a: z.record(z.string(), z.number()),
      b: z.record(z.enum(["x", "y"]), z.string()),
      c: z.record(z.string().min(2).regex(/^a/), z.any()),
    }),
  nullable: (z) =>
    z.object({
      a: z.string().nullable(),
      b: z.object({ c: z.string() }).nullable(),
      d: z.string().min(1).nullable(),
      e: z.array(z.string()).nullable(),
      f: z.enum(["a"]).nullable(),
    }),
  "nullable and optional in both orders": (z) =>
    z.object({ a: z.string().nullable().optional(), b: z.string().optional().nullable() }),
  "optional outside of an object": (z) => z.union([z.string().optional(), z.array(z.number().optional())]),
  descriptions: (z) =>
    z
      .object({
        a: z.string().describe("a text"),
        b: z.string().describe("before").min(3),
        c: z.number().describe("count").optional(),
        d: z.array(z.string().describe("item")).describe("list"),
        e: z.string().describe("maybe").nullable(),
        f: z.number().int().describe("maybe").nullable(),
        g: z.string().describe("with default").default("x"),
        h: z.string().optional().describe("after"),
        i: z.string().describe("inner").optional().describe("outer"),
        j: z.object({ k: z.string() }).describe("object").nullish(),
      })
      .describe("whole"),
  numbers: (z) =>
    z.object({
      a: z.number().int(),
      b: z.number().min(1).max(10),
      c: z.number().gt(0).lt(1),
      d: z.number().positive().int(),
      e: z.number().multipleOf(5),
      f: z.number().nonnegative(),
      g: z.number().int().min(1).max(5).nullable(),
    }),
  strings: (z) =>
    z.object({
      a: z.string().min(1).max(5),
      b: z.string().length(3),
      c: z.string().regex(/^a+$/i),
      d: z.string().startsWith("http://w"),
      e: z.string().endsWith(".ts"),
      f: z.string().includes("a/b"),
      g: z.string().min(1).regex(/a/).regex(/b/),
      h: z.string().trim(),
      i: z.string().toLowerCase().nullable(),
      j: z.string().min(2).min(5).max(9).max(7),
      k: z.string().nonempty(),
    }),
  formats: (z) =>
    z.object({
      a: z.string().email(),
      b: z.string().url(),
      c: z.string().uuid(),
      d: z.string().datetime(),
      e: z.string().cuid(),
      f: z.string().ulid(),
      g: z.string().base64(),
      h: z.string().nanoid(),
      i: z.string().cuid2(),
      j: z.string().jwt(),
      k: z.string().emoji(),
      l: z.string().date(),
      m: z.string().time(),
      n: z.string().duration(),
      o: z.string().base64url(),
      p: z.string().email().url(),
    }),
  tuples: (z) => z.object({ a: z.tuple([z.string(), z.number()]), b: z.tuple([z.string()]).rest(z.number()) }),
  "dates, big integers, maps, sets": (z) =>
    z.object({
      a: z.date(),
      b: z.bigint(),
      c: z.map(z.string(), z.number()),
      d: z.set(z.string()).min(1).max(2),
      e: z.set(z.number()).size(3),
    }),
  "never and nan": (z) => z.object({ a: z.never(), b: z.nan() }),
  refinements: (z) =>
    z.object({
      a: z.string().refine((text: string) => text !== "x"),
      b: z
        .string()
        .refine(() => true)
        .nullable(),
      c: z
        .object({ d: z.string() })
        .refine(() => true)
        .describe("refined"),
      e: z.array(z.string()).superRefine(() => {}),
    }),
  transformations: (z) =>
    z.object({
      a: z.string().transform((text: string) => text.length),
      b: z.preprocess((value: unknown) => value, z.number()),
      c: z.string().pipe(z.string().min(2)),
      d: z.string().describe("told").transform(Number),
    }),
  "readonly, branded, promise": (z) =>
    z.object({
      a: z.string().readonly(),
      b: z.string().brand("B"),
      c: z.promise(z.number()),
      d: z.array(z.string()).readonly(),
    }),
  custom: (z) => z.object({ a: z.custom(() => true).array(), b: z.array(z.instanceof(URL)) }),
  "functions and symbols, which are left out": (z) => z.object({ a: z.symbol(), b: z.string() }),
  coercion: (z) => z.object({ a: z.coerce.number(), b: z.coerce.boolean().optional() }).required({ a: true }),
  "lazy schemas": (z) =>
    z.object({ a: z.lazy(() => z.object({ b: z.string() })), c: z.array(z.lazy(() => z.number().int())) }),
  "a schema that stands in two places": (z) => {
    const point = z.object({ x: z.number() });
    return z.object({ from: point, to: point, all: z.array(point) });
  },
  "a string": (z) => z.string(),
  "an array": (z) => z.array(z.object({ a: z.string() })),
  "an optional": (z) => z.string().optional(),
  nothing: (z) => z.void(),
  anything: (z) => z.any(),
};

enum NumberEnum {
  One = 1,
  Two,
}

/** The two major versions produce different output for the same calls. */
const MEANT_OTHERWISE: Record<string, (expected: any) => void> = {
  "a key of undefined": (expected) => {
    expected.required = ["a"];
  },
  coercion: (expected) => {
    // In zod 3, undefined is coerced to a value, which makes the key optional.
    expected.required = ["a"];
  },
};

describe("toJsonSchema", () => {
  const cases = Object.entries(BOTH);

  it.each(cases)("matches zod-to-json-schema for %s of zod 3", (_name, make) => {
    const schema = make(z3) as z3.ZodTypeAny;
    expect(toJsonSchema(schema)).toEqual(reference(schema));
  });

  it.each(cases)("produces the same for %s of zod 4", (name, make) => {
    const expected = reference(make(z3) as z3.ZodTypeAny);
    MEANT_OTHERWISE[name]?.(expected);
    expect(toJsonSchema(make(z4))).toEqual(expected);
  });

  // The first zod 4 releases lost a description when another check followed. That is their own bug.
  const kept = cases.filter(([name]) => name !== "descriptions");

  it.each(kept)("produces the same for %s of the first zod 4 releases", (name, make) => {
    const expected = reference(make(z3) as z3.ZodTypeAny);
    MEANT_OTHERWISE[name]?.(expected);
    expect(toJsonSchema(make(early4))).toEqual(expected);
  });

  it("produces draft-07 with closed objects", () => {
    expect(toJsonSchema(z4.object({ q: z4.string() }))).toEqual({
      type: "object",
      properties: { q: { type: "string" } },
      required: ["q"],
      additionalProperties: false,
      $schema: "http://json-schema.org/draft-07/schema#",
    });
  });

  it("supports the schema types that only zod 4 has", () => {
    expect(
      toJsonSchema(
        z4.object({
          email: z4.email(),
          url: z4.url(),
          uuid: z4.uuid(),
          int: z4.int(),
          int32: z4.int32(),
          float: z4.float64(),
          ip: z4.ipv4(),
          cidr: z4.cidrv4(),
          at: z4.iso.datetime(),
          hash: z4.hash("md5"),
          tag: z4.templateLiteral(["v", z4.number()]),
          many: z4.literal(["a", 1, null]),
          none: z4.literal(null),
          loose: z4.looseObject({}),
          strict: z4.strictObject({}),
          prefault: z4.string().prefault("p"),
          present: z4.string().optional().nonoptional(),
          flag: z4.stringbool(),
          codec: z4.codec(z4.string(), z4.number(), { decode: Number, encode: String }),
          lower: z4.string().lowercase(),
          json: z4.array(z4.any()),
        }),
      ),
    ).toMatchObject({
      properties: {
        email: { type: "string", format: "email" },
        url: { type: "string", format: "uri" },
        uuid: { type: "string", format: "uuid" },
        int: { type: "integer" },
        int32: { type: "integer", minimum: -2147483648, maximum: 2147483647 },
        float: { type: "number" },
        ip: { type: "string", format: "ipv4" },
        cidr: { type: "string", pattern: expect.stringContaining("25[0-5]") as unknown },
        at: { type: "string", format: "date-time" },
        hash: { type: "string", pattern: expect.any(String) as unknown },
        tag: { type: "string", pattern: expect.stringMatching(/^\^v/) as unknown },
        many: { type: ["string", "number", "null"], enum: ["a", 1, null] },
        none: { type: "null" },
        loose: { type: "object", properties: {}, additionalProperties: true },
        strict: { type: "object", properties: {}, additionalProperties: false },
        prefault: { type: "string", default: "p" },
        present: { type: "string" },
        flag: { type: "string" },
        codec: { type: "string" },
        lower: { type: "string", pattern: expect.any(String) as unknown },
        json: { type: "array" },
      },
    });
  });

  it("requires the same keys as zod 4", () => {
    const string = z4.string();
    const keys = {
      plain: string,
      optional: string.optional(),
      default: string.default("x"),
      prefault: string.prefault("x"),
      caught: string.catch("x"),
      nullish: string.nullish(),
      readonly: string.optional().readonly(),
      nonoptional: string.optional().nonoptional(),
      transformed: string.optional().transform(String),
      preprocessed: z4.preprocess((value) => value, string.optional()),
      lazy: z4.lazy(() => string.optional()),
      union: z4.union([string, z4.number().optional()]),
      intersection: z4.intersection(z4.any(), string.optional()),
      any: z4.any(),
    };
    const required = Object.entries(keys).filter(([, schema]) => !z4.object({ key: schema }).safeParse({}).success);
    expect(toJsonSchema(z4.object(keys))?.["required"]).toEqual(required.map(([key]) => key));
  });

  it("supports zod 4 schemas that contain themselves by a getter", () => {
    const category = z4.object({
      name: z4.string(),
      get inner(): z4.ZodArray<any> {
        return z4.array(category);
      },
    });
    expect(toJsonSchema(category)).toMatchObject({
      properties: { name: { type: "string" }, inner: { type: "array", items: {} } },
    });
  });

  it("supports schemas of zod/mini", () => {
    const schema = mini.object({
      a: mini.string().check(mini.minLength(2), mini.describe("told")),
      b: mini.optional(mini.number()),
      c: mini.nullable(mini.string().check(mini.describe("maybe"))),
      d: mini._default(mini.int(), 3),
    });
    expect(toJsonSchema(schema)).toEqual({
      type: "object",
      properties: {
        a: { type: "string", minLength: 2, description: "told" },
        b: { type: "number" },
        c: { type: ["string", "null"], description: "maybe" },
        d: { type: "integer", default: 3 },
      },
      required: ["a", "c"],
      additionalProperties: false,
      $schema: "http://json-schema.org/draft-07/schema#",
    });
  });

  it("requires the keys that zod 4 requires and zod 3 does not", () => {
    expect(toJsonSchema(z4.object({ a: z4.any(), b: z4.unknown() }))).toHaveProperty("required", ["a", "b"]);
    expect(toJsonSchema(z3.object({ a: z3.any() }))).not.toHaveProperty("required");
  });

  it.each([
    ["zod 3", z3 as any],
    ["zod 4", z4 as any],
  ])("omits defaults of %s that change and keeps the others", (_name, z) => {
    let count = 0;
    const schema = z.object({
      id: z.string().default(() => `id-${count++}`),
      list: z.array(z.string()).default(() => ["a"]),
      default: z.object({ n: z.number().default(() => count++) }),
    });
    expect(toJsonSchema(schema)).toMatchObject({
      properties: {
        id: { type: "string" },
        list: { default: ["a"] },
        default: { type: "object", properties: { n: { type: "number" } } },
      },
    });
    expect(JSON.stringify(toJsonSchema(schema))).not.toContain("id-");
    expect(JSON.stringify(toJsonSchema(schema)).match(/"default":/g)).toHaveLength(2);
  });

  it("produces JSON, also for BigInt bounds and literals", () => {
    const schema = toJsonSchema(z4.object({ a: z4.bigint().min(5n), b: z4.literal(2n ** 70n) }));
    expect(schema).toMatchObject({
      properties: { a: { type: "integer", minimum: 5 }, b: { type: "integer", const: "1180591620717411303424" } },
    });
  });

  it("returns the same object for the same schema", () => {
    const schema = z4.object({ a: z4.string() });
    expect(toJsonSchema(schema)).toBe(toJsonSchema(schema));
  });

  it("uses the Standard JSON Schema of other libraries and returns undefined for other values", () => {
    const json = { type: "string" };
    const standard = {
      "~standard": { version: 1, vendor: "v", validate: () => ({ value: 1 }), jsonSchema: { input: () => json } },
    };
    expect(toJsonSchema(standard)).toEqual(json);
    expect(toJsonSchema({ "~standard": { version: 1, vendor: "v", validate: () => ({ value: 1 }) } })).toBeUndefined();
    for (const none of [undefined, null, 7, "x", {}, () => 1]) expect(toJsonSchema(none)).toBeUndefined();
  });

  /** Schemas that contain themselves. */
  const RECURSIVE: Record<string, [make: (z: any) => unknown, places: Record<string, unknown>]> = {
    "by lazy members": [
      (z) => {
        const node: any = z.object({
          value: z.string(),
          children: z.lazy(() => z.array(node)),
          next: z.lazy(() => node.nullable()).optional(),
        });
        return node;
      },
      { "/properties/children/items": { $ref: "#" } },
    ],
    "below its root": [
      (z) => {
        const node: any = z.object({ "a/b~": z.lazy(() => z.array(node)) });
        return z.object({ tree: node, again: z.number() });
      },
      { "/properties/tree/properties/a~1b~0/items": { $ref: "#/properties/tree" } },
    ],
    "through another one": [
      (z) => {
        const person: any = z.object({ name: z.string(), team: z.lazy(() => team) });
        const team: any = z.object({ members: z.array(person) });
        return person;
      },
      { "/properties/team/properties/members/items": { $ref: "#" } },
    ],
    "in a union": [
      (z) => {
        const value: any = z.union([z.string(), z.array(z.lazy(() => value))]);
        return z.object({ value });
      },
      { "/properties/value/anyOf/1/items": { $ref: "#/properties/value" } },
    ],
  };

  it.each(Object.entries(RECURSIVE))("refers to a schema that contains itself %s", (_how, [make, places]) => {
    const warn = vi.spyOn(console, "warn");
    for (const z of [z3, z4, early4]) {
      const schema = toJsonSchema(make(z));
      for (const [pointer, expected] of Object.entries(places)) {
        const keys = pointer
          .slice(1)
          .split("/")
          .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
        expect(keys.reduce((at: any, key) => at[key], schema)).toEqual(expected);
      }
    }
    expect(warn).not.toHaveBeenCalled();
    warn.mockRestore();
  });

  it("refers where zod-to-json-schema does", () => {
    const [make] = RECURSIVE["by lazy members"] as [(z: any) => z3.ZodTypeAny, unknown];
    expect(toJsonSchema(make(z3))).toEqual(reference(make(z3), "root"));
  });

  it("refers to itself with getters of zod 4, and repeats a schema that does not contain itself", () => {
    const point = z4.object({ x: z4.number() });
    const node = z4.object({
      at: point,
      to: point,
      get children() {
        return z4.array(node);
      },
    });
    expect(toJsonSchema(node)).toMatchObject({
      properties: { at: { type: "object" }, to: { type: "object" }, children: { type: "array", items: { $ref: "#" } } },
    });
  });

  it("throws a clear error for a schema that nests endlessly", () => {
    const endless = (): z4.ZodType => z4.lazy(() => z4.object({ a: endless() }));
    expect(() => toJsonSchema(endless())).toThrow(/nests endlessly/);
  }, 60_000);
});
