// The requests that the adapter sends to an endpoint.
import type { Message, StreamOptions } from "agent-rewind";
import { createOpenAIModel, type OpenAIModelOptions } from "agent-rewind/openai";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { assembled } from "../support/streaming.js";
import { eventsOf, failureOf } from "./collect.js";
import { delta, finish, fragment, startEndpoint, stream } from "./endpoint.js";

const answered = stream([delta({ content: "{}" }), finish()]);
const strictSchema = z.toJSONSchema(z.strictObject({ city: z.string() }), { target: "draft-7" }) as Record<
  string,
  unknown
>;
const looseSchema = z.toJSONSchema(z.object({ city: z.string().optional() }), { target: "draft-7" }) as Record<
  string,
  unknown
>;
const tool = { name: "look", description: "Looks", parameters: strictSchema };

async function bodyOf(
  asked: StreamOptions & { messages?: Message[] } = {},
  options: Partial<OpenAIModelOptions> = {},
): Promise<Record<string, any>> {
  const endpoint = await startEndpoint(answered);
  const model = createOpenAIModel({ model: "m", client: endpoint.client(), ...options });
  await eventsOf(model, { ...asked, additionalOptions: { ...model.modelOptions, ...asked.additionalOptions } });
  return endpoint.requests[0]!.body;
}

it("sends all kinds of messages", async () => {
  const messages: Message[] = [
    { role: "system", content: "Be brief." },
    {
      role: "user",
      name: "ann",
      content: [
        { type: "text", text: "What is it?" },
        { type: "image", image: { url: "data:image/png;base64,AA==", detail: "low" } },
        { type: "video", video: { url: "https://example.test/v.mp4" } },
      ],
      extra: { rejelly: { kind: "instruction" } },
    },
    {
      role: "assistant",
      content: "",
      reasoning_content: "Hm.",
      tool_calls: [{ id: "c1", name: "look", arguments: "{}", extra: { extra_content: { signature: "s" } } }],
    },
    { role: "tool", tool_call_id: "c1", content: "a cat" },
  ];
  expect((await bodyOf({ messages }))["messages"]).toEqual([
    { role: "system", content: "Be brief." },
    {
      role: "user",
      name: "ann",
      content: [
        { type: "text", text: "What is it?" },
        { type: "image_url", image_url: { url: "data:image/png;base64,AA==", detail: "low" } },
        { type: "video_url", video_url: { url: "https://example.test/v.mp4" } },
      ],
    },
    {
      role: "assistant",
      content: null,
      tool_calls: [
        { id: "c1", type: "function", function: { name: "look", arguments: "{}" }, extra_content: { signature: "s" } },
      ],
    },
    { role: "tool", tool_call_id: "c1", content: "a cat" },
  ]);
  const back = await bodyOf({ messages }, { sendReasoning: "reasoning_content" });
  expect(back["messages"][2]).toMatchObject({ reasoning_content: "Hm." });
});

it("sends model options, tools and tool choice, and requests usage", async () => {
  const body = await bodyOf(
    { tools: [tool], toolChoice: "required", additionalOptions: { seed: 7 } },
    { modelOptions: { temperature: 0, seed: 1 } },
  );
  expect(body).toEqual({
    model: "m",
    messages: [{ role: "user", content: "What?" }],
    temperature: 0,
    seed: 7,
    tools: [
      {
        type: "function",
        function: {
          name: "look",
          description: "Looks",
          parameters: {
            type: "object",
            properties: { city: { type: "string" } },
            required: ["city"],
            additionalProperties: false,
          },
        },
      },
    ],
    tool_choice: "required",
    stream: true,
    stream_options: { include_usage: true },
  });
  expect(await bodyOf({}, { includeUsage: false })).not.toHaveProperty("stream_options");
});

it("makes tools strict if requested and if the schema allows it", async () => {
  const loose = { ...tool, name: "loose", parameters: looseSchema };
  const { tools } = await bodyOf({ tools: [tool, loose] }, { strictTools: true });
  expect(tools.map((one: any) => one.function.strict)).toEqual([true, undefined]);
});

describe("a request for an answer that fits a schema", () => {
  it("uses strict mode if the schema allows it", async () => {
    const { response_format: format } = await bodyOf({ schema: strictSchema });
    expect(format).toEqual({
      type: "json_schema",
      json_schema: {
        name: "answer",
        strict: true,
        schema: {
          type: "object",
          properties: { city: { type: "string" } },
          required: ["city"],
          additionalProperties: false,
        },
      },
    });
  });

  it.each<[string, z.ZodType, boolean]>([
    ["optional members", z.object({ a: z.string().optional() }), false],
    ["open objects", z.looseObject({ a: z.string() }), false],
    ["records", z.strictObject({ a: z.record(z.string(), z.number()) }), false],
    ["tuples", z.strictObject({ a: z.tuple([z.string()]) }), false],
    ["lengths of strings", z.strictObject({ a: z.string().min(2) }), false],
    ["formats that strict mode does not know", z.strictObject({ a: z.url() }), false],
    ["any value", z.strictObject({ a: z.unknown() }), false],
    [
      "intersections",
      z.strictObject({ a: z.intersection(z.object({ x: z.number() }), z.record(z.string(), z.number())) }),
      false,
    ],
    ["nesting beyond the limit", nested(12), false],
    [
      "unions, nulls and constants",
      z.strictObject({ a: z.union([z.string(), z.null(), z.literal("x"), z.enum(["y"])]) }),
      true,
    ],
    [
      "arrays of objects, and limits of numbers",
      z.strictObject({ a: z.array(z.strictObject({ n: z.int().min(0) })).max(3) }),
      true,
    ],
    ["nesting within the limit", nested(8), true],
  ])("with %s", async (_what, schema, strict) => {
    const { response_format: format } = await bodyOf({ schema: z.toJSONSchema(schema, { target: "draft-7" }) });
    expect(format.json_schema.strict).toBe(strict);
  });

  it("uses JSON mode with the schema in the first system message", async () => {
    const messages: Message[] = [
      { role: "system", content: "Be brief." },
      { role: "user", content: "What?" },
    ];
    const body = await bodyOf({ schema: looseSchema, messages }, { structuredOutput: "json_object" });
    expect(body["response_format"]).toEqual({ type: "json_object" });
    expect(body["messages"][0].content).toMatch(/^Be brief\.\n\n.*JSON schema.*\n\{"type":"object"/s);
    expect(body["messages"]).toHaveLength(2);
    const without = await bodyOf({ schema: looseSchema }, { structuredOutput: "prompt" });
    expect(without).not.toHaveProperty("response_format");
    expect(without["messages"].map((message: Message) => message.role)).toEqual(["system", "user"]);
  });

  it("uses instructions if the answer is not an object, and nothing if any text is allowed", async () => {
    const list = await bodyOf({ schema: { type: "array", items: { type: "string" } } });
    expect(list).not.toHaveProperty("response_format");
    expect(list["messages"][0].content).toContain('{"type":"array"');
    const choice = await bodyOf({ schema: { type: "string", enum: ["a", "b"] } });
    expect(choice["messages"][0].content).toContain('"enum":["a","b"]');
    const text = await bodyOf({ schema: { $schema: "x", type: "string" } });
    expect(text["messages"]).toEqual([{ role: "user", content: "What?" }]);
  });

  it("uses a tool whose input is the answer", async () => {
    const endpoint = await startEndpoint(
      stream([
        fragment(0, "c0", "look", '{"city":"Rome"}'),
        fragment(1, "c1", "answer", '{"city":'),
        fragment(1, undefined, "", '"Oslo"}'),
        fragment(2, "c2", "answer", "{}"),
        finish("tool_calls"),
      ]),
    );
    const model = createOpenAIModel({ model: "m", client: endpoint.client(), structuredOutput: "tool" });
    const additionalOptions = { ...model.modelOptions };
    const events = await eventsOf(model, { schema: strictSchema, tools: [tool], additionalOptions });
    expect(assembled(events)).toMatchObject({
      text: '{"city":"Oslo"}',
      toolCalls: [{ id: "c0", name: "look", arguments: '{"city":"Rome"}' }],
    });
    const { body } = endpoint.requests[0]!;
    expect(body["tools"].map((one: any) => one.function.name)).toEqual(["look", "answer"]);
    expect(body["tool_choice"]).toBe("required");
    await eventsOf(model, {
      schema: strictSchema,
      tools: [{ ...tool, name: "answer" }],
      toolChoice: "none",
      additionalOptions,
    });
    expect(endpoint.requests[1]!.body["tool_choice"]).toEqual({ type: "function", function: { name: "final_answer" } });
  });

  function nested(levels: number): z.ZodType {
    let schema: z.ZodType = z.string();
    for (let level = 0; level < levels; level++) schema = z.strictObject({ inner: schema });
    return schema;
  }
});

describe("rejects", () => {
  it.each<[Partial<OpenAIModelOptions>, RegExp]>([
    [{ model: "" }, /options\.model must be a non-empty string/],
    [{ client: {} as never }, /options\.client must be a client/],
    [{ modelOptions: { model: "x" } }, /modelOptions\.model is set by the adapter/],
    [{ modelOptions: [] as never }, /options\.modelOptions must be an object/],
    [{ structuredOutput: "xml" as never }, /structuredOutput must be one of "json_schema", .*received xml/],
    [{ maxRetries: -1 }, /options\.maxRetries must be a non-negative integer/],
    [{ timeout: 0 }, /options\.timeout must be a positive number of milliseconds/],
    [{ prices: { other: { prompt: 1, completion: 1 } } }, /options\.prices has no entry for "m"/],
    [
      { prices: { m: { prompt: Number.NaN, completion: 1 } } },
      /options\.prices\["m"\]\.prompt must be a non-negative number/,
    ],
  ])("the options %j", (options, message) => {
    expect(() => createOpenAIModel({ model: "m", ...options })).toThrow(message);
  });

  it("message parts that it cannot send, before it sends anything", async () => {
    const endpoint = await startEndpoint(answered);
    const model = createOpenAIModel({ model: "m", client: endpoint.client() });
    const messages = [{ role: "user", content: [{ type: "audio" }] }] as unknown as Message[];
    expect(await failureOf(eventsOf(model, { messages }))).toMatchObject({
      message: expect.stringContaining('content part of type "audio"'),
    });
    expect(endpoint.requests).toEqual([]);
  });
});

describe("the client", () => {
  it("is created once when it is first needed", async () => {
    const endpoint = await startEndpoint(answered);
    let liveCalls = 0;
    const model = createOpenAIModel({ model: "m", client: () => (liveCalls++, endpoint.client()) });
    expect(liveCalls).toBe(0);
    await eventsOf(model);
    await eventsOf(model);
    expect(liveCalls).toBe(1);
  });

  it("is created from the openai package if none is given", async () => {
    const { baseURL, requests } = await startEndpoint(answered);
    const model = createOpenAIModel({
      model: "m",
      clientOptions: { baseURL, apiKey: "k" },
      headers: { "x-team": "t" },
    });
    await eventsOf(model);
    expect(requests[0]!.headers).toMatchObject({ authorization: "Bearer k", "x-team": "t" });
  });

  it("reports a failed creation with a typed error and tries again", async () => {
    const endpoint = await startEndpoint(answered);
    let liveCalls = 0;
    const client = () => {
      if (liveCalls++ === 0) throw new Error("no key");
      return endpoint.client();
    };
    const model = createOpenAIModel({ model: "m", client });
    expect(await failureOf(eventsOf(model))).toMatchObject({
      name: "OpenAIModelError",
      code: "ERR_REWIND_OPENAI_CLIENT",
      message: 'The client of the model "m" could not be created: no key',
    });
    expect(await eventsOf(model)).toHaveLength(2);
  });
});
