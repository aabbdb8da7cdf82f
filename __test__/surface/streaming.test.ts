import {
  createAgent,
  equipInstruction,
  equipTool,
  getAbortHandle,
  getContext,
  promptAgent,
  reborn,
  runWith,
  type AgentSnapshot,
  type ModelAdapter,
  type StreamConsumer,
  type StreamEvent,
  type StreamInfo,
  type Tool,
} from "agent-rewind";
import { dumpSnapshot, parseSnapshot, stringifySnapshot } from "agent-rewind/debugger";
import { afterEach, beforeEach, describe, expect, it, vi, type MockInstance } from "vitest";
import { z } from "zod";

import { deferred } from "../support/deferred.js";

const Result = z.object({ result: z.string() });
const usage = { promptTokens: 10, completionTokens: 7, totalTokens: 17, details: { cached: 3 } };

/** A model that answers with one list of events after another. */
function streaming(...answers: StreamEvent[][]): ModelAdapter & { calls: number } {
  const model = {
    id: "m",
    calls: 0,
    async *stream(): AsyncGenerator<StreamEvent> {
      const answer = answers[model.calls] ?? answers.at(-1) ?? [];
      model.calls += 1;
      for (const event of answer) {
        yield event;
        await Promise.resolve();
      }
    },
  };
  return model;
}

const answer: StreamEvent[] = [
  { type: "reasoning", content: "Let me " },
  { type: "reasoning", content: "think." },
  { type: "text", content: '{"result":' },
  { type: "text", content: '"ok"}' },
  { type: "extra", extra: { signature: "s" } },
  { type: "usage", usage },
  { type: "finish", finishReason: "stop" },
];

const asking: StreamEvent[] = [
  { type: "tool_call", toolCall: { index: 0, id: "c1", name: "double" } },
  { type: "tool_call", toolCall: { index: 0, arguments: '{"n":' } },
  { type: "tool_call", toolCall: { index: 0, arguments: "2}" } },
  { type: "tool_call", toolCall: { index: 1, id: "c2", name: "double", arguments: '{"n":3}', extra: { k: 1 } } },
  { type: "finish", finishReason: "tool_calls", usage },
];

const double: Tool<{ n: number }> = {
  name: "double",
  description: "",
  parameters: z.object({ n: z.number() }),
  handler: ({ n }) => 2 * n,
};

/** A consumer that keeps what it is given. */
function consumer(): StreamConsumer & { events: StreamEvent[]; infos: StreamInfo[] } {
  const events: StreamEvent[] = [];
  const infos: StreamInfo[] = [];
  return Object.assign(
    (event: StreamEvent, info: StreamInfo) => {
      events.push(event);
      infos.push(info);
    },
    { events, infos },
  );
}

/** What a consumer makes of a stream: all pieces of a kind put together. */
function assembled(events: readonly StreamEvent[]): object {
  const of = <T extends StreamEvent["type"]>(type: T): Extract<StreamEvent, { type: T }>[] =>
    events.filter((event): event is Extract<StreamEvent, { type: T }> => event.type === type);
  const toolCalls: { id: string; name: string; arguments: string }[] = [];
  for (const { toolCall } of of("tool_call")) {
    const call = (toolCalls[toolCall.index] ??= { id: "", name: "", arguments: "" });
    call.id ||= toolCall.id ?? "";
    call.name ||= toolCall.name ?? "";
    call.arguments += toolCall.arguments ?? "";
  }
  return {
    text: of("text").map(({ content }) => content).join(""),
    reasoning: of("reasoning").map(({ content }) => content).join(""),
    toolCalls,
    extra: of("extra").map(({ extra }) => extra),
    ends: events.filter(({ type }) => type === "usage" || type === "finish"),
  };
}

/** Records a run of an agent with a consumer, and gives its snapshot as a handle and as data. */
async function recorded(model: ModelAdapter, tools: readonly Tool[] = []) {
  const live = consumer();
  const program = (onStream: StreamConsumer) => async (): Promise<AgentSnapshot> => {
    const agent = createAgent({
      id: "a",
      model,
      handler: () => {
        for (const tool of tools) equipTool(tool);
        return promptAgent(Result, { onStream });
      },
    });
    await agent();
    return dumpSnapshot();
  };
  const snapshot = await runWith(program(live));
  const data = JSON.parse(stringifySnapshot(snapshot)) as AgentSnapshot;
  return { live, program, snapshots: [snapshot, parseSnapshot(stringifySnapshot(snapshot)), data] };
}

describe("a consumer of a live stream", () => {
  it("gets every event as it comes, before the answer is complete", async () => {
    const gate = deferred();
    const model: ModelAdapter = {
      id: "m",
      async *stream() {
        yield { type: "text", content: '{"result":' };
        await gate.promise;
        yield { type: "text", content: '"ok"}' };
      },
    };
    const seen = consumer();
    const first = deferred();
    const onStream: StreamConsumer = (...told) => {
      seen(...told);
      first.resolve();
    };
    const agent = createAgent({ id: "a", model, handler: () => promptAgent(Result, { onStream }) });
    const running = agent();
    await first.promise;
    expect(seen.events).toEqual([{ type: "text", content: '{"result":' }]);
    gate.resolve();
    expect(await running).toEqual({ result: "ok" });
    expect(seen.events).toHaveLength(2);
  });

  it("is told which agent, call and turn an event is of", async () => {
    const seen = consumer();
    const agent = createAgent({
      id: "a",
      model: streaming(asking, answer),
      handler: () => {
        equipTool(double);
        return promptAgent(Result, { onStream: seen });
      },
    });
    await runWith(() => agent());
    expect(seen.events).toEqual([...asking, ...answer]);
    const about = { agentId: "a", replayed: false };
    expect(new Set(seen.infos.map((info) => JSON.stringify(info)))).toEqual(
      new Set([
        JSON.stringify({ agentId: "a", callId: "root/agent:a:0/prompt:m:0", step: 0, replayed: false }),
        JSON.stringify({ agentId: "a", callId: "root/agent:a:0/prompt:m:1", step: 1, replayed: false }),
      ]),
    );
    expect(seen.infos[0]).toMatchObject(about);
  });

  it("may be the agent's, which gets the answers to all its prompts, before that of the prompt", async () => {
    const order: string[] = [];
    const agent = createAgent<{ round: number }>({
      id: "a",
      model: streaming([{ type: "text", content: '{"result":"ok"}' }]),
      onStream: (_event, { callId }) => order.push(`agent ${callId}`),
      handler: async ({ round }) => {
        await promptAgent(Result, { onStream: () => order.push("prompt") });
        return round < 2 ? reborn({ round: round + 1 }) : "done";
      },
    });
    await runWith(() => agent({ round: 1 }));
    const callId = "root/agent:a:0/prompt:m:0";
    expect(order).toEqual([`agent ${callId}`, "prompt", `agent ${callId}`, "prompt"]);
  });

  it("is not that of the agent above, nor of a fork that has its own", async () => {
    const [outer, inner, forked] = [consumer(), consumer(), consumer()];
    const child = createAgent({ id: "child", model: streaming(answer), onStream: inner, handler: () => promptAgent(Result) });
    const parent = createAgent({ id: "parent", onStream: outer, handler: () => child() });
    await parent();
    await child.fork({ onStream: forked })();
    expect(outer.events).toEqual([]);
    expect(inner.events).toEqual(answer);
    expect(forked.events).toEqual(answer);
  });

  it("runs in the agent's context, and can stop it", async () => {
    const reason = new Error("enough");
    const seen: string[] = [];
    const agent = createAgent({
      id: "a",
      model: streaming(answer),
      handler: () =>
        promptAgent(Result, {
          onStream: ({ type }) => {
            expect(getContext()?.agentId).toBe("a");
            seen.push(type);
            getAbortHandle().abort(reason);
          },
        }),
    });
    await runWith(async () => {
      await expect(agent()).rejects.toMatchObject({ name: "AbortError", reason });
    });
    expect(seen).toEqual(["reasoning"]);
  });

  it("cannot change the answer", async () => {
    const model = streaming([
      { type: "tool_call", toolCall: { index: 0, id: "c1", name: "double", arguments: '{"n":1}' } },
      { type: "extra", extra: { deep: { n: 1 } } },
    ], answer);
    const agent = createAgent({
      id: "a",
      model,
      handler: () => {
        equipTool(double);
        return promptAgent(Result, {
          onStream: (event) => {
            if (event.type === "text") event.content = "spoiled";
            if (event.type === "tool_call") event.toolCall.name = "spoiled";
            if (event.type === "extra") event.extra["deep"] = "spoiled";
          },
        });
      },
    });
    const snapshot = await runWith(async () => {
      expect(await agent()).toEqual({ result: "ok" });
      return dumpSnapshot();
    });
    const rows = Object.values(snapshot.root.children["root/agent:a:0"]?.journal.prompt ?? {});
    expect(rows[0]?.output).toMatchObject({ tool_calls: [{ name: "double" }], extra: { deep: { n: 1 } } });
  });

  it("gets nothing more once its agent has ended", async () => {
    const [gate, started] = [deferred(), deferred()];
    const seen = consumer();
    const slow: ModelAdapter = {
      id: "m",
      async *stream() {
        yield { type: "text", content: "a" };
        started.resolve();
        await gate.promise;
        yield { type: "text", content: "b" };
      },
    };
    const child = createAgent({ id: "child", model: slow, handler: () => promptAgent(z.string(), { onStream: seen }) });
    const parent = createAgent({
      id: "parent",
      handler: async () => {
        void child().catch(() => {});
        await started.promise;
      },
    });
    await parent();
    gate.resolve();
    await new Promise((resolve) => setImmediate(resolve));
    expect(seen.events).toEqual([{ type: "text", content: "a" }]);
  });

  describe("that fails", () => {
    let warn: MockInstance<typeof console.warn>;
    beforeEach(() => {
      warn = vi.spyOn(console, "warn").mockImplementation(() => {});
    });
    afterEach(() => warn.mockRestore());

    it.each([
      ["throwing", () => { throw new Error("broken"); }],
      ["rejecting", () => Promise.reject(new Error("broken"))],
    ])("by %s is warned of once, and the agent goes on", async (_how, onStream) => {
      const agent = createAgent({ id: "a", model: streaming(answer), onStream, handler: () => promptAgent(Result) });
      expect(await agent()).toEqual({ result: "ok" });
      await new Promise((resolve) => setImmediate(resolve));
      expect(warn).toHaveBeenCalledOnce();
      expect(warn.mock.calls[0]?.[0]).toContain(`createAgent("a")'s onStream`);
    });
  });

  it("must be a function", async () => {
    const handler = () => promptAgent(Result, { onStream: {} as never });
    expect(() => createAgent({ id: "a", onStream: 1 as never, handler })).toThrow('createAgent("a"): onStream must be a function');
    await expect(createAgent({ id: "a", model: streaming(answer), handler })()).rejects.toThrow("promptAgent: onStream must be a function");
  });
});

describe("a consumer of a replayed stream", () => {
  it("gets text, reasoning, tool calls, usage and finish reason as they came live, and the model is not called", async () => {
    const model = streaming(asking, answer);
    const { live, program, snapshots } = await recorded(model, [double]);
    for (const snapshot of snapshots) {
      const replayed = consumer();
      await runWith(program(replayed), { snapshot });
      expect(model.calls).toBe(2);
      expect(assembled(replayed.events)).toEqual(assembled(live.events));
      expect(replayed.infos.map(({ replayed: was }) => was)).toEqual(replayed.events.map(() => true));
      expect(new Set(replayed.infos.map(({ callId }) => callId))).toEqual(new Set(live.infos.map(({ callId }) => callId)));
      expect(replayed.events.map(({ type }) => type)).toEqual([
        ...["tool_call", "tool_call", "finish"],
        ...["reasoning", "text", "extra", "usage", "finish"],
      ]);
    }
  });

  it("gets no usage and no finish where there were none", async () => {
    const model = streaming([{ type: "text", content: '{"result":"ok"}' }]);
    const { program, snapshots } = await recorded(model);
    const replayed = consumer();
    await runWith(program(replayed), { snapshot: snapshots[0] as AgentSnapshot });
    expect(replayed.events).toEqual([{ type: "text", content: '{"result":"ok"}' }]);
  });

  it("gets the same from a replay of a replay", async () => {
    const { live, program, snapshots } = await recorded(streaming(answer));
    const again = await runWith(program(consumer()), { snapshot: snapshots[0] as AgentSnapshot });
    const replayed = consumer();
    await runWith(program(replayed), { snapshot: parseSnapshot(stringifySnapshot(again)) });
    expect(assembled(replayed.events)).toEqual(assembled(live.events));
  });

  it("gets the recorded answers first and then what comes live", async () => {
    const model = streaming(answer);
    const ask = (text: string, onStream: StreamConsumer) =>
      createAgent({
        id: text,
        model,
        handler: () => {
          equipInstruction(text);
          return promptAgent(Result, { onStream });
        },
      })();
    const snapshot = await runWith(async () => {
      await ask("first", consumer());
      return dumpSnapshot();
    });
    const seen = consumer();
    await runWith(
      async () => {
        await ask("first", seen);
        await ask("second", seen);
      },
      { snapshot },
    );
    const lengths = [true, false].map((was) => seen.infos.filter(({ replayed }) => replayed === was).length);
    expect(lengths).toEqual([5, answer.length]);
  });

  it("gets the message alone from a recording that has nothing beside it", async () => {
    const { program, snapshots } = await recorded(streaming(answer));
    const old = structuredClone(snapshots[2]) as AgentSnapshot;
    delete old.root.children["root/agent:a:0"]?.calls;
    const replayed = consumer();
    await runWith(program(replayed), { snapshot: old });
    expect(replayed.events.map(({ type }) => type)).toEqual(["reasoning", "text", "extra"]);
  });
});

describe("what is recorded of a stream", () => {
  it("stands beside the journal's rows, which stay as they are documented, and in the turn's event", async () => {
    const { snapshots } = await recorded(streaming(answer));
    const frame = (snapshots[2] as AgentSnapshot).root.children["root/agent:a:0"];
    const [row] = Object.values(frame?.journal.prompt ?? {});
    expect(Object.keys(row ?? {})).toEqual(["output", "contentHash"]);
    expect(row?.output).toEqual({
      role: "assistant",
      content: '{"result":"ok"}',
      reasoning_content: "Let me think.",
      extra: { signature: "s" },
    });
    expect(frame?.calls).toMatchObject([{ row: true, meta: { usage, finishReason: "stop", durationMs: expect.any(Number) as number } }]);
  });

  it("may be a usage that JSON cannot hold: it is left out, and the answer is not lost", async () => {
    const odd = { ...usage, details: { bytes: 10n, self: {} as unknown } };
    odd.details.self = odd.details;
    const model = streaming([{ type: "text", content: '{"result":"ok"}' }, { type: "finish", finishReason: "stop", usage: odd }]);
    const { program, snapshots } = await recorded(model);
    const replayed = consumer();
    await runWith(program(replayed), { snapshot: snapshots[0] as AgentSnapshot });
    expect(replayed.events.at(-1)).toEqual({ type: "finish", finishReason: "stop" });
    expect(model.calls).toBe(1);
  });
});
