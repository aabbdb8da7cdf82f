import vm from "node:vm";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeParsed, decodeValue } from "../../ts/values/decode.js";
import { encodeInput, encodeMarked, encodeValue, type Encoded } from "../../ts/values/encode.js";
import { isPlainJson } from "../../ts/values/plain.js";
import { same } from "./same.js";

function encoded(value: unknown): Encoded {
  const result = encodeValue(value);
  if ("tombstone" in result) throw new Error(`refused: ${JSON.stringify(result)}`);
  return result;
}

function roundTrip(value: unknown): unknown {
  const { text, types } = encoded(value);
  return decodeValue(text, types);
}

function refusal(value: unknown): { path: string; reason: string } {
  const result = encodeValue(value);
  if (!("tombstone" in result)) throw new Error(`recorded: ${JSON.stringify(result)}`);
  return result.tombstone;
}

function nested(levels: number, innermost: unknown = 1): unknown {
  let value = innermost;
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

/** Any value that encodeValue promises to restore. */
const recordable = fc.letrec((tie) => ({
  key: fc.oneof(
    fc.string({ unit: "binary" }),
    fc.constantFrom("__proto__", "constructor", "a/b", "~", "", "toString", "0"),
  ),
  leaf: fc.oneof(
    fc.string({ unit: "binary" }),
    fc.double(),
    fc.constantFrom(
      Number.NaN,
      Number.POSITIVE_INFINITY,
      Number.NEGATIVE_INFINITY,
      -0,
      0,
      "\ud83d",
      null,
      undefined,
      true,
    ),
    fc.bigInt(),
    fc.date({ noInvalidDate: false }),
    fc.uint8Array(),
    fc.uint8Array().map((bytes) => Buffer.from(bytes)),
    fc.uint8Array().map((bytes) => new Uint8Array(bytes).buffer),
    fc.webUrl().map((url) => new URL(url)),
  ),
  node: fc.oneof({ maxDepth: 5, depthSize: "small" }, tie("leaf"), tie("array"), tie("object"), tie("map"), tie("set")),
  array: fc.array(tie("node")),
  object: fc
    .array(fc.tuple(tie("key"), tie("node")))
    .map((entries) => Object.fromEntries(entries as [string, unknown][])),
  map: fc.array(fc.tuple(tie("node"), tie("node"))).map((entries) => new Map(entries)),
  set: fc.array(tie("node")).map((items) => new Set(items)),
})).node;

describe("encodeValue and decodeValue", () => {
  it("restore an equal value", () => {
    fc.assert(
      fc.property(recordable, (value) => same(roundTrip(value), value)),
      { numRuns: 500 },
    );
  }, 60_000);

  it("write plain JSON as JSON.stringify does, without types", () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
        const plain: unknown = JSON.parse(JSON.stringify(value));
        expect(encodeValue(plain)).toEqual({ text: JSON.stringify(plain), types: null });
      }),
    );
  });

  it("write what JSON.stringify writes, plus the values that it loses", () => {
    const value = {
      a: undefined,
      when: new Date(0),
      list: [undefined, 1],
      link: new URL("https://example.test/a?b"),
      small: -0,
    };
    expect(encoded(value).text).toBe(JSON.stringify(value));
  });

  it.each([
    [undefined, "null", { "": "undefined" }],
    [{ a: undefined, b: [undefined] }, '{"b":[null]}', { "/a": "undefined", "/b/0": "undefined" }],
    [new Date(Number.NaN), "null", { "": "date" }],
    [new Date(1), '"1970-01-01T00:00:00.001Z"', { "": "date" }],
    [2n ** 70n, '"1180591620717411303424"', { "": "bigint" }],
    [
      [Number.NaN, 1 / 0, -1 / 0, -0],
      '["NaN","Infinity","-Infinity",0]',
      { "/0": "number", "/1": "number", "/2": "number", "/3": "number" },
    ],
    [new Map([["k", new Set([1n])]]), '[["k",["1"]]]', { "": "map", "/0/1": "set", "/0/1/0": "bigint" }],
    [new Uint8Array([255, 0]), '"/wA="', { "": "bytes" }],
    [Buffer.from("hi"), '"aGk="', { "": "buffer" }],
    [new Uint8Array([1]).buffer, '"AQ=="', { "": "arraybuffer" }],
    [{ "a/b~c": 1n }, '{"a/b~c":"1"}', { "/a~1b~0c": "bigint" }],
  ])("write %o", (value, text, types) => {
    expect(encoded(value).text).toBe(text);
    expect(JSON.parse(encoded(value).types ?? "null")).toEqual(types);
    expect(same(roundTrip(value), value)).toBe(true);
  });

  it("distinguish Buffer and Uint8Array", () => {
    expect(Buffer.isBuffer(roundTrip(Buffer.from("a")))).toBe(true);
    const bytes = roundTrip(new Uint8Array([1, 2])) as Uint8Array;
    expect(Buffer.isBuffer(bytes)).toBe(false);
    expect(bytes.buffer.byteLength).toBe(2);
  });

  it("write only the part of the buffer that a view covers", () => {
    expect(roundTrip(new Uint8Array([1, 2, 3, 4]).subarray(1, 3))).toEqual(new Uint8Array([2, 3]));
  });

  it("write shared references as copies", () => {
    const shared = { at: new Date(5) };
    expect(roundTrip([shared, shared])).toEqual([shared, shared]);
    expect(encoded([[1], [1]]).types).toBeNull();
  });

  it("keep keys such as __proto__ as data and do not pollute prototypes", () => {
    const value: unknown = JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}');
    expect(encoded(value).text).toBe(JSON.stringify(value));
    const back = roundTrip({ ...(value as object), ["__proto__"]: new Date(0), when: 1n }) as object;
    expect(Object.getOwnPropertyDescriptor(back, "__proto__")?.value).toEqual(new Date(0));
    const lost = roundTrip(Object.defineProperty({}, "__proto__", { value: undefined, enumerable: true })) as object;
    expect(Object.hasOwn(lost, "__proto__")).toBe(true);
    expect(Object.getPrototypeOf(lost)).toBe(Object.prototype);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it("record objects of other realms and objects without a prototype", () => {
    const foreign: unknown = vm.runInNewContext(
      "({ list: [1, { a: undefined }], when: new Date(3), map: new Map([[1, 2]]), set: new Set([1]), bytes: new Uint8Array([7]) })",
    );
    expect(roundTrip(foreign)).toEqual({
      list: [1, { a: undefined }],
      when: new Date(3),
      map: new Map([[1, 2]]),
      set: new Set([1]),
      bytes: new Uint8Array([7]),
    });
    expect(roundTrip(Object.assign(Object.create(null) as object, { a: 1n }))).toEqual({ a: 1n });
  });

  it("record through a well-behaved Proxy", () => {
    expect(roundTrip(new Proxy({ a: [1, undefined] }, {}))).toEqual({ a: [1, undefined] });
  });

  it("omit symbol keys, as JSON does", () => {
    expect(roundTrip({ [Symbol("s")]: 1, a: 1 })).toEqual({ a: 1 });
  });
});

describe("encodeValue rejects", () => {
  class Account {
    balance = 1;
  }
  const cycle: { list: unknown[] } = { list: [] };
  cycle.list.push({ back: cycle });
  const mapCycle = new Map<string, unknown>();
  mapCycle.set("self", mapCycle);
  const sparse: unknown[] = [1];
  sparse[2] = 3;

  it.each<[string, unknown, string, RegExp]>([
    ["functions", { a: [() => 1] }, "/a/0", /^function$/],
    ["symbols", { a: Symbol("s") }, "/a", /^symbol$/],
    ["instances of classes", { a: new Account() }, "/a", /^instance of Account$/],
    [
      "instances of classes derived from built-in ones",
      new (class Stamp extends Date {
        zone = "UTC";
      })(),
      "",
      /^instance of Stamp$/,
    ],
    ["arrays of a class", [new (class Rows extends Array {})()], "/0", /class Rows/],
    ["errors", { error: new TypeError("x") }, "/error", /^instance of TypeError$/],
    ["boxed primitives", [new String("a")], "/0", /^instance of String$/],
    ["regular expressions", /a/, "", /^instance of RegExp$/],
    ["other typed arrays", { v: new Float32Array(2) }, "/v", /^instance of Float32Array$/],
    ["a DataView", new DataView(new ArrayBuffer(1)), "", /^instance of DataView$/],
    ["promises", Promise.resolve(1), "", /^instance of Promise$/],
    ["cycles", cycle, "/list/0/back", /part of/],
    ["cycles through a Map", mapCycle, "/0/1", /part of/],
    ["sparse arrays", { list: sparse }, "/list", /sparse/],
    ["huge sparse arrays", Object.assign([], { 4294967290: 1 }), "", /sparse/],
    ["arrays with properties of their own", ["ab".match(/a/)], "/0", /"index"/],
    ["objects with toJSON", { a: { toJSON: () => 1 } }, "/a", /toJSON/],
    ["objects with a hidden toJSON", Object.defineProperty({}, "toJSON", { value: () => 1 }), "", /toJSON/],
    [
      "accessors that throw",
      {
        ok: 1,
        get a(): never {
          throw new Error("no");
        },
      },
      "/a",
      /no$/,
    ],
    [
      "Proxies that throw",
      [
        new Proxy(
          {},
          {
            ownKeys: () => {
              throw new Error("shut");
            },
          },
        ),
      ],
      "/0",
      /shut$/,
    ],
    ["revoked Proxies", [revoked()], "/0", /threw/],
    [
      "a Proxy whose getter throws an unreadable value",
      [
        new Proxy(
          {},
          {
            get: () => {
              throw revoked();
            },
          },
        ),
      ],
      "/0",
      /threw/,
    ],
    ["keys and values inside a Map", new Map([[{ f: () => 1 }, 1]]), "/0/0/f", /^function$/],
    ["prototypes that only look plain", Object.create({ hasOwnProperty: 1 }) as object, "", /^instance of Object$/],
  ])("%s", (_name, value, path, reason) => {
    expect(refusal(value)).toEqual({ path, reason: expect.stringMatching(reason) as unknown });
  });

  it("more than 1,000 levels of plain and of other values", () => {
    expect(encodeValue(nested(1000))).toHaveProperty("text");
    expect(encodeValue(nested(1000, 1n))).toHaveProperty("types");
    expect(refusal(nested(1001)).reason).toMatch(/1,000 levels/);
    expect(refusal(nested(100_000, 1n)).path).toMatch(/^(?:\/a\/0|\/0\/a)+/);
  });

  it("a Map whose written form is deeper than 1,000 levels", () => {
    let map: unknown = 1;
    for (let level = 0; level < 501; level++) map = new Map([[1, map]]);
    expect(refusal(map).reason).toMatch(/1,000 levels/);
  });

  it("values that share their parts so often that they cannot be written", () => {
    let value: unknown = [undefined];
    for (let level = 0; level < 60; level++) value = [value, value];
    expect(refusal(value)).toEqual({ path: "", reason: "too large to be written as JSON" });
  }, 60_000);

  function revoked(): object {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    return proxy;
  }
});

describe("isPlainJson", () => {
  it("survives an accessor that encodes another value meanwhile", () => {
    const value = {
      a: [1],
      get b() {
        return encoded({ deep: [[1n]] }).text.length;
      },
      c: { d: 2 },
    };
    expect(isPlainJson(value)).toBe(true);
    expect(encodeValue(value)).toEqual({ text: '{"a":[1],"b":16,"c":{"d":2}}', types: null });
  });
});

describe("decodeValue ignores tags", () => {
  it.each<[string, string, Record<string, unknown>, unknown]>([
    ["whose pointer leads nowhere", '{"a":1}', { "/b/c": "date", "/a/0": "date", a: "date", "/~2": "date" }, { a: 1 }],
    [
      "that do not fit the value",
      '{"a":"x","b":5,"c":[1],"d":"not base64"}',
      { "/a": "bigint", "/b": "number", "/c": "map", "/d": "bytes" },
      { a: "x", b: 5, c: [1], d: "not base64" },
    ],
    [
      "that do not fit the value either",
      '["no date","no url",{},"a"]',
      { "/0": "date", "/1": "url", "/2": "set", "/3": "bytes" },
      ["no date", "no url", {}, "a"],
    ],
    ["of unknown types", '{"a":1}', { "/a": "temporal", "": 7 }, { a: 1 }],
    [
      "where the user replaced the value",
      '{"a":1,"b":[2]}',
      { "/a": "undefined", "/b/0": "undefined" },
      { a: 1, b: [2] },
    ],
    ["on inherited members", "{}", { "/toString": "date", "/__proto__": "date" }, {}],
    ["on indexes beyond the array", "[null]", { "/1": "undefined", "/00": "undefined", "/length": "number" }, [null]],
  ])("%s", (_name, text, types, expected) => {
    expect(decodeParsed(JSON.parse(text), types)).toStrictEqual(expected);
  });

  it("but distinguishes the root from the empty key", () => {
    expect(decodeParsed({ "": "1" }, { "/": "bigint" })).toEqual({ "": 1n });
    expect(decodeParsed("1", { "": "bigint" })).toBe(1n);
  });

  it("and types that are not an object", () => {
    expect(decodeValue("[1]", "3")).toEqual([1]);
  });

  it("and decodes inner values first, whatever the order of the tags", () => {
    expect(decodeParsed([["a", "1"]], { "/0/1": "bigint", "": "map" })).toEqual(new Map([["a", 1n]]));
    expect(decodeParsed([["a", "1"]], { "": "map", "/0/1": "bigint" })).toEqual(new Map([["a", 1n]]));
  });
});

describe("encodeInput", () => {
  it("never fails and tags the values that it could not record", () => {
    class Client {
      open = true;
    }
    const self: Record<string, unknown> = { n: 1 };
    self["self"] = self;
    const value = { onDone: () => 1, client: new Client(), key: Symbol("k"), self, list: [() => 1], when: new Date(0) };
    const { text, types, restorable, inexact } = encodeInput(value);
    expect(restorable).toBe(false);
    expect(inexact?.map(({ path }) => path)).toEqual(["/onDone", "/key", "/self/self", "/list/0"]);
    expect(JSON.parse(text)).toEqual({
      onDone: null,
      client: { open: true },
      key: null,
      self: { n: 1, self: null },
      list: [null],
      when: "1970-01-01T00:00:00.000Z",
    });
    expect(JSON.parse(types ?? "")).toEqual({
      "/onDone": "function",
      "/client": "instance:Client",
      "/key": "symbol",
      "/self/self": "cycle",
      "/list/0": "function",
      "/when": "date",
    });
  });

  it("marks values that are too deep and continues", () => {
    const { text, types, inexact } = encodeInput({ deep: nested(2000), after: 1 });
    expect(inexact).toHaveLength(1);
    expect(JSON.parse(text)).toHaveProperty("after", 1);
    expect(Object.values(JSON.parse(types ?? "") as object)).toEqual(["deep"]);
  });

  it("treats undefined and {} as the same input", () => {
    expect(encodeInput(undefined)).toEqual({ text: "{}", types: null, restorable: true });
    expect(encodeInput({})).toEqual({ text: "{}", types: null, restorable: true });
  });

  it("is exact for all values that can be restored", () => {
    fc.assert(
      fc.property(recordable, (value) => {
        const { restorable, inexact } = encodeInput(value);
        return restorable && inexact === undefined;
      }),
    );
  });

  it("never throws for any value", () => {
    fc.assert(
      fc.property(
        fc.anything({
          withBigInt: true,
          withMap: true,
          withSparseArray: true,
          withTypedArray: true,
          withNullPrototype: true,
        }),
        (value) => {
          expect(typeof JSON.parse(encodeInput(value).text)).toBeDefined();
          expect(encodeValue(value)).toBeDefined();
        },
      ),
    );
  });
});

describe("encodeMarked", () => {
  it("replaces values that cannot be recorded by a text", () => {
    const self: Record<string, unknown> = { n: 1n, f: () => 1 };
    self["self"] = self;
    expect(JSON.parse(encodeMarked(self).text)).toEqual({
      n: "1",
      f: "[function]",
      self: "[reference to an object that it is part of]",
    });
  });
});
