// The scripted model for tests of programs.
import { createAgent, equipInstruction, equipTool, promptAgent, runWith, type Message } from "agent-rewind";
import { dumpSnapshot } from "agent-rewind/debugger";
import { createMockModel, isMockModelError, type MockModelOptions, type MockRule } from "agent-rewind/testing";
import { afterEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { eventsOf, failureOf } from "../openai/collect.js";
import { assembled, double } from "../support/streaming.js";

const user = (content: string): Message => ({ role: "user", content });
const mock = (rules: MockModelOptions["rules"], more: Partial<MockModelOptions> = {}) =>
  createMockModel({ rules, ...more });

async function textsOf(model: ReturnType<typeof mock>, ...questions: string[]): Promise<string[]> {
  const texts: string[] = [];
  for (const question of questions) {
    const events = await eventsOf(model, { messages: [user(question)] });
    texts.push((assembled(events) as { text: string }).text);
  }
  return texts;
}

afterEach(() => void vi.useRealTimers());

describe("rules", () => {
  it("match by text, by regular expression, by function, or else in order", async () => {
    const model = mock([
      { when: "Oslo", reply: "cold" },
      { when: /^ro\w+$/gi, reply: "warm" },
      { when: ({ text }) => text.length > 20, reply: ({ text, index }) => `${index}: ${text.length}` },
      "first",
      { reply: "second", times: 2 },
    ]);
    const asked = ["x", "Oslo?", "Rome", "Rome", "a question that is long", "y", "z", "Oslo!"];
    expect(await textsOf(model, ...asked)).toEqual([
      "first",
      "cold",
      "warm",
      "warm",
      "4: 23",
      "second",
      "second",
      "cold",
    ]);
    expect(model.calls.map(({ rule, index }) => [rule, index])).toEqual([
      [3, 0],
      [0, 1],
      [1, 2],
      [1, 3],
      [2, 4],
      [4, 5],
      [4, 6],
      [0, 7],
    ]);
    model.assertDone();
  });

  it("see the messages since the last answer of the model", async () => {
    const model = mock([
      { when: "look it up", reply: { toolCalls: [{ name: "find" }] } },
      { when: "found", reply: "done" },
    ]);
    const start: Message[] = [
      { role: "system", content: "Please" },
      {
        role: "user",
        content: [
          { type: "text", text: "look it up" },
          { type: "image", image: { url: "x" } },
        ],
      },
    ];
    const [asking] = await eventsOf(model, { messages: start });
    expect(asking).toMatchObject({
      type: "tool_call",
      toolCall: { index: 0, id: "call_0", name: "find", arguments: "{}" },
    });
    const later: Message[] = [
      ...start,
      { role: "assistant", content: null, tool_calls: [{ id: "call_0", name: "find", arguments: "{}" }] },
      { role: "tool", tool_call_id: "call_0", content: "found" },
    ];
    expect(assembled(await eventsOf(model, { messages: later }))).toMatchObject({ text: "done" });
    expect(model.calls.map(({ text }) => text)).toEqual(["Please\nlook it up", "found"]);
  });

  it("answer a limited number of times", async () => {
    const model = mock([
      { when: "a", reply: "1", times: 2 },
      { when: "a", reply: "2" },
    ]);
    expect(await textsOf(model, "a", "a", "a", "a")).toEqual(["1", "1", "2", "2"]);
  });

  it.each<[unknown, RegExp]>([
    [7, /options\.rules\[0\] must be a rule/],
    [{ when: "x" }, /options\.rules\[0\] has no reply/],
    [{ reply: null }, /options\.rules\[0\]\.reply must be/],
    [{ reply: "x", when: 7 }, /options\.rules\[0\]\.when must be/],
    [{ reply: "x", times: 0 }, /options\.rules\[0\]\.times must be/],
  ])("are rejected if invalid, such as %j", (rule, message) => {
    expect(() => mock([rule as MockRule])).toThrow(message);
    expect(() => createMockModel({ rules: undefined as never })).toThrow(/options\.rules must be an array/);
  });
});

describe("an unexpected prompt", () => {
  it("is a typed error that lists the rules", async () => {
    const model = mock([
      { name: "weather", when: "Oslo", reply: "cold" },
      "first",
      { when: /x/i, reply: "x", times: 3 },
    ]);
    await textsOf(model, "one");
    const failure = await failureOf(eventsOf(model, { messages: [user("Paris?")] }));
    expect(isMockModelError(failure)).toBe(true);
    expect(failure).toMatchObject({ code: "ERR_REWIND_MOCK_UNEXPECTED_PROMPT", text: "Paris?" });
    expect(failure["message"]).toBe(
      [
        'No rule of the mock model "mock" answers call 1 with the new text "Paris?".',
        "Its rules:",
        '  0. weather: text with "Oslo", used 0 times',
        "  1. any request, used 1 of 1 times",
        "  2. text that matches /x/i, used 0 of 3 times",
      ].join("\n"),
    );
    expect(model.calls).toHaveLength(2);
    expect(model.calls[1]!.rule).toBeUndefined();
    expect(() => model.assertDone()).toThrow(/No rule/);
  });

  it("without any rules says so", async () => {
    expect(await failureOf(eventsOf(mock([])))).toMatchObject({ message: expect.stringContaining("It has no rules.") });
  });
});

it("lists its unused rules and can be reset", async () => {
  const model = mock([{ when: "a", reply: "1" }, { when: "c", reply: "3", times: 2 }, "2"]);
  await textsOf(model, "c");
  expect(model.unusedRules()).toEqual([
    '0. text with "a", used 0 times',
    '1. text with "c", used 1 of 2 times',
    "2. any request, used 0 of 1 times",
  ]);
  expect(() => model.assertDone()).toThrow(/was called once, and 3 of its rules were used too few times/);
  await textsOf(model, "c", "a", "x");
  model.assertDone();
  model.reset();
  expect([model.calls, model.unusedRules().length]).toEqual([[], 3]);
});

describe("answers", () => {
  it("stream all their parts in pieces of a size", async () => {
    const usage = { promptTokens: 1, completionTokens: 2, totalTokens: 3 };
    const reply = {
      reasoning: "Hmm",
      text: "abcde",
      toolCalls: [
        { name: "f", arguments: { n: 1 } },
        { name: "g", id: "own", arguments: "{broken" },
      ],
      extra: { k: 1 },
      usage,
      chunks: 4,
    };
    expect(await eventsOf(mock([reply]))).toEqual([
      { type: "reasoning", content: "Hmm" },
      { type: "text", content: "abcd" },
      { type: "text", content: "e" },
      { type: "tool_call", toolCall: { index: 0, id: "call_0", name: "f", arguments: '{"n"' } },
      { type: "tool_call", toolCall: { index: 0, arguments: ":1}" } },
      { type: "tool_call", toolCall: { index: 1, id: "own", name: "g", arguments: "{bro" } },
      { type: "tool_call", toolCall: { index: 1, arguments: "ken" } },
      { type: "extra", extra: { k: 1 } },
      { type: "usage", usage },
      { type: "finish", finishReason: "tool_calls" },
    ]);
  });

  it("stream given pieces, values as JSON, and the finish reason or none", async () => {
    const model = mock([
      { chunks: ["a", "", "b"], finishReason: "length" },
      { json: { a: [1] }, finishReason: null },
    ]);
    expect(await eventsOf(model)).toEqual([
      { type: "text", content: "a" },
      { type: "text", content: "" },
      { type: "text", content: "b" },
      { type: "finish", finishReason: "length" },
    ]);
    expect(await eventsOf(model)).toEqual([{ type: "text", content: '{"a":[1]}' }]);
  });

  it("fail immediately or after a part of the stream", async () => {
    const error = new RangeError("overloaded");
    const model = mock([{ error }, { text: "Half", error }]);
    expect(await failureOf(eventsOf(model))).toBe(error);
    const seen: unknown[] = [];
    const call = (async () => {
      for await (const event of model.stream([])) seen.push(event);
    })();
    expect(await failureOf(call)).toBe(error);
    expect(seen).toEqual([{ type: "text", content: "Half" }]);
  });

  it("are delayed under fake timers", async () => {
    vi.useFakeTimers();
    const model = mock([{ chunks: ["a", "b"], delay: 60_000, chunkDelay: 1000 }]);
    const seen: unknown[] = [];
    const call = (async () => {
      for await (const event of model.stream([])) seen.push(event.type);
    })();
    await vi.advanceTimersByTimeAsync(59_999);
    expect(seen).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(seen).toEqual(["text"]);
    await vi.advanceTimersByTimeAsync(2000);
    expect(seen).toEqual(["text", "text", "finish"]);
    await call;
  });

  it("end with an abort and leave no timer behind", async () => {
    vi.useFakeTimers();
    const controller = new AbortController();
    const call = failureOf(eventsOf(mock([{ text: "x", delay: 1000 }]), { signal: controller.signal }));
    await vi.advanceTimersByTimeAsync(1);
    controller.abort("enough");
    expect(await call).toMatchObject({ name: "AbortError", reason: "enough" });
    expect(vi.getTimerCount()).toBe(0);
    expect(await failureOf(eventsOf(mock(["x"]), { signal: controller.signal }))).toMatchObject({ name: "AbortError" });
  });
});

describe("the mock model in a run", () => {
  const agent = createAgent({
    id: "doubler",
    maxRetries: 0,
    handler: async () => {
      equipInstruction("Double 2.");
      equipTool(double);
      return promptAgent(z.object({ sum: z.number() }));
    },
  });
  const rules: MockRule[] = [
    { when: "Double", reply: { toolCalls: [{ name: "double", arguments: { n: 2 } }] } },
    {
      when: /^4$/,
      reply: ({ text }) => ({
        json: { sum: Number(text) },
        usage: { promptTokens: 5, completionTokens: 1, totalTokens: 6 },
      }),
    },
  ];

  it("answers as the model with tools, usage and costs, and is not called on replay", async () => {
    const model = mock(rules, {
      id: "m",
      provider: "p",
      calculateCost: ({ totalTokens }) => ({ credits: totalTokens }),
    });
    const run = async () => ({ result: await agent(), snapshot: dumpSnapshot() });
    const { result, snapshot } = await runWith(run, { model, enableSnapshot: true });
    expect(result).toEqual({ sum: 4 });
    expect(snapshot.root.budgetState.aggregate).toMatchObject({ totalTokens: 6, costs: { credits: 6 } });
    model.assertDone();
    expect(model.calls[1]!.messages.at(-1)).toMatchObject({ role: "tool", content: "4" });
    model.reset();
    expect(await runWith(agent, { model, snapshot, enableSnapshot: true })).toEqual(result);
    expect(model.calls).toEqual([]);
  });

  it("fails the run on an unexpected prompt, even if the program catches the failure", async () => {
    const model = mock([rules[1]!]);
    const failure = await failureOf(runWith(() => agent(), { model }));
    expect(failure).toMatchObject({ name: "ModelCallError", cause: { name: "MockModelError" } });
    await runWith(() => agent().catch(() => "handled"), { model });
    expect(() => model.assertDone()).toThrow(/with the new text "Double 2\."/);
  });
});
