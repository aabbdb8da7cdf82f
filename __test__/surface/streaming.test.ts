import {
  createAgent,
  equipTool,
  getAbortHandle,
  getContext,
  promptAgent,
  reborn,
  runWith,
  type ModelAdapter,
  type StreamConsumer,
} from "agent-rewind";
import { dumpSnapshot } from "agent-rewind/debugger";
import { afterEach, beforeEach, describe, expect, it, vi, type MockInstance } from "vitest";
import { z } from "zod";

import { deferred } from "../support/deferred.js";
import { answer, asking, consumer, double, streamingModel } from "../support/streaming.js";

const Result = z.object({ result: z.string() });

describe("a consumer of a live stream", () => {
  it("receives every event immediately, before the answer is complete", async () => {
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
    const onStream: StreamConsumer = (...args) => {
      seen(...args);
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

  it("receives the agent, call and turn of an event", async () => {
    const seen = consumer();
    const agent = createAgent({
      id: "a",
      model: streamingModel(asking, answer),
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

  it("can belong to the agent: it receives the answers to all its prompts, before the consumer of the prompt", async () => {
    const order: string[] = [];
    const agent = createAgent<{ round: number }>({
      id: "a",
      model: streamingModel([{ type: "text", content: '{"result":"ok"}' }]),
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

  it("is not that of the parent agent, nor of a fork with its own consumer", async () => {
    const [outer, inner, forked] = [consumer(), consumer(), consumer()];
    const child = createAgent({
      id: "child",
      model: streamingModel(answer),
      onStream: inner,
      handler: () => promptAgent(Result),
    });
    const parent = createAgent({ id: "parent", onStream: outer, handler: () => child() });
    await parent();
    await child.fork({ onStream: forked })();
    expect(outer.events).toEqual([]);
    expect(inner.events).toEqual(answer);
    expect(forked.events).toEqual(answer);
  });

  it("runs in the agent's context and can stop the agent", async () => {
    const reason = new Error("enough");
    const seen: string[] = [];
    const agent = createAgent({
      id: "a",
      model: streamingModel(answer),
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
    const model = streamingModel(
      [
        { type: "tool_call", toolCall: { index: 0, id: "c1", name: "double", arguments: '{"n":1}' } },
        { type: "extra", extra: { deep: { n: 1 } } },
      ],
      answer,
    );
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

  it("receives nothing more after its agent has ended", async () => {
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

  describe("a consumer that fails", () => {
    let warn: MockInstance<typeof console.warn>;
    beforeEach(() => {
      warn = vi.spyOn(console, "warn").mockImplementation(() => {});
    });
    afterEach(() => warn.mockRestore());

    it.each([
      [
        "throwing",
        () => {
          throw new Error("broken");
        },
      ],
      ["rejecting", () => Promise.reject(new Error("broken"))],
    ])("by %s causes one warning, and the agent continues", async (_how, onStream) => {
      const agent = createAgent({
        id: "a",
        model: streamingModel(answer),
        onStream,
        handler: () => promptAgent(Result),
      });
      expect(await agent()).toEqual({ result: "ok" });
      await new Promise((resolve) => setImmediate(resolve));
      expect(warn).toHaveBeenCalledOnce();
      expect(warn.mock.calls[0]?.[0]).toContain(`createAgent("a")'s onStream`);
    });
  });

  it("must be a function", async () => {
    const handler = () => promptAgent(Result, { onStream: {} as never });
    expect(() => createAgent({ id: "a", onStream: 1 as never, handler })).toThrow(
      'createAgent("a"): onStream must be a function',
    );
    await expect(createAgent({ id: "a", model: streamingModel(answer), handler })()).rejects.toThrow(
      "promptAgent: onStream must be a function",
    );
  });
});
