// The tools of frameworks, wrapped: journaled with their tool call ids, replayed without an execution, and otherwise the
// same tools.
import { isReplayMissError, resume, type AgentSnapshot } from "agent-rewind";
import { wrapTools } from "agent-rewind/tools";
import { tool as aiTool } from "ai";
import { StructuredTool } from "@langchain/core/tools";
import { createAgent, DynamicStructuredTool, tool as langchainTool } from "langchain";
import { ChatOpenAI } from "@langchain/openai";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { chatCompletion, json, modelServer } from "../support/model-server.js";
import { record, replayed } from "../support/recorded.js";

const city = z.object({ city: z.string() });

/** The tool calls of a recording: name and tool call id, in the order of their starts. */
function toolCalls({ root }: AgentSnapshot): [name: string, toolCallId: unknown][] {
  const calls = (root.calls ?? []).filter(({ kind }) => kind === "tool");
  return calls.map(({ callId, meta }) => [/tool:(.+):\d+$/.exec(callId)?.[1] ?? "", meta?.toolCallId]);
}

describe("tools of LangChain", () => {
  const askForTools = (...calls: object[]) => ({
    ...chatCompletion(""),
    choices: [
      { index: 0, finish_reason: "tool_calls", message: { role: "assistant", content: null, tool_calls: calls } },
    ],
  });
  const asked = (id: string, name: string, input: object) => ({
    id,
    type: "function",
    function: { name, arguments: JSON.stringify(input) },
  });

  it("are executed once, by an agent too, and keep their class", async () => {
    await using server = await modelServer(({ body }) =>
      body.includes('"role":"tool"')
        ? json(chatCompletion("done"))
        : json(askForTools(asked("call_1", "weather", { city: "Oslo" }), asked("call_2", "map", { city: "Rome" }))),
    );
    const executed: string[] = [];
    class MapTool extends StructuredTool<typeof city> {
      override name = "map";
      override description = "Draws a map";
      override schema = city;
      override responseFormat = "content_and_artifact";
      readonly #pages = new Map([["Rome", 12]]);
      protected override async _call(input: { city: string }): Promise<[string, object]> {
        executed.push(`map ${input.city}`);
        return [`page ${this.#pages.get(input.city)}`, { bytes: new Uint8Array([executed.length]) }];
      }
    }
    const weather = langchainTool(
      (input) => {
        executed.push(`weather ${input.city}`);
        return { rain: true, at: executed.length };
      },
      { name: "weather", description: "Tells the weather", schema: city, returnDirect: false, metadata: { a: 1 } },
    );
    const [wrappedWeather, wrappedMap] = wrapTools([weather, new MapTool()] as const);
    expect(wrappedWeather).toBeInstanceOf(DynamicStructuredTool);
    expect(wrappedWeather).not.toBe(weather);
    expect(wrappedWeather).toMatchObject({ name: "weather", description: "Tells the weather", metadata: { a: 1 } });
    expect(wrappedWeather.schema).toBe(weather.schema);
    expect(wrappedMap).toBeInstanceOf(MapTool);

    const model = new ChatOpenAI({ model: "m", apiKey: "none", maxRetries: 0, configuration: { baseURL: server.url } });
    const program = async () => {
      const agent = createAgent({ model, tools: [wrappedWeather, wrappedMap] });
      const { messages } = await agent.invoke({ messages: [{ role: "user", content: "hi" }] });
      return messages.map((message) => [message.type, message.content, (message as { artifact?: unknown }).artifact]);
    };
    const { value, snapshot } = await record(program);
    expect(executed.toSorted()).toEqual(["map Rome", "weather Oslo"]);
    expect(toolCalls(snapshot).toSorted()).toEqual([
      ["map", "call_2"],
      ["weather", "call_1"],
    ]);
    expect(await resume(program, { snapshot })).toEqual(value);
    expect(executed).toHaveLength(2);
  });

  it("fail as they did, and other inputs are misses", async () => {
    let executed = 0;
    const flaky = langchainTool(
      (input) => {
        executed += 1;
        throw new RangeError(`no ${input.city}`);
      },
      { name: "flaky", description: "Fails", schema: city },
    );
    const { flaky: wrapped } = wrapTools({ flaky });
    const ask = (name: string) => async () => wrapped.invoke({ city: name }).catch((error: unknown) => error);
    const { value, snapshot } = await record(ask("Oslo"));
    expect(value).toEqual(new RangeError("no Oslo"));
    expect(await replayed(ask("Oslo"), snapshot)).toMatchObject({ name: "RangeError", message: "no Oslo" });
    await expect(replayed(ask("Rome"), snapshot)).rejects.toSatisfy(isReplayMissError);
    expect(executed).toBe(1);
    // Outside of runs they are the plain tools.
    await ask("Oslo")();
    expect(executed).toBe(2);
  });
});

describe("function tools of OpenAI Agents", () => {
  const marker = Symbol("validator");
  const functionTool = (executed: string[]) => ({
    type: "function" as const,
    name: "get_weather",
    description: "Tells the weather",
    parameters: { type: "object", properties: {} },
    strict: true,
    [marker]: 1,
    needsApproval: async () => false,
    async invoke(this: { name: string }, _context: unknown, input: string, _details?: object) {
      executed.push(`${this.name} ${input}`);
      return { answer: executed.length };
    },
  });

  it("are found by the content of their input, with the id of the call", async () => {
    const executed: string[] = [];
    const tool = functionTool(executed);
    const [wrapped] = wrapTools([tool] as const);
    const { invoke, ...rest } = wrapped;
    expect(invoke).not.toBe(tool.invoke);
    expect({ ...rest, invoke: tool.invoke }).toEqual(tool);
    expect(wrapped[marker]).toBe(1);
    const program = (input: string) => () => wrapped.invoke({}, input, { toolCall: { callId: "call_9" } });
    const { value, snapshot } = await record(program('{"city":"Oslo","days":2}'));
    expect(value).toEqual({ answer: 1 });
    expect(toolCalls(snapshot)).toEqual([["get_weather", "call_9"]]);
    expect(await replayed(program('{ "days": 2, "city": "Oslo" }'), snapshot)).toEqual(value);
    expect(executed).toEqual(['get_weather {"city":"Oslo","days":2}']);
    await expect(replayed(program("not JSON"), snapshot)).rejects.toSatisfy(isReplayMissError);
  });

  it("are named by themselves, also in an object", async () => {
    const wrapped = wrapTools({ weather: functionTool([]) });
    const { snapshot } = await record(() => wrapped.weather.invoke({}, "{}"));
    expect(toolCalls(snapshot)).toEqual([["get_weather", undefined]]);
  });
});

describe("tools with execute()", () => {
  it("of the AI SDK keep getters, symbols and other members, and get their id", async () => {
    const marker = Symbol("kind");
    let read = 0;
    const tool = {
      ...aiTool({ description: "Adds", inputSchema: city, execute: async ({ city: name }) => name.length }),
      [marker]: true,
      get lazy() {
        return (read += 1);
      },
    };
    const { add } = wrapTools({ add: tool });
    expect(read).toBe(0);
    expect([add.lazy, add.lazy, add[marker], add.inputSchema === city]).toEqual([1, 2, true, true]);
    const { snapshot } = await record(async () => add.execute?.({ city: "x" }, { toolCallId: "c1", messages: [] }));
    expect(toolCalls(snapshot)).toEqual([["add", "c1"]]);
  });

  class Tool {
    readonly id: string;
    readonly inputSchema = city;
    readonly execute: (input: { city: string }, context: Context) => Promise<unknown>;
    constructor(id: string, execute: Tool["execute"]) {
      this.id = id;
      this.execute = execute;
    }
  }
  interface Context {
    readonly resumeData?: unknown;
    agent: { readonly toolCallId: string; suspend(payload: object): Promise<void> };
  }

  it("of Mastra keep their class, and suspend again", async () => {
    const suspended: object[] = [];
    const executed: unknown[] = [];
    const tool = new Tool("pay", async (input, { resumeData, agent }) => {
      executed.push(resumeData);
      return resumeData === undefined ? agent.suspend({ confirm: input.city }) : `paid ${JSON.stringify(resumeData)}`;
    });
    const { pay } = wrapTools({ pay: tool });
    expect(pay).toBeInstanceOf(Tool);
    const agent = () => ({ toolCallId: "t1", suspend: async (payload: object) => void suspended.push(payload) });
    const ask = (resumeData?: object) =>
      pay.execute({ city: "Oslo" }, resumeData === undefined ? { agent: agent() } : { agent: agent(), resumeData });
    const program = async () => [await ask(), await ask({ yes: true }), await ask({ yes: false })];
    const { value, snapshot } = await record(program);
    expect(value).toEqual([undefined, 'paid {"yes":true}', 'paid {"yes":false}']);
    expect(toolCalls(snapshot)[1]).toEqual(["pay", "t1"]);
    expect(await resume(program, { snapshot })).toEqual(value);
    // Only the suspension is executed again, because it acts on the run.
    expect(suspended).toEqual([{ confirm: "Oslo" }, { confirm: "Oslo" }]);
    expect(executed).toEqual([undefined, { yes: true }, { yes: false }, undefined]);
    await expect(replayed(program, snapshot)).rejects.toSatisfy(isReplayMissError);
  });
});

it("tools of LlamaIndex keep their private metadata", async () => {
  class FunctionTool {
    readonly #metadata = { name: "clock", description: "Tells the time" };
    calls = 0;
    call = async (): Promise<number> => (this.calls += 1);
    get metadata() {
      return this.#metadata;
    }
  }
  const tool = new FunctionTool();
  const [clock] = wrapTools([tool] as const);
  expect([clock.metadata, clock instanceof FunctionTool]).toEqual([tool.metadata, true]);
  const { snapshot } = await record(() => clock.call());
  expect(await replayed(() => clock.call(), snapshot)).toBe(1);
  expect(tool.calls).toBe(1);
});

describe("what is not wrapped", () => {
  it("is returned if the provider or the user's client executes it", () => {
    const tools = {
      confirm: aiTool({ description: "Asks the user", inputSchema: city }),
      search: { type: "provider", id: "openai.web_search", name: "web_search", args: {} },
      hosted: { type: "hosted_tool", name: "web_search", providerData: {} },
    };
    expect(wrapTools(tools)).toEqual(tools);
  });

  it.each<[string, unknown, string]>([
    [
      "a shell",
      { sh: { type: "shell", name: "sh", shell: {} } },
      'the tool "sh" must be a tool with execute() (AI SDK',
    ],
    ["a description of MCP", [{ name: "x", inputSchema: {} }], "received an object with name, inputSchema."],
    ["a chat tool", [{ type: "function", function: { name: "x" } }], "tools[0] must be a tool with execute()"],
    ["a runnable", { r: { invoke: () => 1, name: "r" } }, 'the tool "r" must be a tool'],
    ["a function", { f: () => 1 }, "received function. Use journalCall in the function"],
    ["nothing", { gone: undefined }, 'the tool "gone" must be a tool'],
    ["a tool without a name", [aiTool({ inputSchema: city, execute: () => 1 })], "pass the tools as { name: tool }"],
    ["no tools", undefined, "wrapTools: tools must be an object such as { name: tool }"],
  ])("is a TypeError: %s", (_name, tools, message) => {
    expect(() => wrapTools(tools as never)).toThrow(TypeError);
    expect(() => wrapTools(tools as never)).toThrow(message);
  });
});
