import { createHash } from "node:crypto";

import canonicalizeInJs from "canonicalize";
import {
  callTool,
  createAgent,
  equipInstruction,
  equipSystem,
  equipTool,
  promptAgent,
  runWith,
  type Tool,
  type TraceEvent,
} from "agent-rewind";
import { canonicalize, contentHash } from "agent-rewind/debugger";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { result, scriptedModel, toolCall } from "./support/scripted-model.js";

const sha256 = (text: string): string => createHash("sha256").update(text, "utf8").digest("hex");

/** The reference: an RFC 8785 library and SHA-256. */
const recomputed = (document: unknown): string => sha256(canonicalizeInJs(document) ?? "");

describe("canonical form", () => {
  it("matches the examples of RFC 8785", () => {
    expect(
      canonicalize(
        String.raw`{"numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001], "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/", "literals": [null, true, false]}`,
      ),
    ).toBe(
      String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
    );
    expect(
      canonicalize(
        String.raw`{"\u20ac": "Euro Sign", "\r": "Carriage Return", "\ufb33": "Hebrew Letter Dalet With Dagesh", "1": "One", "\ud83d\ude00": "Emoji: Grinning Face", "\u0080": "Control", "\u00f6": "Latin Small Letter O With Diaeresis"}`,
      ),
    ).toBe(
      `{"\\r":"Carriage Return","1":"One","\u0080":"Control","ö":"Latin Small Letter O With Diaeresis","€":"Euro Sign","😀":"Emoji: Grinning Face","\ufb33":"Hebrew Letter Dalet With Dagesh"}`,
    );
  });

  it("matches an independent JavaScript canonicalizer on 20,000 generated documents", { timeout: 60_000 }, () => {
    const key = fc.oneof(
      fc.string({ unit: "grapheme" }),
      fc.constantFrom("", "__proto__", "constructor", "1", "10", "9", "é", "\u{10000}", "\uffff", "a\nb"),
    );
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.string({ unit: "grapheme" }),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.maxSafeInteger(),
        fc.constantFrom(-0, 1e21, 1e-7, 5e-324, 1.7976931348623157e308, 2 ** 53, 0.1),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie("value"), { maxLength: 5 }),
        fc.array(fc.tuple(key, tie("value")), { maxLength: 5 }).map((entries) => Object.fromEntries(entries)),
      ),
    }));
    fc.assert(
      fc.property(value, (document) => {
        const text = JSON.stringify(document);
        const expected = canonicalizeInJs(document) ?? "";
        expect(canonicalize(text)).toBe(expected);
        expect(canonicalize(JSON.stringify(document, null, 2))).toBe(expected);
        expect(contentHash(text)).toBe(sha256(expected));
      }),
      { numRuns: 20_000, seed: 8785 },
    );
  });

  it.each([
    ["-0", "0"],
    ["1e21", "1e+21"],
    ["5e-324", "5e-324"],
    ["123456789012345680000", "123456789012345680000"],
    [String.raw`"\ud83d"`, String.raw`"\ud83d"`],
    [String.raw`"\uD83D\uDE00"`, '"😀"'],
    [String.raw`{"\ud83d":1,"\ue000":2,"😀":3}`, `{"\\ud83d":1,"😀":3,"\ue000":2}`],
  ])("of %s is %s", (text, expected) => {
    expect(canonicalize(text)).toBe(expected);
  });

  it.each(["", "{", '{"a":1,"a":2}', String.raw`{"a":1,"\u0061":2}`, "1e400", "[1,]", '"\n"', "[".repeat(100_000)])(
    "rejects %j with a typed error",
    (text) => {
      expect(() => canonicalize(text)).toThrow(
        expect.objectContaining({ code: expect.stringMatching(/^ERR_REWIND_(INVALID_JSON|LIMIT)$/) }),
      );
    },
  );
});

describe("contentHash", () => {
  it.each([10, 60_000, 70_000, 200_000])("hashes a text of %i characters of any kind", (length) => {
    const fillings = ["plain ", 'line\nbreak "quoted" ', "é", "第二季度", "😀", "\ud83d", "\u001b"];
    for (const filling of fillings) {
      for (const lead of ["", "a".repeat(2000)]) {
        // Each text is shorter than the one before, so that bytes left in a reused buffer would show.
        for (const size of [length, length - 5]) {
          const document = { z: lead, b: [filling.repeat(size / filling.length)], a: 0.1 };
          const text = JSON.stringify(document);
          const expected = filling === "\ud83d" ? sha256(canonicalize(text)) : recomputed(document);
          expect(contentHash(text)).toBe(expected);
        }
      }
    }
  });

  it("hashes a text of several megabytes", () => {
    for (const length of [3_000_000, 2_500_000]) {
      const text = JSON.stringify(["x".repeat(length)]);
      expect(contentHash(text)).toBe(sha256(text));
    }
  });

  it("rejects a long text like a short one and names the position of the fault", () => {
    const long = `{"a":"${"x".repeat(100_000)}","b":01}`;
    const place = long.length - 2;
    expect(() => contentHash(long)).toThrow(
      expect.objectContaining({ message: expect.stringContaining(String(place)) }),
    );
    expect(() => contentHash(`{"z":1,"z":"${"x".repeat(100_000)}"}`)).toThrow(/duplicate key/i);
  });

  it("can be recomputed for prompts and tools from their events alone", async () => {
    const events: TraceEvent[] = [];
    const add: Tool = {
      name: "add",
      description: "adds",
      parameters: z.object({ b: z.number(), a: z.number() }),
      handler: ({ a, b }: { a: number; b: number }) => a + b,
    };
    const model = scriptedModel(
      "hashed",
      (messages) => (messages.length > 2 ? result("3 😀") : toolCall("c", "add", { b: 2, a: 1 })),
      { provider: "test" },
    );
    const agent = createAgent({
      id: "adder",
      model,
      handler: async () => {
        equipSystem("You add. 😀");
        equipInstruction("1 + 2?");
        equipTool(add);
        return promptAgent(z.object({ result: z.string() }), {
          modelOptions: { temperature: 0.5, seed: 7 },
          toolChoice: "auto",
        });
      },
    });
    await runWith(() => agent(), { eventBus: { emit: (event) => void events.push(event) } });
    const turns = events.filter((event) => event.type === "turn:end");
    expect(turns).toHaveLength(2);
    for (const turn of turns) {
      if (turn.type !== "turn:end") continue;
      const document = {
        messages: turn.messages,
        model: { id: "hashed", provider: "test" },
        options: { temperature: 0.5, seed: 7, toolChoice: "auto" },
        schema: turn.schema,
        tools: (turn as unknown as { toolConfig: { tools: unknown[] } }).toolConfig.tools,
      };
      expect(turn.contentHash).toBe(recomputed(document));
    }
    const calls = events.filter((event) => event.type === "tool:call:end");
    expect(calls.map((call) => (call.type === "tool:call:end" ? call.contentHash : ""))).toEqual([
      recomputed({ input: { a: 1, b: 2 }, name: "add" }),
    ]);
  });

  it("changes with every option but not with the order of keys", async () => {
    const hashOf = async (options: object): Promise<string> => {
      const events: TraceEvent[] = [];
      const agent = createAgent({
        id: "a",
        model: scriptedModel("m", () => result("x")),
        handler: () => {
          equipInstruction("q");
          return promptAgent(z.object({ result: z.string() }), options);
        },
      });
      await runWith(() => agent(), { eventBus: { emit: (event) => void events.push(event) } });
      const turn = events.find((event) => event.type === "turn:end");
      return turn?.type === "turn:end" ? (turn.contentHash ?? "") : "";
    };
    const hashes = await Promise.all(
      [
        {},
        { modelOptions: { temperature: 0 } },
        { modelOptions: { temperature: 1 } },
        { modelOptions: { seed: 1 } },
        { toolChoice: "none" },
      ].map(hashOf),
    );
    expect(new Set(hashes).size).toBe(hashes.length);
    expect(await hashOf({ modelOptions: { a: 1, b: 2 } })).toBe(await hashOf({ modelOptions: { b: 2, a: 1 } }));
    expect(await hashOf({ modelOptions: {} })).toBe(hashes[0]);
  });

  it("distinguishes tool inputs that hold more than JSON", async () => {
    const hashes: string[] = [];
    const tool: Tool = { name: "t", description: "", parameters: z.object({ at: z.any() }), handler: () => 1 };
    const eventBus = {
      emit: (event: TraceEvent) => void (event.type === "tool:call:end" && hashes.push(event.contentHash ?? "")),
    };
    await runWith(
      async () => {
        for (const at of [new Date(0), "1970-01-01T00:00:00.000Z", new Set([1]), [1], 1n, "1"])
          await callTool(tool, { at });
      },
      { eventBus },
    );
    expect(new Set(hashes).size).toBe(6);
  });
});
