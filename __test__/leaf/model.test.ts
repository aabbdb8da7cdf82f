import { describe, expect, it, vi } from "vitest";
import { parseAnswer } from "../../ts/model/answer.js";
import { collectStream } from "../../ts/model/collect.js";
import type { StreamEvent } from "../../ts/types/model.js";

async function* streamOf(...events: StreamEvent[]): AsyncGenerator<StreamEvent> {
  yield* events;
}

describe("collectStream", () => {
  it("assembles text, reasoning, extra, usage and finish", async () => {
    const usage = { promptTokens: 1, completionTokens: 2, totalTokens: 3 };
    const collected = await collectStream(
      streamOf(
        { type: "reasoning", content: "hm" },
        { type: "reasoning", content: "m" },
        { type: "text", content: '{"a"' },
        { type: "extra", extra: { signature: "s", ["__proto__"]: 1 } },
        { type: "text", content: ":1}" },
        { type: "extra", extra: { id: 7 } },
        { type: "usage", usage: { ...usage, totalTokens: 99 } },
        { type: "finish", finishReason: "stop", usage },
      ),
    );
    expect(collected).toEqual({
      message: {
        role: "assistant",
        content: '{"a":1}',
        reasoning_content: "hmm",
        extra: { signature: "s", ["__proto__"]: 1, id: 7 },
      },
      rawText: '{"a":1}',
      reasoning: "hmm",
      toolCalls: [],
      usage,
      finishReason: "stop",
      ttft: expect.any(Number) as unknown,
    });
  });

  it("joins the pieces of tool calls by index", async () => {
    const { message, toolCalls, rawText } = await collectStream(
      streamOf(
        { type: "tool_call", toolCall: { index: 1, id: "b", name: "fetch", arguments: '{"url"' } },
        { type: "tool_call", toolCall: { index: 0, id: "a", name: "search", arguments: "" } },
        { type: "tool_call", toolCall: { index: 1, id: "", name: "", arguments: ':"x"}', extra: { k: 1 } } },
        { type: "tool_call", toolCall: { index: 0, arguments: "{}" } },
        { type: "tool_call", toolCall: { index: 2, name: "now" } },
        { type: "finish", finishReason: "tool_calls" },
      ),
    );
    expect(toolCalls).toEqual([
      { id: "a", name: "search", arguments: "{}" },
      { id: "b", name: "fetch", arguments: '{"url":"x"}', extra: { k: 1 } },
      { id: "call_2", name: "now", arguments: "" },
    ]);
    expect(message).toEqual({ role: "assistant", content: null, tool_calls: toolCalls });
    expect(rawText).toBe("");
  });

  it("keeps text next to tool calls", async () => {
    const { message } = await collectStream(
      streamOf(
        { type: "text", content: "let me see" },
        { type: "tool_call", toolCall: { index: 0, id: "a", name: "t", arguments: "{}" } },
      ),
    );
    expect(message.content).toBe("let me see");
  });

  it("accepts a stream without a finish event, even an empty one", async () => {
    expect(await collectStream(streamOf())).toEqual({
      message: { role: "assistant", content: "" },
      rawText: "",
      reasoning: "",
      toolCalls: [],
      usage: undefined,
      finishReason: undefined,
      ttft: undefined,
    });
  });

  it("skips unknown events but passes all events to the observer", async () => {
    const onEvent = vi.fn();
    const events = [{ type: "ping" } as unknown as StreamEvent, { type: "text", content: "a" } as const];
    expect((await collectStream(streamOf(...events), onEvent)).rawText).toBe("a");
    expect(onEvent.mock.calls).toEqual(events.map((event) => [event]));
  });

  it.each([
    [new TypeError("as it is"), "as it is"],
    ["overloaded", "overloaded"],
    [{ message: "from the server", code: 529 }, "from the server"],
    [{ code: 529 }, 'the model\'s stream reported an error: {"code":529}'],
    [undefined, "the model's stream reported an error: undefined"],
  ])("throws the error of an error event: %o", async (error, message) => {
    const closed = vi.fn();
    async function* failing(): AsyncGenerator<StreamEvent> {
      try {
        yield { type: "text", content: "a" };
        yield { type: "error", error };
      } finally {
        closed();
      }
    }
    const collecting = collectStream(failing());
    await expect(collecting).rejects.toBeInstanceOf(Error);
    await expect(collecting).rejects.toMatchObject({
      message,
      ...(error instanceof Error ? {} : { cause: error }),
    });
    expect(closed).toHaveBeenCalledTimes(1);
  });

  it("throws what the stream throws", async () => {
    async function* broken(): AsyncGenerator<StreamEvent> {
      yield { type: "text", content: "a" };
      throw new RangeError("503");
    }
    await expect(collectStream(broken())).rejects.toThrow(RangeError);
  });
});

describe("parseAnswer", () => {
  it.each([
    ["plain JSON", ' {"a":1}\n', { a: 1 }],
    ["a scalar", "7", 7],
    ["a fenced block", '```json\n{"a":1}\n```', { a: 1 }],
    ["a fenced block in prose", "Sure:\n```\n[1,2]\n```\nDone.", [1, 2]],
    ["a fenced scalar", '```json\n"x"\n```', "x"],
    ["the first block that is JSON", '```js\nlet a;\n```\n```json\n{"a":1}\n```', { a: 1 }],
    ["a fence on one line", '```json {"a":1}```', { a: 1 }],
    ["a block that holds fences", '```json\n{"code":"```js\\nx\\n```"}\n```', { code: "```js\nx\n```" }],
    ["JSON in prose", 'The answer is {"a":{"b":[1]}} as wanted.', { a: { b: [1] } }],
    ["the longest of several", 'See [1] and {"answer":"}]\\"","n":[2]}.', { answer: '}]"', n: [2] }],
    ["JSON after brackets that are not JSON", 'If {x} is [y, then {"a":1}', { a: 1 }],
    ["null", "null", null],
  ])("reads %s", (_name, text, expected) => {
    expect(parseAnswer(text)).toEqual({ ok: expected });
  });

  it.each(["", "no JSON here", "{broken", '{"a":}', "[".repeat(100_000)])(
    "says why it cannot read input %#",
    (text) => {
      expect(parseAnswer(text)).toEqual({ error: expect.any(String) as unknown });
    },
  );

  it("keeps __proto__ as a plain key", () => {
    const parsed = parseAnswer('x {"__proto__":{"a":1}}') as { ok: object };
    expect(Object.keys(parsed.ok)).toEqual(["__proto__"]);
    expect(({} as { a?: unknown }).a).toBeUndefined();
  });
});
