// A result that a recording cannot give back is marked when it is recorded, and its call is executed again.
import { runInNewContext } from "node:vm";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";

import { collectTrace, dumpSnapshot, parseSnapshot, restoreSnapshot, stringifySnapshot } from "../ts/debugger.js";
import {
  callTool,
  createAgent,
  equipInstruction,
  journalCall,
  promptAgent,
  equipTool,
  replay,
  resume,
  runFrame,
  runWith,
} from "../ts/index.js";
import type { AgentSnapshot, Tool } from "../ts/index.js";
import { createMockModel } from "../ts/testing/index.js";

async function* chunks(): AsyncGenerator<number> {
  yield 1;
}

class ZonedDate extends Date {
  readonly zone = "UTC";
}

class Later extends Date {
  get year(): number {
    return this.getFullYear();
  }
}

/** Values that would come back as less than they are, and the place and the reason. */
const LOST: Record<string, readonly [make: () => unknown, tombstone: string]> = {
  "a symbol as a key": [() => ({ a: 1, [Symbol.for("rows")]: [1] }), "the value: object with the key Symbol(rows)"],
  "a symbol as the only key": [
    () => ({ stream: { [Symbol.asyncIterator]: chunks } }),
    "/stream: object with the key Symbol(Symbol.asyncIterator)",
  ],
  "a symbol in a list": [() => [Object.assign([1], { [Symbol("total")]: 1 })], "/0: array with the key Symbol(total)"],
  "an object that is only async iterable": [
    () => ({ response: Object.create({ [Symbol.asyncIterator]: chunks }) as unknown }),
    "/response: instance of Object",
  ],
  "an async generator": [() => ({ stream: chunks() }), "/stream: instance of a class without a name"],
  "a Date with a field": [() => Object.assign(new Date(1), { zone: "UTC" }), 'the value: date with the field "zone"'],
  "a subclass of Date": [() => ({ at: new ZonedDate(1) }), "/at: instance of ZonedDate"],
  "a subclass of Date with an accessor": [() => ({ at: new Later(1) }), "/at: instance of Later"],
  "a Map with a field": [() => Object.assign(new Map([[1, 2]]), { size2: 4 }), 'the value: map with the field "size2"'],
  "a Map in a Map": [
    () => new Map([["a", Object.assign(new Map(), { [Symbol("b")]: 1 })]]),
    "/0/1: map with the key Symbol(b)",
  ],
  "a Set with a field": [() => [Object.assign(new Set([1]), { more: true })], '/0: set with the field "more"'],
  "bytes with a field": [
    () => ({ image: Object.assign(new Uint8Array([1]), { mime: "image/png" }) }),
    "/image: bytes with fields in addition to its elements",
  ],
  "a Buffer with a field": [
    () => Object.assign(Buffer.from("a"), { mime: "a" }),
    "the value: buffer with fields in addition to its elements",
  ],
  "an ArrayBuffer with a field": [
    () => Object.assign(new ArrayBuffer(1), { mime: "a" }),
    'the value: arraybuffer with the field "mime"',
  ],
  "a URL with a field": [
    () => Object.assign(new URL("https://x.test"), { via: "a" }),
    'the value: url with the field "via"',
  ],
  "a RegExp": [() => /a/, "the value: instance of RegExp"],
  "an array with a field": [
    () => "ab".match(/b/),
    'the value: array with the property "index" in addition to its elements',
  ],
  "a Date of another realm with a field": [
    () => runInNewContext("Object.assign(new Date(1), { zone: 1 })") as unknown,
    'the value: date with the field "zone"',
  ],
};

/** Values that come back whole. */
const KEPT: Record<string, () => unknown> = {
  "a symbol that is not enumerable": () => Object.defineProperty({ a: 1 }, Symbol("hidden"), { value: 1 }),
  "a field that is not enumerable": () => Object.defineProperty([1], "_request_id", { value: "r1" }),
  "dates, maps, sets, bytes": () => [
    new Date(1),
    new Map([[1, new Set([2])]]),
    Buffer.from("a"),
    new Uint8Array([1, 2]),
    new ArrayBuffer(2),
  ],
  "a part of bytes": () => new Uint8Array([1, 2, 3]).subarray(1),
  "a Date of another realm": () => [new Date(1)],
};

const copyOf = (snapshot: AgentSnapshot): AgentSnapshot => parseSnapshot(stringifySnapshot(snapshot));

let warnings: string[];
beforeEach(() => {
  warnings = [];
  vi.spyOn(console, "warn").mockImplementation((text: string) => void warnings.push(text));
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

describe("a result", () => {
  it.each(Object.entries(LOST))(
    "leaves a tombstone if a part of it would be lost: %s",
    async (name, [make, tombstone]) => {
      let made: unknown;
      const program = (): Promise<unknown> => journalCall({ kind: "lost", name, request: 1 }, () => (made = make()));
      const trace = collectTrace();
      const snapshot = await runWith(async () => {
        // The program gets what was made.
        expect(await program()).toBe(made);
        return copyOf(dumpSnapshot());
      });
      expect(snapshot.root.calls).toMatchObject([{ tombstone }]);
      expect(warnings).toHaveLength(1);
      expect(warnings[0]).toContain(`the result of the lost call "${name}" cannot be recorded`);
      for (const source of [snapshot, restoreSnapshot(trace.stop())]) {
        await expect(replay(program, { snapshot: source })).rejects.toMatchObject({ reason: "tombstone" });
        expect(await resume(program, { snapshot: source })).toBe(made);
      }
      expect(warnings).toHaveLength(1);
    },
  );

  it.each(Object.entries(KEPT))("is given back if nothing is lost: %s", async (_name, make) => {
    const program = (): Promise<unknown> => journalCall({ kind: "kept", name: "n", request: 1 }, make);
    const snapshot = await runWith(() => program().then(() => copyOf(dumpSnapshot())));
    expect(await replay(program, { snapshot })).toEqual(make());
    expect(warnings).toEqual([]);
  });

  it("of a sub-agent is not reused", async () => {
    let runs = 0;
    const program = (): Promise<unknown> => runFrame({ id: "a", input: {} }, () => ({ [Symbol("run")]: ++runs }));
    const snapshot = await runWith(() => program().then(() => copyOf(dumpSnapshot())));
    await replay(program, { snapshot, completedFrames: "reuse" });
    expect(runs).toBe(2);
  });

  it("is not looked at where nothing is recorded", async () => {
    const made = { [Symbol("a")]: 1 };
    const call = { kind: "lost", name: "unrecorded", request: 1 };
    expect(await runWith(() => journalCall(call, () => made), { enableSnapshot: false })).toBe(made);
    expect(warnings).toEqual([]);
  });
});

describe("the output of a tool", () => {
  const output = { rows: 1, at: Object.assign(new Date(0), { zone: "UTC" }), [Symbol("raw")]: {} };
  const tool = (handler: () => unknown): Tool => ({ name: "t", description: "d", parameters: z.object({}), handler });

  it("is what it was for the program and the model, and is executed again", async () => {
    const program = (): Promise<unknown> =>
      callTool(
        tool(() => output),
        {},
      );
    const snapshot = await runWith(async () => {
      expect(await program()).toBe(output);
      return copyOf(dumpSnapshot());
    });
    await expect(replay(program, { snapshot })).rejects.toMatchObject({ reason: "tombstone" });

    const model = createMockModel({
      rules: [{ reply: { toolCalls: [{ name: "t" }] }, times: 1 }, { reply: { json: { done: true } } }],
    });
    const agent = createAgent<object, { done: boolean }>({
      id: "a",
      model,
      handler: () => {
        equipInstruction("go");
        equipTool(tool(() => output));
        return promptAgent(z.object({ done: z.boolean() }));
      },
    });
    expect(await runWith(() => agent({}))).toEqual({ done: true });
    const sent = model.calls.at(-1)?.messages.at(-1)?.content;
    expect(sent).toBe('{"rows":1,"at":"1970-01-01T00:00:00.000Z"}');
  });

  it("is an error only if JSON has no form for it", async () => {
    await expect(
      runWith(() =>
        callTool(
          tool(() => ({ run() {} })),
          {},
        ),
      ),
    ).rejects.toMatchObject({
      name: "InvalidToolOutputError",
      path: "/run",
    });
  });
});

describe("dates of a faked clock", () => {
  class FakeDate extends Date {
    constructor(...args: []) {
      super(...(args.length > 0 ? args : ([86_400_000] as unknown as [])));
    }
  }
  /** As fake-timers does: an own `constructor`, so that the class does not show. */
  class HiddenDate extends Date {
    constructor(time: number) {
      super(time);
      Object.defineProperty(this, "constructor", { value: Date, enumerable: false });
    }
  }

  it.each<[string, () => Date]>([
    ["a derived class", () => new FakeDate()],
    ["a class that hides itself", () => new HiddenDate(86_400_000)],
    ["vi.useFakeTimers", () => (vi.useFakeTimers({ now: 86_400_000 }), new Date())],
    ["vi.setSystemTime", () => (vi.setSystemTime(86_400_000), new Date())],
    ["another realm", () => runInNewContext("new (class extends Date {})(86400000)") as Date],
  ])("are dates: %s", async (_name, make) => {
    const program = (date: Date): Promise<unknown> =>
      journalCall({ kind: "step", name: "n", request: { since: date } }, () => ({ at: date }));
    const date = make();
    const snapshot = await runWith(() => program(date).then(() => copyOf(dumpSnapshot())));
    vi.useRealTimers();
    expect(await replay(() => program(new Date(86_400_000)), { snapshot })).toEqual({ at: new Date(86_400_000) });
    const now: Tool = { name: "now", description: "d", parameters: z.object({}), handler: () => date };
    expect(await runWith(() => callTool(now, {}))).toBe(date);
    expect(warnings).toEqual([]);
  });
});
