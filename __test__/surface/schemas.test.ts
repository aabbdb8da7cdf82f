// Schema libraries other than zod: any Standard Schema validates. The JSON schema comes from the library if it provides
// one, otherwise from the caller.
import { toStandardJsonSchema } from "@valibot/to-json-schema";
import {
  callTool,
  createAgent,
  equipTool,
  isJsonSchemaNotFoundError,
  promptAgent,
  runWith,
  type PromptOptions,
  type StandardSchemaLike,
  type Tool,
} from "agent-rewind";
import { dumpSnapshot } from "agent-rewind/debugger";
import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";

import { recorder } from "../support/recorder.js";
import { result, scriptedModel, textOf, toolCall } from "../support/scripted-model.js";

/** The smallest Standard Schema, without a JSON schema. */
function bare<T>(vendor: string, check: (value: unknown) => value is T): StandardSchemaLike<T> {
  return {
    "~standard": {
      version: 1,
      vendor,
      validate: (value) => (check(value) ? { value } : { issues: [{ message: "not what was wanted" }] }),
    },
  };
}

const isText = (value: unknown): value is string => typeof value === "string";
const object = { type: "object", properties: { city: { type: "string" }, days: { type: "number" } } };
const DRAFT_07 = "http://json-schema.org/draft-07/schema#";

/** Prompts once with a schema. Returns the answer and the request to the model. */
async function ask<S extends StandardSchemaLike>(
  schema: S,
  answers: string[],
  options?: PromptOptions,
  tools: readonly Tool[] = [],
) {
  const model = scriptedModel("m", () => ({ content: answers[model.calls.length - 1] ?? "" }));
  const agent = createAgent({
    id: "a",
    model,
    handler: () => {
      for (const tool of tools) equipTool(tool);
      return promptAgent(schema, options);
    },
  });
  const answer = await agent();
  return {
    answer,
    requestOptions: model.calls.map(({ options: requestOptions }) => requestOptions),
    messages: model.calls.at(-1)?.messages ?? [],
  };
}

describe("a schema of valibot", () => {
  const Trip = v.object({
    city: v.string(),
    days: v.pipe(v.number(), v.minValue(1)),
    by: v.optional(v.string(), "train"),
  });

  it("checks the answer and is sent to the model as JSON schema", async () => {
    const { answer, requestOptions } = await ask(Trip, ['{"city":"Oslo","days":3}']);
    expect(answer).toEqual({ city: "Oslo", days: 3, by: "train" });
    expectTypeOf(answer).toEqualTypeOf<{ city: string; days: number; by: string }>();
    expect(requestOptions[0]?.schema).toEqual({
      $schema: DRAFT_07,
      type: "object",
      properties: {
        city: { type: "string" },
        days: { type: "number", minimum: 1 },
        by: { type: "string", default: "train" },
      },
      required: ["city", "days"],
    });
  });

  it("lists its faults with their paths when the model is asked again", async () => {
    const { answer, messages } = await ask(Trip, ['{"city":"Oslo","days":0}', '{"city":"Oslo","days":1}']);
    expect(answer).toMatchObject({ days: 1 });
    expect(messages.at(-1)?.content).toContain("days: ");
  });

  it("is sent as its input type, not as its output type", async () => {
    const { answer, requestOptions } = await ask(v.object({ n: v.pipe(v.string(), v.transform(Number)) }), [
      '{"n":"7"}',
    ]);
    expect(answer).toEqual({ n: 7 });
    expect(requestOptions[0]?.schema).toMatchObject({ properties: { n: { type: "string" } } });
  });

  it("can provide its own Standard JSON Schema", async () => {
    const { requestOptions } = await ask(toStandardJsonSchema(Trip), ['{"city":"Oslo","days":3}']);
    expect(requestOptions[0]?.schema).toMatchObject({ type: "object", required: ["city", "days"] });
  });

  it("without a JSON schema is rejected with the library's reason unless a schema is given", async () => {
    const schema = v.object({
      when: v.pipe(
        v.any(),
        v.transform((text) => new Date(String(text))),
        v.date(),
      ),
    });
    const dated = v.object({ when: v.date() });
    await expect(ask(dated, [])).rejects.toMatchObject({
      name: "JsonSchemaNotFoundError",
      code: "ERR_REWIND_JSON_SCHEMA_NOT_FOUND",
      owner: "promptAgent",
      vendor: "valibot",
      message: expect.stringMatching(
        /valibot.*"date".*Pass one with promptAgent\(schema, \{ jsonSchema \}\)/,
      ) as string,
      cause: expect.any(Error) as Error,
    });
    const jsonSchema = { type: "object", properties: { when: { type: "string", format: "date" } } };
    const { answer, requestOptions } = await ask(schema, ['{"when":"2024-05-01"}'], { jsonSchema });
    expect(answer).toEqual({ when: new Date("2024-05-01") });
    expect(requestOptions[0]?.schema).toEqual(jsonSchema);
  });
});

describe("a schema of ArkType", () => {
  const Trip = type({ city: "string", days: "number >= 1" });

  it("checks the answer and is sent to the model as JSON schema", async () => {
    const { answer, requestOptions, messages } = await ask(Trip, ['{"city":"Oslo"}', '{"city":"Oslo","days":3}']);
    expect(answer).toEqual({ city: "Oslo", days: 3 });
    expectTypeOf(answer).toEqualTypeOf<{ city: string; days: number }>();
    expect(requestOptions[0]?.schema).toEqual({
      $schema: DRAFT_07,
      type: "object",
      properties: { city: { type: "string" }, days: { type: "number", minimum: 1 } },
      required: ["city", "days"],
    });
    expect(messages.at(-1)?.content).toContain("days");
  });

  it("of a version without Standard JSON Schema is converted by its own method", async () => {
    const { "~standard": standard } = Trip;
    const early = {
      "~standard": { version: standard.version, vendor: standard.vendor, validate: standard.validate },
      toJsonSchema: () => Trip.toJsonSchema(),
    };
    const { requestOptions } = await ask(early as StandardSchemaLike, ['{"city":"Oslo","days":3}']);
    expect(requestOptions[0]?.schema).toMatchObject({ type: "object", required: ["city", "days"] });
  });
});

describe("a schema without a JSON schema", () => {
  it("is rejected before anything is sent, with an error that says what to provide", async () => {
    const sink = recorder();
    const model = scriptedModel("m", () => result("ok"));
    const agent = createAgent({ id: "a", model, handler: () => promptAgent(bare("tiny", isText)) });
    const error: unknown = await runWith(() => agent(), { eventBus: sink }).catch((thrown: unknown) => thrown);
    expect(isJsonSchemaNotFoundError(error)).toBe(true);
    expect(error).toMatchObject({
      message: expect.stringMatching(/promptAgent.*tiny.*promptAgent\(schema, \{ jsonSchema \}\)/) as string,
    });
    expect(model.calls).toEqual([]);
    expect(sink.of("promptAgent:start")).toEqual([]);
  });

  it("works with a given JSON schema, which is part of the request's hash", async () => {
    const schema = bare("tiny", isText);
    const hash = async (jsonSchema: Record<string, unknown>): Promise<string[]> => {
      const model = scriptedModel("m", () => ({ content: "hello" }));
      const snapshot = await runWith(
        async () => {
          expect(await createAgent({ id: "a", handler: () => promptAgent(schema, { jsonSchema }) })()).toBe("hello");
          return dumpSnapshot();
        },
        { model },
      );
      return Object.keys(snapshot.root.children["root/agent:a:0"]?.journal.prompt ?? {});
    };
    const [short, same, long] = [
      await hash({ type: "string" }),
      await hash({ type: "string" }),
      await hash({ type: "string", maxLength: 9 }),
    ];
    expect(short).toEqual(same);
    expect(short).not.toEqual(long);
  });

  it("leaves the agent able to prompt with another schema", async () => {
    const agent = createAgent({
      id: "a",
      model: scriptedModel("m", () => ({ content: "hello" })),
      handler: async () => {
        await expect(promptAgent(bare("tiny", isText))).rejects.toMatchObject({ name: "JsonSchemaNotFoundError" });
        return promptAgent(bare("tiny", isText), { jsonSchema: { type: "string" } });
      },
    });
    expect(await agent()).toBe("hello");
  });

  it("of a tool is rejected with the tool's name, and works with the tool's jsonSchema", async () => {
    const tool: Tool<string> = {
      name: "shout",
      description: "",
      parameters: bare("tiny", isText),
      handler: (text) => text.toUpperCase(),
    };
    await expect(ask(z.string(), ["x"], {}, [tool])).rejects.toMatchObject({
      name: "JsonSchemaNotFoundError",
      owner: 'tool "shout"',
      message: expect.stringContaining("the tool's jsonSchema") as string,
    });
    const { requestOptions } = await ask(z.string(), ["x"], {}, [{ ...tool, jsonSchema: { type: "string" } }]);
    expect(requestOptions[0]?.tools).toEqual([{ name: "shout", description: "", parameters: { type: "string" } }]);
    // A program that calls the tool directly needs none.
    expect(await runWith(() => callTool(tool, "a"))).toBe("A");
  });

  it.each([
    ["no object", "string", "jsonSchema must be an object"],
    ["a list", [object], "jsonSchema must be an object"],
    ["a function in it", { type: "object", properties: { city: () => 1 } }, "jsonSchema.properties.city is not JSON"],
  ])("rejects a JSON schema that is %s", async (_what, jsonSchema, message) => {
    const tool: Tool = {
      name: "t",
      description: "",
      parameters: bare("tiny", isText),
      jsonSchema: jsonSchema as never,
      handler: () => 1,
    };
    await expect(ask(z.string(), [], {}, [tool])).rejects.toThrow(message);
  });
});

describe("a given JSON schema", () => {
  it("replaces that of the library and does not change with the caller's object", async () => {
    const jsonSchema: Record<string, unknown> = { type: "object", description: "as given" };
    const model = scriptedModel("m", (messages) => {
      jsonSchema["description"] = "changed";
      return { content: messages.length > 0 ? '{"city":"Oslo"}' : "{}" };
    });
    const agent = createAgent({
      id: "a",
      model,
      handler: () => promptAgent(z.object({ city: z.string() }), { jsonSchema }),
    });
    await agent();
    const given = { type: "object", description: "as given" };
    expect(model.calls.map(({ options }) => options?.schema)).toEqual([given, given]);
  });
});

describe("tools", () => {
  it.each([
    ["valibot", v.object({ n: v.number() })],
    ["ArkType", type({ n: "number" })],
    ["zod", z.object({ n: z.number() })],
  ] as [string, StandardSchemaLike<{ n: number }>][])("accept parameters of %s", async (_library, parameters) => {
    const tool: Tool<{ n: number }> = {
      name: "double",
      description: "Doubles.",
      parameters,
      handler: ({ n }) => 2 * n,
    };
    const model = scriptedModel("m", (messages) => {
      const answers = messages.filter(({ role }) => role === "tool");
      if (answers.length === 0) return toolCall("c1", "double", { n: "2" });
      return answers.length === 1 ? toolCall("c2", "double", { n: 2 }) : result(answers.map(textOf).join(" | "));
    });
    const agent = createAgent({
      id: "a",
      model,
      handler: () => {
        equipTool(tool);
        return promptAgent(z.object({ result: z.string() }));
      },
    });
    const { result: answers } = await agent();
    expect(answers).toMatch(/^{"error":true,.*invalid input: n.* \| 4$/);
    expect(model.calls[0]?.options?.tools).toMatchObject([
      { name: "double", parameters: { type: "object", properties: { n: { type: "number" } }, required: ["n"] } },
    ]);
  });
});

describe("a value that is not a schema", () => {
  it.each([undefined, null, {}, { type: "string" }, "string"])(
    "is rejected before anything is sent: %o",
    async (none) => {
      const model = scriptedModel("m", () => result("ok"));
      const agent = createAgent({ id: "a", model, handler: () => promptAgent(none as never) });
      await expect(agent()).rejects.toThrow(/promptAgent: expected a schema of zod.*Standard Schema/);
      expect(model.calls).toEqual([]);
    },
  );
});
