// A recorded answer is given only to a request with the same content, also where that is not JSON.
import { EventEmitter } from "node:events";
import { runInNewContext } from "node:vm";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";

import { collectTrace, dumpSnapshot, parseSnapshot, restoreSnapshot, stringifySnapshot } from "../ts/debugger.js";
import { callTool, journalCall, replay, resume, runFrame, runWith } from "../ts/index.js";
import type { AgentSnapshot, Miss, ReplayReport, RunWithOptions, Tool } from "../ts/index.js";

class Message {
  constructor(
    readonly role: string,
    readonly content: unknown,
  ) {}

  text(): string {
    return String(this.content);
  }
}

/** Declares its JSON, as the messages of LangChain do. Its private member does not count then. */
class Serializable {
  readonly #content: unknown;

  constructor(content: unknown) {
    this.#content = content;
  }

  toJSON(): object {
    return { lc: 1, kwargs: { content: this.#content } };
  }
}

class Tagged extends Map<string, number> {
  constructor(
    readonly label: string,
    entries: [string, number][] = [],
  ) {
    super(entries);
  }
}

class ZonedDate extends Date {
  constructor(
    time: number,
    readonly zone: string,
  ) {
    super(time);
  }
}

class HttpError extends Error {
  constructor(
    message: string,
    readonly status: number,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** As a compiler for old engines writes a class. */
function Legacy(this: { value: number }, value: number): void {
  this.value = value;
}
const legacy = (value: number): object => new (Legacy as unknown as new (value: number) => object)(value);

class ObjectId {
  readonly #id: string;

  constructor(id: string) {
    this.#id = id;
  }

  toString(): string {
    return this.#id;
  }
}

class Sub extends ObjectId {
  readonly kind = "sub";
}

class Celsius {
  readonly values: number[];

  constructor(...values: number[]) {
    this.values = values;
  }

  get mean(): number {
    return this.values.reduce((sum, value) => sum + value, 0) / this.values.length;
  }
}

const form = (entries: Record<string, string | Blob>): FormData => {
  const data = new FormData();
  for (const [key, value] of Object.entries(entries)) data.set(key, value);
  return data;
};

const nested = (depth: number, leaf: unknown): unknown => {
  let value = leaf;
  for (let level = 0; level < depth; level++) value = { value };
  return value;
};

const failure = (message: string): Error => {
  const error = new Error(message);
  error.stack = `changed ${Math.random()}`;
  return error;
};

/** Values that are equal to the first of their list only if they are the first. Each call creates a new one. */
const EXACT: Record<string, readonly (() => unknown)[]> = {
  "instances of a class": [
    () => new Message("user", "book"),
    () => new Message("user", "cancel"),
    () => ({ role: "user", content: "book" }),
    () => Object.setPrototypeOf({ role: "user", content: "book" }, Legacy.prototype as object) as object,
  ],
  "instances in instances": [
    () => new Message("user", [new Message("part", new Date(1))]),
    () => new Message("user", [new Message("part", new Date(2))]),
  ],
  "instances with toJSON": [
    () => new Serializable("a"),
    () => new Serializable("b"),
    () => new Serializable(new URL("https://x.test")),
  ],
  "objects with toJSON": [() => ({ toJSON: () => [1] }), () => ({ toJSON: () => [2] }), () => [1]],
  "what toJSON returns": [
    () => ({ toJSON: () => new Date(1) }),
    () => ({ toJSON: () => undefined }),
    () => ({ toJSON: () => null }),
  ],
  "instances of an old class": [() => legacy(1), () => legacy(2)],
  "subclass of Map": [
    () => new Tagged("a", [["x", 1]]),
    () => new Tagged("a", [["x", 2]]),
    () => new Tagged("b", [["x", 1]]),
    () => new Map([["x", 1]]),
  ],
  "subclass of Array": [
    () => runIn("Array.from.call(class List extends Array {}, [1, 2])"),
    () => runIn("Array.from.call(class List extends Array {}, [1, 3])"),
    () => [1, 2],
  ],
  "subclass of Date": [
    () => new ZonedDate(1, "UTC"),
    () => new ZonedDate(1, "CET"),
    () => new ZonedDate(2, "UTC"),
    () => new Date(1),
  ],
  "typed arrays": [
    () => new Float32Array([1, 2]),
    () => new Float32Array([1, 3]),
    () => new Float64Array([1, 2]),
    () => [1, 2],
  ],
  "views of bytes": [
    () => new DataView(Uint8Array.of(1, 2).buffer, 1),
    () => new DataView(Uint8Array.of(1, 3).buffer, 1),
    () => Uint8Array.of(2),
  ],
  "shared bytes": [() => new SharedArrayBuffer(1), () => new SharedArrayBuffer(2), () => new ArrayBuffer(1)],
  URLSearchParams: [() => new URLSearchParams("a=1&a=2"), () => new URLSearchParams("a=2&a=1")],
  Headers: [() => new Headers({ a: "1", b: "2" }), () => new Headers({ a: "1" })],
  FormData: [() => form({ a: "1" }), () => form({ a: "2" }), () => form({})],
  RegExp: [() => /a/i, () => /a/, () => /b/i, () => Object.assign(/a/i, { lastIndex: 1 }), () => "/a/i"],
  errors: [() => failure("a"), () => failure("b"), () => new TypeError("a"), () => ({ name: "Error", message: "a" })],
  "fields of errors": [
    () => new HttpError("a", 400, { cause: failure("x") }),
    () => new HttpError("a", 401, { cause: failure("x") }),
    () => new HttpError("a", 400, { cause: failure("y") }),
  ],
  "errors of errors": [() => new AggregateError([failure("a")], "m"), () => new AggregateError([failure("b")], "m")],
  DOMException: [() => new DOMException("a", "AbortError"), () => new DOMException("a", "TimeoutError")],
  "a Map with a field": [
    () => Object.assign(new Map(), { a: 1 }),
    () => Object.assign(new Map(), { a: 2 }),
    () => new Map(),
  ],
  "a URL with a field": [() => Object.assign(new URL("https://x.test"), { a: 1 }), () => new URL("https://x.test")],
  "an array with a field": [() => "ab".match(/a(b)/), () => "ab ".match(/a(b)/), () => ["ab", "b"]],
  "registered symbols": [
    () => ({ type: "string", [Symbol.for("kind")]: "String" }),
    () => ({ type: "string", [Symbol.for("kind")]: "Date" }),
    () => ({ type: "string" }),
  ],
  "another realm": [
    () => runIn("new (class Point { constructor() { this.at = new Map([[1, /a/]]) } })"),
    () => runIn("new (class Point { constructor() { this.at = new Map([[1, /b/]]) } })"),
  ],
  "typed arrays of another realm": [() => runIn("new Float32Array([1])"), () => runIn("new Float32Array([2])")],
};

function runIn(code: string): unknown {
  return runInNewContext(code) as unknown;
}

/** Pairs that their hash does not tell apart, and where the difference is. */
const INEXACT: Record<string, readonly [first: () => unknown, second: () => unknown, place: RegExp]> = {
  functions: [() => () => "a", () => () => "b", /^\/v: function$/],
  symbols: [() => Symbol("a"), () => Symbol("b"), /^\/v: symbol$/],
  "private members": [
    () => new ObjectId("1"),
    () => new ObjectId("2"),
    /^\/v: instance of ObjectId: .* private members, "#\w"$/,
  ],
  "private members of a base class": [() => new Sub("1"), () => new Sub("2"), /^\/v: instance of Sub: .* ObjectId /],
  accessors: [() => new Celsius(1, 3), () => new Celsius(1, 3), /Celsius has the accessor mean$/],
  "hidden fields": [
    () => Object.defineProperty(new Message("user", 1), "secret", { value: 1 }),
    () => Object.defineProperty(new Message("user", 1), "secret", { value: 2 }),
    /its field secret is not enumerable/,
  ],
  "symbols as keys": [() => ({ [Symbol("a")]: 1 }), () => ({ [Symbol("a")]: 2 }), /Symbol\(a\)/],
  "built-in classes": [() => Promise.resolve(1), () => Promise.resolve(2), /Promise is built in$/],
  "classes of Node": [() => new EventEmitter(), () => new EventEmitter(), /instance of EventEmitter/],
  "a class without a name": [() => new (unnamed(1))(), () => new (unnamed(2))(), /a class without a name$/],
  "bytes with a field": [
    () => Object.assign(Buffer.from("a"), { type: "a" }),
    () => Object.assign(Buffer.from("a"), { type: "b" }),
    /fields in addition to its elements$/,
  ],
  "a schema of zod": [() => z.object({ a: z.string() }), () => z.object({ b: z.string() }), /instance of ZodObject/],
  "a file in a form": [
    () => form({ a: new Blob(["1"]) }),
    () => form({ a: new Blob(["2"]) }),
    /^\/v\/0\/1: instance of File/,
  ],
  "sparse arrays": [() => sparse(2), () => sparse(2), /it is sparse$/],
  "deep values": [() => nested(1_100, 1), () => nested(1_100, 2), /nested deeper than 1,000 levels$/],
  "a part of an instance": [
    () => new Message("user", () => 1),
    () => new Message("user", () => 2),
    /^\/v\/content: function$/,
  ],
};

/** The class of a value whose state is in its closure. */
function unnamed(state: number): new () => object {
  return (() =>
    class {
      read(): number {
        return state;
      }
    })();
}

function sparse(length: number): unknown[] {
  const list: unknown[] = [];
  list.length = length;
  return list;
}

const copyOf = (snapshot: AgentSnapshot): AgentSnapshot => parseSnapshot(stringifySnapshot(snapshot));

const anything = { "~standard": { version: 1, vendor: "x", validate: (value: unknown) => ({ value }) } } as const;

/** Three ways by which a value becomes content of a hash. */
const WAYS: Record<string, (value: unknown, answer: string) => Promise<unknown>> = {
  "a request": (value, answer) => journalCall({ kind: "step", name: "ask", request: { v: value } }, () => answer),
  "the input of a tool": (value, answer) => {
    const tool: Tool = { name: "t", description: "", parameters: anything, jsonSchema: {}, handler: () => answer };
    return callTool(tool, { v: value });
  },
};

const inFrame = (value: unknown, answer: string): Promise<unknown> =>
  runFrame({ id: "agent", input: { v: value } }, () => WAYS["a request"]?.(1, answer));

async function recorded(run: () => Promise<unknown>, options: RunWithOptions = {}): Promise<AgentSnapshot> {
  return copyOf(await runWith(() => run().then(() => dumpSnapshot()), options));
}

const missOf = (run: () => Promise<unknown>, options: RunWithOptions & { snapshot: AgentSnapshot }): Promise<unknown> =>
  replay(run, options).then(
    (answer) => answer,
    (error: unknown) => (error as Miss).reason,
  );

let warnings: string[];
beforeEach(() => {
  warnings = [];
  vi.spyOn(console, "warn").mockImplementation((text: string) => void warnings.push(text));
});
afterEach(() => void vi.restoreAllMocks());

describe.each(Object.entries(WAYS))("%s", (_way, ask) => {
  it.each(Object.entries(EXACT))(
    "is answered only if it has the same content: %s",
    async (_name, [first, ...others]) => {
      const snapshot = await recorded(() => ask(first?.(), "first"));
      expect(await missOf(() => ask(first?.(), "again"), { snapshot })).toBe("first");
      for (const other of others) expect(await missOf(() => ask(other(), "again"), { snapshot })).toBe("not-recorded");
      expect(warnings).toEqual([]);
      expect(snapshot.root.calls?.[0]?.inexact).toBeUndefined();
    },
  );

  it.each(Object.entries(INEXACT))(
    "is a miss if its content does not show: %s",
    async (_name, [first, second, place]) => {
      const snapshot = await recorded(() => ask(first(), "first"));
      expect(snapshot.root.calls?.[0]?.inexact).toMatch(place);
      for (const value of [first, second])
        expect(await missOf(() => ask(value(), "again"), { snapshot })).toBe("inexact");
      expect(await resume(() => ask(second(), "second"), { snapshot })).toBe("second");
    },
  );
});

describe("sub-agents", () => {
  it.each(Object.entries(EXACT))("are found by the content of their props: %s", async (_name, values) => {
    const snapshot = await recorded(() => Promise.all(values.map((value, at) => inFrame(value(), `answer ${at}`))));
    const turned = values.map((value, at) => ({ value, at })).toReversed();
    const answers = await replay(() => Promise.all(turned.map(({ value }) => inFrame(value(), "again"))), { snapshot });
    expect(answers).toEqual(turned.map(({ at }) => `answer ${at}`));
  });

  it.each(Object.entries(INEXACT))("never get each other's answers: %s", async (_name, [first, second]) => {
    const snapshot = await recorded(() => Promise.all([inFrame(first(), "first"), inFrame(second(), "second")]));
    const turned = (): Promise<unknown[]> => Promise.all([inFrame(second(), "second"), inFrame(first(), "first")]);
    expect(await missOf(turned, { snapshot })).toBe("inexact");
    expect(await resume(turned, { snapshot })).toEqual(["second", "first"]);
  });

  const research = (topic: string, onProgress: () => void, answer: (name: string) => string): Promise<unknown> =>
    runFrame({ id: "researcher", input: { topic, onProgress } }, async () => [
      await journalCall({ kind: "step", name: "ask", request: { topic } }, () => answer(topic)),
      await journalCall({ kind: "step", name: "ask", request: "the same for all" }, () => answer("same")),
      await runFrame({ id: "inner", input: {} }, () =>
        journalCall({ kind: "step", name: "ask", request: "inside" }, () => answer(`inside ${topic}`)),
      ),
    ]);

  it("with a callback are found by their callId and the rest of their props", async () => {
    const program = (answer = (name: string): string => name): Promise<unknown> =>
      Promise.all([research("rain", () => {}, answer), research("snow", () => {}, answer)]);
    const trace = collectTrace();
    const snapshot = await recorded(() => program());
    const events = trace.stop();
    const answers = [
      ["rain", "same", "inside rain"],
      ["snow", "same", "inside snow"],
    ];
    for (const source of [snapshot, restoreSnapshot(events)]) {
      const hashes = Object.values(source.root.children).map(({ inputHash }) => inputHash);
      expect(hashes).toEqual([expect.stringMatching(/^inexact:[\da-f]{64}$/), expect.stringMatching(/^inexact:/)]);
      expect(await replay(() => program((name) => `again ${name}`), { snapshot: source })).toEqual(answers);
      // A recorded result may be that of other props. Inside, all props are covered.
      const reports: ReplayReport[] = [];
      const onReport = (report: ReplayReport): void => void reports.push(report);
      const again = replay(() => program(), { snapshot: source, completedFrames: "reuse", onReport });
      expect(await again).toEqual(answers);
      expect(reports[0]?.frames.filter(({ reused }) => reused).map(({ callId }) => callId)).toEqual([
        "root/agent:researcher:0/agent:inner:0",
        "root/agent:researcher:1/agent:inner:0",
      ]);
    }
    expect(warnings).toEqual([expect.stringMatching(/the input of "researcher" .*\/input\/onProgress/)]);
  });

  it("with equal visible props answer only what one of them has asked", async () => {
    const program = (...topics: string[]): Promise<unknown> =>
      Promise.all(
        topics.map((topic) =>
          runFrame({ id: "writer", input: { notify: () => topic } }, () =>
            journalCall({ kind: "step", name: "ask", request: { topic } }, () => topic),
          ),
        ),
      );
    const snapshot = await recorded(() => program("rain", "snow"));
    expect(await replay(() => program("rain", "snow"), { snapshot })).toEqual(["rain", "snow"]);
    expect(await missOf(() => program("snow", "rain"), { snapshot })).toBe("not-recorded");
    const twice = await recorded(() => program("rain", "rain"));
    expect(await missOf(() => program("rain", "rain"), { snapshot: twice })).toBe("inexact");
  });
});

describe("a request with content that its hash does not cover", () => {
  const ask = (onProgress: () => void, options: { exact?: readonly (typeof ObjectId)[] } = {}): Promise<unknown> =>
    journalCall(
      { kind: "step", name: "ask", request: { id: new ObjectId("1"), onProgress }, ...options },
      () => "made",
    );
  const callbacks = { id: "callbacks", pointer: "/input/onProgress" };

  it("is said once for each place, with the ways out", async () => {
    const many = (): Promise<unknown> =>
      Promise.all(
        [1, 2].map((at) =>
          journalCall({ kind: "step", name: "said", request: { list: [[0], [() => at]].slice(2 - at) } }, () => at),
        ),
      );
    await recorded(many);
    await recorded(many);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(
      /^agent-rewind: the request of the step call "said" has .* \(\/list\/\*\/\*: function\), so a replay executes the call again\. .*options\.normalize and the pointer "\/input\/list\/\*\/\*".*options\.exact/,
    );
  });

  it("is silent where nothing is recorded", async () => {
    await runWith(() => journalCall({ kind: "step", name: "silent", request: () => {} }, () => ({ made: () => {} })), {
      enableSnapshot: false,
    });
    expect(warnings).toEqual([]);
  });

  it("is exact without it: by a rule that blanks it, and with classes that the user vouches for", async () => {
    for (const [options, call] of [
      [{ normalize: [callbacks, { id: "ids", pointer: "/input/id" }] }, {}],
      [{ normalize: [callbacks], exact: [ObjectId] }, {}],
      [{ normalize: [callbacks] }, { exact: [ObjectId] }],
    ] as const) {
      const snapshot = await recorded(() => ask(() => {}, call), options);
      expect(snapshot.root.calls?.[0]?.inexact).toBeUndefined();
      expect(await missOf(() => ask(() => {}, call), { snapshot, ...options })).toBe("made");
      expect(await missOf(() => ask(() => {}), { snapshot, normalize: options.normalize.slice(0, 1) })).not.toBe(
        "made",
      );
    }
    // A rule that is added later lets the recording answer.
    const snapshot = await recorded(() => ask(() => {}));
    const normalize = [callbacks, { id: "ids", pointer: "/input/id" }];
    expect(await missOf(() => ask(() => {}), { snapshot, normalize })).toBe("made");
  });

  it("takes only classes in `exact`", async () => {
    const wrong = [{}] as never;
    await expect(runWith(() => 1, { exact: wrong })).rejects.toThrow(/options\.exact\.0 must be a class/);
    await expect(runWith(() => ask(() => {}, { exact: wrong }))).rejects.toThrow(/call\.exact\.0 must be a class/);
    await expect(runWith(() => 1, { exact: ObjectId as never })).rejects.toThrow(/must be an array of classes/);
  });

  it("vouches for a class, and not for what derives from it", async () => {
    const one = (value: unknown): Promise<unknown> =>
      journalCall({ kind: "step", name: "one", request: value, exact: [ObjectId] }, () => "made");
    class Hidden extends ObjectId {
      readonly #more = 1;

      more(): number {
        return this.#more;
      }
    }
    const inexactOf = async (value: unknown): Promise<unknown> =>
      (await recorded(() => one(value))).root.calls?.[0]?.inexact;
    expect(await inexactOf(new Sub("1"))).toBeUndefined();
    expect(await inexactOf(new Hidden("1"))).toMatch(/the source text of Hidden/);
  });

  it("is read within bounds, whatever an instance reaches", async () => {
    class Pair {
      constructor(
        readonly left: unknown,
        readonly right: unknown,
      ) {}
    }
    let shared: unknown = new Pair(1, 2);
    for (let level = 0; level < 60; level++) shared = new Pair(shared, shared);
    const snapshot = await recorded(() => WAYS["a request"]?.(shared, "made") as Promise<unknown>);
    expect(snapshot.root.calls?.[0]?.inexact).toBe("the request: too large to be written as JSON");
    const cyclic = new Pair(1, 2) as { left: unknown };
    cyclic.left = cyclic;
    const other = await recorded(() => WAYS["a request"]?.(cyclic, "made") as Promise<unknown>);
    expect(other.root.calls?.[0]?.inexact).toMatch(/^\/v\/left: reference to an object/);
  });
});

describe("without flag 5", () => {
  it("hashes are those of older versions", async () => {
    const { recorder: _recorder, ...old } = await recorded(() => Promise.resolve());
    const snapshot = parseSnapshot(JSON.stringify(old));
    const trace = collectTrace();
    const values = [
      new Message("user", 1),
      new Float32Array(1),
      Object.assign(new Map(), { a: 1 }),
      { a: 1, [Symbol("s")]: 2 },
    ];
    const dump = await resume(
      async () => {
        for (const value of values) await WAYS["a request"]?.(value, "made");
        await runFrame({ id: "agent", input: { v: () => {} } }, () => 1);
        return dumpSnapshot();
      },
      { snapshot },
    );
    expect(dump.recorder?.flags).toEqual([]);
    expect(dump.root.requestTexts?.map((text) => JSON.stringify(text))).toEqual([
      '{"input":{"v":null},"name":"ask","types":{"/v":"class:Message"}}',
      '{"input":{"v":null},"name":"ask","types":{"/v":"class:Float32Array"}}',
      '{"input":{"v":[]},"name":"ask","types":{"/v":"map"}}',
      '{"input":{"v":{"a":1}},"name":"ask"}',
    ]);
    expect(Object.values(dump.root.children)[0]?.inputHash).toMatch(/^[\da-f]{64}$/);
    expect(warnings).toEqual([]);
    trace.stop();
  });
});
