import {
  createAgent,
  equipInstruction,
  equipMemory,
  equipTool,
  journalCall,
  promptAgent,
  reborn,
  runWith,
  withCustomSpan,
  type Tool,
  type TraceEvent,
} from "agent-rewind";
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";

import { recorder } from "../support/recorder.js";
import { richRun } from "../support/rich-run.js";
import { result, scriptedModel, toolCall } from "../support/scripted-model.js";

/**
 * The own fields of each event type: the documented ones, and those added by this package, which older readers skip.
 */
const FIELDS: Record<string, { always: string; sometimes?: string; own?: string }> = {
  "runWith:start": {
    always: "config dependencies",
    sometimes: "props restoration",
    own: "propsTypes normalize budgetState memory recorder firstRun",
  },
  "runWith:end": {
    always: "config dependencies duration success metrics",
    sometimes: "props restoration result error",
    own: "memory propsTypes resultTypes normalize failedBy",
  },
  "agent:start": { always: "props maxReborns", own: "inputHash callId within propsTypes budgetState handledFailures" },
  "agent:end": {
    always: "props maxReborns duration success generationCount",
    sometimes: "result error",
    own: "inputHash callId within propsTypes resultTypes failedBy handled",
  },
  "agent:reborn": { always: "generationId", sometimes: "newProps", own: "newPropsTypes" },
  "generation:start": { always: "generationId props", own: "memory propsTypes" },
  "generation:end": {
    always: "generationId props endReason duration success memory",
    sometimes: "result error",
    own: "propsTypes resultTypes",
  },
  "promptAgent:start": { always: "generationId policyId" },
  "promptAgent:end": { always: "generationId policyId totalSteps duration success", sometimes: "result error" },
  "turn:start": {
    always: "step messages messageCount",
    sometimes: "schema toolConfig",
    own: "callId contentHash within lanes handledFailures",
  },
  "turn:end": {
    always: "step messages messageCount duration success contentHash cache",
    sometimes: "schema toolConfig message error resultType",
    own: "callId within tombstone meta lane attempts sameTick",
  },
  "model:call:start": { always: "adapterId messageCount usedTools", sometimes: "provider" },
  "model:call:end": {
    always: "adapterId messageCount usedTools rawText duration success",
    sometimes: "provider finishReason reasoning toolCalls ttft usage costs error",
  },
  "tools:execute:start": { always: "toolCallsCount toolNames", own: "handledFailures" },
  "tools:execute:end": {
    always: "toolCallsCount toolNames successCount failureCount duration success toolResults",
    sometimes: "error",
  },
  "tool:call:start": {
    always: "toolName callId journalCallId contentHash input",
    own: "within lanes handledFailures",
  },
  "tool:call:end": {
    always: "toolName callId journalCallId contentHash input duration success cache",
    sometimes: "output outputTypes tombstone error meta",
    own: "within lane attempts sameTick failedBy",
  },
  "call:start": { always: "kind name callId contentHash", own: "within attempt lanes handledFailures" },
  "call:end": {
    always: "kind name callId contentHash duration success cache",
    sometimes: "output outputTypes tombstone error meta",
    own: "within lane attempts sameTick failedBy",
  },
  "budget:update": { always: "identifiers delta aggregate own" },
  "memory:init": { always: "key value" },
  "validation:success": { always: "rawText attempt data", sometimes: "success", own: "parserId" },
  "validation:fail": { always: "rawText attempt errors", sometimes: "data success", own: "parserId" },
  "custom:span:start": { always: "name" },
  "custom:span:end": { always: "name duration success", sometimes: "error" },
};
const BASE = ["type", "agentId", "schemaVersion", "timestamp", "_seq", "trace"];
const words = (text = ""): string[] => text.split(" ").filter((word) => word !== "");

const bus = recorder();
/** A copy of each event at the time of its emission. */
const texts: string[] = [];

beforeAll(async () => {
  const sink = {
    emit(event: TraceEvent): void {
      texts.push(JSON.stringify(event));
      bus.emit(event);
    },
  };
  const rich = richRun();
  await runWith(() => withCustomSpan("whole", () => rich.run()), {
    model: rich.model,
    eventBus: sink,
    initialProps: { p: 1 },
    modelRegistry: { other: rich.model },
  });
  await runWith(() => Promise.reject(new TypeError("broken")), { eventBus: sink }).catch(() => {});
});

describe("the fields of an event", () => {
  it.each(Object.entries(FIELDS))("are as documented: %s", (type, { always, sometimes, own }) => {
    const found = bus.events.filter((event) => event.type === type);
    expect(found).not.toEqual([]);
    const allowed = new Set([...BASE, ...words(always), ...words(sometimes), ...words(own)]);
    for (const event of found) {
      for (const field of [...BASE, ...words(always)]) expect(event).toHaveProperty(field);
      expect(Object.keys(event).filter((field) => !allowed.has(field))).toEqual([]);
      const ended = event as { success?: boolean; duration?: number; error?: { name: string; message: string } };
      if ("duration" in event) expect(ended.duration).toBeGreaterThanOrEqual(0);
      if (ended.success === false && type !== "validation:fail")
        expect(ended.error).toMatchObject({
          name: expect.any(String) as unknown,
          message: expect.any(String) as unknown,
        });
      if (ended.success === true) expect(ended.error).toBeUndefined();
    }
  });

  it("are checked here for all event types of a run", () => {
    const types = new Set(bus.events.map(({ type }) => type as string));
    types.delete("replay:report");
    expect([...types].filter((type) => !(type in FIELDS))).toEqual([]);
  });

  it("are JSON and do not change after the event was emitted", () => {
    for (const [index, event] of bus.events.entries()) {
      expect(JSON.stringify(event)).toBe(texts[index]);
      expect(JSON.parse(texts[index] ?? "")).toEqual(event);
    }
  });

  it("of runWith contain its options and its usage", () => {
    const [start] = bus.of("runWith:start");
    const [end, failed] = bus.of("runWith:end");
    const about = {
      props: { p: 1 },
      config: { isProd: false, enableSnapshot: true },
      dependencies: { hasEventBus: true, hasGlobalModel: true, registeredModels: ["other"] },
    };
    expect(start).toMatchObject(about);
    expect(end).toMatchObject({
      ...about,
      success: true,
      result: { text: "<sum up <lead>>", found: { at: "1970-01-01T00:00:00.000Z" } },
      // Six model calls of 10 + 7 tokens.
      metrics: { totalPromptTokens: 60, totalCompletionTokens: 42, totalTokens: 102, costs: { microcents: 102 } },
    });
    expect(failed).toMatchObject({
      success: false,
      error: { name: "TypeError", message: "broken" },
      metrics: { totalTokens: 0, costs: {} },
    });
    expect(failed).not.toHaveProperty("result");
  });

  it("of agents and generations contain their inputs and outputs", () => {
    const leader = bus.of("agent:end").find(({ agentId }) => agentId === "leader");
    expect(leader).toMatchObject({
      props: { round: 0 },
      maxReborns: 100,
      generationCount: 2,
      success: true,
      callId: "root/agent:leader:0",
    });
    expect(leader?.result).toEqual({
      text: "<sum up <lead>>",
      checked: "upstream 503",
      found: { key: "<sum up <lead>>", at: "1970-01-01T00:00:00.000Z" },
    });
    expect(bus.of("agent:end").find(({ agentId }) => agentId === "checker")).toMatchObject({
      success: false,
      error: { name: "RangeError", message: "upstream 503", details: { code: "E_503" } },
      generationCount: 1,
    });
    const generations = bus.of("generation:end").filter(({ agentId }) => agentId === "leader");
    expect(generations).toMatchObject([
      { generationId: 0, props: { round: 0 }, endReason: "reborn", success: true, memory: { rounds: ["<lead>"] } },
      {
        generationId: 1,
        props: { round: 1 },
        endReason: "return",
        success: true,
        memory: { rounds: ["<lead>", "<sum up <lead>>"] },
      },
    ]);
    expect(bus.of("generation:start").filter(({ agentId }) => agentId === "leader")).toMatchObject([
      { memory: {} },
      { memory: { rounds: ["<lead>"] } },
    ]);
    expect(bus.of("agent:reborn")).toMatchObject([{ generationId: 0, newProps: { round: 1 } }]);
    expect(bus.of("generation:end").find(({ agentId }) => agentId === "checker")).toMatchObject({
      endReason: "error",
      success: false,
    });
  });

  it("of model calls and budgets contain the usage", () => {
    const usage = { promptTokens: 10, completionTokens: 7, totalTokens: 17 };
    const [call] = bus.of("model:call:end");
    expect(call).toMatchObject({
      adapterId: "rich",
      provider: "scripted",
      usedTools: true,
      messageCount: 2,
      rawText: "",
      finishReason: "tool_calls",
      usage,
      costs: { microcents: 17 },
    });
    expect(call?.toolCalls?.map(({ id }) => id)).toEqual(["l1", "l2", "l3"]);
    expect(call?.ttft).toBeGreaterThan(0);
    const [update] = bus.of("budget:update");
    const item = {
      type: "model",
      name: "rich",
      provider: "scripted",
      costs: { microcents: 17 },
      tokens: { prompt: 10, completion: 7, total: 17 },
    };
    const stats = { ...usage, callCount: 1, costs: { microcents: 17 }, items: [item] };
    expect(update).toMatchObject({ identifiers: ["model:scripted:rich"], delta: stats, aggregate: stats, own: stats });
  });

  it("of a batch of tools contain each call, in order", () => {
    const [batch] = bus.of("tools:execute:end");
    expect(batch).toMatchObject({
      toolCallsCount: 3,
      toolNames: ["look_up", "delegate", "broken"],
      successCount: 2,
      failureCount: 1,
      success: false,
    });
    expect(batch?.toolResults).toMatchObject([
      {
        callId: "l1",
        toolName: "look_up",
        input: { key: "x" },
        output: { key: "x", at: "1970-01-01T00:00:00.000Z" },
        outputTypes: { "/at": "date", "/missing": "undefined" },
        success: true,
        cache: false,
      },
      {
        callId: "l2",
        toolName: "delegate",
        input: { topics: ["a", "b"] },
        output: ["<write a>", "<write b>"],
        success: true,
        cache: false,
      },
      {
        callId: "l3",
        toolName: "broken",
        input: {},
        success: false,
        error: { name: "RangeError", message: "upstream 503" },
        cache: false,
      },
    ]);
    const calls = bus.of("tool:call:end").filter(({ callId }) => /^l\d$/.test(callId));
    // They end in the order of their ends, before their batch ends.
    expect(calls.map(({ callId }) => callId)).toEqual(["l3", "l1", "l2"]);
    for (const { _seq, contentHash, callId } of calls) {
      expect(_seq).toBeLessThan(batch?._seq ?? 0);
      expect(batch?.toolResults.find((each) => each.callId === callId)?.contentHash).toBe(contentHash);
    }
  });
});

describe("the values in an event", () => {
  it("are copies that the program does not share", async () => {
    const kept: string[] = [];
    const seen = recorder();
    const Answer = z.object({ result: z.string(), list: z.array(z.number()).default([1]) });
    const tool: Tool = { name: "t", description: "", parameters: z.object({}), handler: () => ({ list: [1] }) };
    const agent = createAgent<{ list: number[] }, unknown>({
      id: "changer",
      model: scriptedModel("m", (messages) =>
        messages.some(({ role }) => role === "tool") ? result("ok") : toolCall("c", "t", {}),
      ),
      handler: async (props) => {
        props.list.push(2);
        const [memory, set] = equipMemory("list", [1]);
        memory.push(2);
        set(memory);
        equipInstruction("go");
        equipTool(tool);
        const answer = await promptAgent(Answer);
        answer.list.push(2);
        const output = await journalCall({ kind: "k", name: "n", request: props }, () => ({ list: [1] }));
        output.list.push(2);
        return props.list.length < 4 ? reborn({ list: props.list }) : { answer, props };
      },
    });
    const returned = await runWith(() => agent({ list: [1] }), {
      eventBus: {
        emit(event) {
          kept.push(JSON.stringify(event));
          seen.emit(event);
        },
      },
    });
    (returned as { answer: { list: number[] } }).answer.list.length = 0;
    expect(seen.events.map((event) => JSON.stringify(event))).toEqual(kept);
  });

  it("are JSON even if the program's values are not", async () => {
    const seen = recorder();
    const agent = createAgent<{ when: Date; call: () => void }, unknown>({
      id: "typed",
      model: scriptedModel("m", () => ({ content: '{"when":"1970-01-01T00:00:00.000Z","n":"7"}' })),
      handler: async () => {
        const answer = await promptAgent(z.object({ when: z.coerce.date(), n: z.coerce.bigint() }));
        return { answer, map: new Map([[1, undefined]]) };
      },
    });
    await runWith(() => agent({ when: new Date(0), call: () => {} }), { eventBus: seen, initialProps: { big: 1n } });
    for (const event of seen.events) expect(JSON.parse(JSON.stringify(event))).toEqual(event);
    expect(seen.of("agent:start")).toMatchObject([
      { props: { when: "1970-01-01T00:00:00.000Z" }, propsTypes: { "/when": "date", "/call": "function" } },
    ]);
    expect(seen.of("validation:success")).toMatchObject([{ data: { when: "1970-01-01T00:00:00.000Z", n: "7" } }]);
    expect(seen.of("promptAgent:end")).toMatchObject([{ result: { when: "1970-01-01T00:00:00.000Z", n: "7" } }]);
    expect(seen.of("agent:end")).toMatchObject([{ resultTypes: { "/map": "map" } }]);
  });

  it("are complete, also for a subscriber that starts in the middle", async () => {
    const { createEventBus } = await import("agent-rewind");
    const late = createEventBus();
    const seen = recorder();
    const agent = createAgent<{ n: number }, unknown>({
      id: "listened",
      model: scriptedModel("m", async () => {
        late.subscribe("*", seen.emit);
        return result("ok");
      }),
      handler: () => promptAgent(z.object({ result: z.string() })),
    });
    await runWith(() => agent({ n: 1 }), { eventBus: late });
    expect(seen.of("turn:end")).toMatchObject([
      {
        step: 0,
        messages: [],
        messageCount: 0,
        contentHash: expect.stringMatching(/^[0-9a-f]{64}$/) as unknown,
        message: { role: "assistant" },
      },
    ]);
    expect(seen.of("agent:end")).toMatchObject([{ props: { n: 1 }, maxReborns: 100, callId: "root/agent:listened:0" }]);
    expect(seen.of("generation:end")).toMatchObject([{ generationId: 0, props: { n: 1 } }]);
  });
});
