// Converts the responses of an endpoint to the events of a model.
import { createOpenAIModel, type OpenAIModelOptions } from "agent-rewind/openai";
import { expect, it } from "vitest";
import { assembled } from "../support/streaming.js";
import { eventsOf, failureOf } from "./collect.js";
import { delta, finish, fragment, json, startEndpoint, stream, type Handler } from "./endpoint.js";

async function asked(handler: Handler, options: Partial<OpenAIModelOptions> = {}) {
  const endpoint = await startEndpoint(handler);
  return eventsOf(createOpenAIModel({ model: "m", client: endpoint.client(), ...options }));
}

async function toolCallsOf(chunks: readonly unknown[]) {
  return (assembled(await asked(stream([...chunks, finish("tool_calls")]))) as { toolCalls: unknown }).toolCalls;
}

it("streams text, reasoning, usage and the finish reason", async () => {
  const usage = {
    prompt_tokens: 100,
    completion_tokens: 20,
    total_tokens: 120,
    prompt_tokens_details: { cached_tokens: 64 },
    completion_tokens_details: { reasoning_tokens: 8 },
  };
  const chunks = [
    delta({ role: "assistant", content: "" }),
    delta({ reasoning_content: "Hm. " }),
    delta({ reasoning: "Well." }),
    delta({ content: "An" }),
    delta({ content: "swer" }),
    finish(),
    { choices: [], usage },
  ];
  expect(await asked(stream(chunks))).toEqual([
    { type: "reasoning", content: "Hm. " },
    { type: "reasoning", content: "Well." },
    { type: "text", content: "An" },
    { type: "text", content: "swer" },
    {
      type: "usage",
      usage: {
        promptTokens: 100,
        completionTokens: 20,
        totalTokens: 120,
        details: { cachedTokens: 64, reasoningTokens: 8 },
      },
    },
    { type: "finish", finishReason: "stop" },
  ]);
});

it.each([
  ["of a cache, in words of its own", { prompt_tokens: 5, prompt_cache_hit_tokens: 3 }, { cachedTokens: 3 }],
  ["without a total", { prompt_tokens: 5, completion_tokens: 2 }, undefined],
  ["that is no number", { prompt_tokens: "5", completion_tokens: null, total_tokens: 5 }, undefined],
])("reads usage %s", async (_how, usage, details) => {
  const events = await asked(stream([delta({ content: "x" }), finish(), { usage }]));
  const { usage: taken } = events.find((event) => event.type === "usage")!;
  expect(taken.details).toEqual(details);
  expect(Object.values({ ...taken, details: 0 }).every(Number.isFinite)).toBe(true);
  expect(taken.totalTokens).toBe("completion_tokens" in usage && usage.completion_tokens === 2 ? 7 : 5);
});

it("uses the last of the running totals that come with every chunk, once", async () => {
  const sums = [1, 2, 3].map((n) => ({
    ...delta({ content: "x" }),
    usage: { prompt_tokens: 4, completion_tokens: n },
  }));
  const events = await asked(
    stream([...sums, { ...finish(), x_groq: { usage: { prompt_tokens: 4, completion_tokens: 9 } } }]),
  );
  expect(events.filter(({ type }) => type === "usage")).toEqual([
    { type: "usage", usage: { promptTokens: 4, completionTokens: 9, totalTokens: 13 } },
  ]);
});

const TWO = [
  { id: "a", name: "f", arguments: '{"x":1}' },
  { id: "b", name: "g", arguments: '{"y":2}' },
];

it.each<[string, object[]]>([
  [
    "in pieces, one after the other",
    [
      fragment(0, "a", "f", ""),
      fragment(0, undefined, "", '{"x":'),
      fragment(0, undefined, "", "1}"),
      fragment(1, "b", "g", '{"y":2}'),
    ],
  ],
  [
    "in pieces, by turns",
    [
      fragment(0, "a", "f", '{"x"'),
      fragment(1, "b", "g", '{"y"'),
      fragment(0, undefined, "", ":1}"),
      fragment(1, undefined, "", ":2}"),
    ],
  ],
  [
    "with id and name in every piece",
    [fragment(0, "a", "f", '{"x"'), fragment(0, "a", "f", ":1}"), fragment(1, "b", "g", '{"y":2}')],
  ],
  [
    "with empty ids in later pieces",
    [fragment(0, "a", "f", '{"x"'), fragment(0, "", "", ":1}"), fragment(1, "b", "g", '{"y":2}')],
  ],
  ["whole, without indexes", [fragment(undefined, "a", "f", '{"x":1}'), fragment(undefined, "b", "g", '{"y":2}')]],
  ["whole, all with the index 0", [fragment(0, "a", "f", '{"x":1}'), fragment(0, "b", "g", '{"y":2}')]],
  [
    "in pieces, without indexes",
    [
      fragment(undefined, "a", "f", '{"x"'),
      fragment(undefined, undefined, "", ":1}"),
      fragment(undefined, "b", "g", '{"y":2}'),
    ],
  ],
])("assembles parallel tool calls that arrive %s", async (_how, chunks) => {
  expect(await toolCallsOf(chunks)).toEqual(TWO);
});

it("accepts calls without ids, two calls of the same tool, and inputs that are objects", async () => {
  const withObject = delta({ tool_calls: [{ function: { name: "f", arguments: { x: 1 } } }] });
  expect(
    await toolCallsOf([fragment(undefined, undefined, "f", "{}"), fragment(undefined, undefined, "f", "[]")]),
  ).toEqual([
    { id: "", name: "f", arguments: "{}" },
    { id: "", name: "f", arguments: "[]" },
  ]);
  expect(await toolCallsOf([withObject])).toEqual([{ id: "", name: "f", arguments: '{"x":1}' }]);
});

it("accepts content that is a list of texts and thoughts", async () => {
  const parts = [
    { type: "thinking", thinking: [{ type: "text", text: "Hm." }] },
    { type: "text", text: "Yes" },
    { type: "unknown" },
  ];
  expect(assembled(await asked(stream([delta({ content: parts }), finish()])))).toMatchObject({
    text: "Yes",
    reasoning: "Hm.",
  });
});

it("ignores choices other than the first", async () => {
  const other = { choices: [{ index: 1, delta: { content: "no" }, finish_reason: "stop" }] };
  expect(assembled(await asked(stream([other, delta({ content: "yes" }), finish(), other])))).toMatchObject({
    text: "yes",
  });
});

it("accepts complete responses, requested or from an endpoint that cannot stream", async () => {
  const message = {
    role: "assistant",
    content: "ok",
    tool_calls: [{ id: "a", function: { name: "f", arguments: "{}" } }],
  };
  const whole = json({ choices: [{ index: 0, message, finish_reason: "tool_calls" }], usage: { prompt_tokens: 1 } });
  const expected = [
    { type: "text", content: "ok" },
    { type: "tool_call", toolCall: { index: 0, id: "a", name: "f", arguments: "{}" } },
    { type: "usage", usage: { promptTokens: 1, completionTokens: 0, totalTokens: 1 } },
    { type: "finish", finishReason: "tool_calls" },
  ];
  expect(await asked(whole, { stream: false })).toEqual(expected);
  expect(await asked(whole)).toEqual(expected);
});

it("fails with a refusal", async () => {
  const chunks = [delta({ refusal: "I cannot " }), delta({ refusal: "do that." }), finish()];
  expect(await failureOf(asked(stream(chunks)))).toMatchObject({
    name: "OpenAIModelError",
    code: "ERR_REWIND_OPENAI_REFUSAL",
    message: 'The model "m" refused to answer: I cannot do that.',
  });
});

it.each([
  ["content_filter", "ERR_REWIND_OPENAI_INCOMPLETE"],
  ["length", "ERR_REWIND_OPENAI_INCOMPLETE"],
  ["error", "ERR_REWIND_OPENAI_STREAM"],
])("fails with an answer that ended by %s and keeps the received part", async (reason, code) => {
  const failure = await failureOf(asked(stream([delta({ content: "Half" }), finish(reason)])));
  expect(failure).toMatchObject({
    name: "OpenAIModelError",
    code,
    reason,
    partialText: "Half",
    model: "m",
    status: 200,
  });
});

it("returns the part before the token limit if the option allows it", async () => {
  const events = await asked(stream([delta({ content: "Half" }), finish("length")]), { lengthLimit: "accept" });
  expect(events).toEqual([
    { type: "text", content: "Half" },
    { type: "finish", finishReason: "length" },
  ]);
});

it("calculates costs from the price table", async () => {
  const prices = { m: { prompt: 2.5, cachedPrompt: 1.25, completion: 10 }, other: { prompt: 1, completion: 1 } };
  const { calculateCost } = createOpenAIModel({ model: "m", prices });
  const usage = { promptTokens: 1000, completionTokens: 100, totalTokens: 1100, details: { cachedTokens: 600 } };
  expect(calculateCost?.(usage)).toEqual({ microdollars: 400 * 2.5 + 600 * 1.25 + 100 * 10 });
  expect(createOpenAIModel({ model: "m" }).calculateCost).toBeUndefined();
  const euros = createOpenAIModel({ model: "m", prices: { m: { prompt: 0.1, completion: 0, unit: "microeuros" } } });
  expect(euros.calculateCost?.({ promptTokens: 7, completionTokens: 7, totalTokens: 14 })).toEqual({ microeuros: 1 });
});
