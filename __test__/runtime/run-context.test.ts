import type { AsyncLocalStorage } from "node:async_hooks";
import { createRequire } from "node:module";

import * as esm from "agent-rewind";
import {
  captureContext,
  createAgent,
  equipInstruction,
  equipMemory,
  getContext,
  isContextNotFoundError,
  journalCall,
  promptAgent,
  runWith,
  type Context,
} from "agent-rewind";
import { dumpSnapshot } from "agent-rewind/debugger";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { sleep } from "../support/deferred.js";
import { recorder } from "../support/recorder.js";
import { result, scriptedModel } from "../support/scripted-model.js";

const storage = (globalThis as unknown as Record<symbol, AsyncLocalStorage<Context>>)[
  Symbol.for("agent-rewind/context@1")
] as AsyncLocalStorage<Context>;

/** Calls a function from code that has lost the context, such as native callbacks and foreign queues. */
const lost = <R>(fn: () => R): R => storage.exit(fn);

const step = (name: string, context?: Context): Promise<string> =>
  journalCall(
    { kind: "step", name, request: name, ...(context === undefined ? {} : { context }) },
    () => `did ${name}`,
  );

describe("the run context", () => {
  it("describes the current position in the run", async () => {
    const bus = recorder();
    const inner = createAgent({
      id: "inner",
      handler: () => {
        equipMemory("k", [1]);
        const context = captureContext();
        expect(context).toMatchObject({
          callId: "root/agent:outer:0/agent:inner:0",
          agentId: "inner",
          depth: 2,
          enableSnapshot: true,
        });
        expect(context.memory).toEqual(new Map([["k", [1]]]));
        expect(context.signal).toBeInstanceOf(AbortSignal);
        return context;
      },
    });
    const outer = createAgent({ id: "outer", handler: async () => [getContext(), await inner()] });
    await runWith(
      async () => {
        const run = captureContext();
        expect(run).toMatchObject({ callId: "root", agentId: "", depth: 0, enableSnapshot: true, memory: new Map() });
        const [outerContext, innerContext] = (await outer()) as [Context, Context];
        expect(outerContext).toMatchObject({
          callId: "root/agent:outer:0",
          agentId: "outer",
          depth: 1,
          memory: new Map(),
        });
        expect(new Set([run, outerContext, innerContext].map(({ signal }) => signal)).size).toBe(3);
        expect(new Set([run, outerContext, innerContext].map(({ trace }) => trace.traceId)).size).toBe(1);
        const generations = bus.of("generation:start").map(({ trace }) => trace.spanId);
        expect([run, outerContext, innerContext].map(({ trace }) => trace.spanId)).toEqual([
          bus.events[0]?.trace.spanId,
          ...generations,
        ]);
        expect(getContext()).toBe(run);
      },
      { eventBus: bus },
    );
  });

  it("is undefined outside of runs, where captureContext throws", () => {
    expect(getContext()).toBeUndefined();
    try {
      captureContext();
      expect.unreachable();
    } catch (error) {
      expect(isContextNotFoundError(error)).toBe(true);
      expect(error).toMatchObject({ apiName: "captureContext" });
    }
  });

  it("runs code in the frame where it was captured, wherever it is called", async () => {
    const contexts: Context[] = [];
    const agent = createAgent<{ n: number }, void>({ id: "a", handler: () => void contexts.push(captureContext()) });
    await runWith(async () => {
      await agent({ n: 1 });
      await agent({ n: 2 });
      expect(contexts.map((context) => context.run(() => getContext()?.callId))).toEqual([
        "root/agent:a:0",
        "root/agent:a:1",
      ]);
      expect(getContext()?.callId).toBe("root");
    });
    expect(contexts[0]?.run(() => getContext())).toBe(contexts[0]);
    expect(getContext()).toBeUndefined();
  });

  it("passes results and errors of its functions through", async () => {
    await runWith(() => {
      const context = captureContext();
      const add = context.bind((a: number, b: number) => a + b);
      expect(add(1, 2)).toBe(3);
      const error = new Error("e");
      expect(() =>
        context.run(() => {
          throw error;
        }),
      ).toThrow(error);
    });
  });
});

describe("the run context is found again", () => {
  it("in a ReadableStream that is read elsewhere", async () => {
    const agent = createAgent({
      id: "streamer",
      handler: () => {
        const context = captureContext();
        let left = 2;
        return new ReadableStream<string>(
          {
            pull: (controller) => {
              if (left-- === 0) return controller.close();
              return context.run(async () => controller.enqueue(await step(`pull ${left}`)));
            },
          },
          { highWaterMark: 0 },
        );
      },
    });
    await runWith(async () => {
      const keeper = createAgent({
        id: "keeper",
        handler: async () => {
          const context = captureContext();
          const stream = new ReadableStream<string>(
            { pull: context.bind(async (controller) => (controller.enqueue(await step("pull")), controller.close())) },
            { highWaterMark: 0 },
          );
          return lost(() => stream.getReader().read());
        },
      });
      expect(await keeper()).toEqual({ done: false, value: "did pull" });
      expect(
        Object.keys(dumpSnapshot().root.children["root/agent:keeper:0"]?.journal.other?.["step"] ?? {}),
      ).toHaveLength(1);
      // Read after its agent has ended.
      const reader = ((await agent()) as ReadableStream<string>).getReader();
      expect([await lost(() => reader.read()), await lost(() => reader.read())]).toMatchObject([
        { value: "did pull 1" },
        { value: "did pull 0" },
      ]);
      expect(dumpSnapshot().root.children["root/agent:streamer:0"]?.calls?.map(({ callId }) => callId)).toEqual([
        "root/agent:streamer:0/step:pull 1:0",
        "root/agent:streamer:0/step:pull 0:0",
      ]);
    });
  });

  it("in an async generator that is iterated elsewhere", async () => {
    const agent = createAgent({
      id: "generating",
      handler: async () => {
        const context = captureContext();
        async function* generate(): AsyncGenerator<string> {
          for (const name of ["one", "two"]) yield await context.run(() => step(name));
        }
        const iterator = generate();
        const seen: string[] = [];
        await lost(async () => {
          expect(getContext()).toBeUndefined();
          for await (const each of iterator) seen.push(each);
        });
        return { seen, calls: dumpSnapshot().root.children["root/agent:generating:0"]?.calls?.length };
      },
    });
    expect(await runWith(() => agent())).toEqual({ seen: ["did one", "did two"], calls: 2 });
  });

  it("in callbacks of foreign code", async () => {
    const agent = createAgent({
      id: "called-back",
      handler: async () => {
        const context = captureContext();
        const inCallback = (callback: () => unknown): Promise<unknown> =>
          new Promise((resolve) => lost(() => setTimeout(() => resolve(callback()), 1)));
        return [
          await inCallback(() => getContext()?.callId),
          await inCallback(context.bind(() => getContext()?.callId)),
          await inCallback(context.bind(() => step("late"))),
        ];
      },
    });
    expect(await runWith(() => agent())).toEqual([undefined, "root/agent:called-back:0", "did late"]);
  });
});

describe("an explicit context", () => {
  it("is the frame where journalCall records, also from outside the run", async () => {
    await runWith(async () => {
      const contexts: Context[] = [];
      const waiting = createAgent({
        id: "waiting",
        handler: async () => {
          contexts.push(captureContext());
          expect(await lost(() => step("outside", contexts[0]))).toBe("did outside");
          const snapshot = dumpSnapshot();
          return snapshot.root.children["root/agent:waiting:0"]?.calls?.map(({ callId }) => callId);
        },
      });
      expect(await waiting()).toEqual(["root/agent:waiting:0/step:outside:0"]);
      await expect(lost(() => step("nowhere"))).rejects.toSatisfy(isContextNotFoundError);
    });
  });

  it("is the context in which the call runs", async () => {
    await runWith(async () => {
      const context = captureContext();
      const inside = await lost(() =>
        journalCall({ kind: "step", name: "s", request: 1, context }, () => getContext()?.callId),
      );
      expect(inside).toBe("root");
    });
  });

  it("is the run that dumpSnapshot dumps, also from outside the run", async () => {
    await runWith(async () => {
      const context = captureContext();
      await step("a");
      const snapshot = lost(() => dumpSnapshot({ context, metadata: { from: "outside" } }));
      expect(snapshot.root.calls).toHaveLength(1);
      expect(snapshot.metadata).toEqual({ from: "outside" });
      expect(() => lost(() => dumpSnapshot())).toThrow(/dumpSnapshot\(\)/);
    });
  });
});

describe("the ESM and the CommonJS copy of the package in one process", () => {
  const require = createRequire(import.meta.url);
  const cjs = require("agent-rewind") as typeof esm;
  const cjsDebugger = require("agent-rewind/debugger") as typeof import("agent-rewind/debugger");

  it("are two copies", () => {
    expect(cjs.runWith).not.toBe(esm.runWith);
    expect(cjs.RewindError).not.toBe(esm.RewindError);
  });

  it.each([
    ["ESM around CommonJS", esm, cjs],
    ["CommonJS around ESM", cjs, esm],
  ])("share the context: %s", async (_how, outer, inner) => {
    const bus = recorder();
    const liveCalls: string[] = [];
    const model = scriptedModel("m", () => (liveCalls.push("model"), result("ok")));
    const sub = inner.createAgent({
      id: "sub",
      handler: async () => {
        const [, set] = outer.equipMemory("n", 1);
        set(2);
        outer.equipInstruction("from the other copy");
        return inner.promptAgent(z.object({ result: z.string() }));
      },
    });
    const again = outer.createAgent<{ n: number }, unknown>({
      id: "again",
      handler: ({ n }) => (n === 0 ? inner.reborn({ n: 1 }) : sub()),
    });
    const program = async () => {
      expect(inner.getContext()?.callId).toBe("root");
      await expect(inner.runWith(() => 1)).rejects.toSatisfy(outer.isNestedRunError);
      const value = await again({ n: 0 });
      return { value, dumps: [dumpSnapshot(), cjsDebugger.dumpSnapshot()] };
    };
    const { value, dumps } = await outer.runWith(program, { model, eventBus: bus });
    expect(value).toEqual({ result: "ok" });
    expect(JSON.parse(JSON.stringify(dumps[0]?.root))).toEqual(JSON.parse(JSON.stringify(dumps[1]?.root)));
    expect(bus.of("agent:start").map(({ callId }) => callId)).toEqual([
      "root/agent:again:0",
      "root/agent:again:0/agent:sub:0",
    ]);
    for (const snapshot of dumps) {
      liveCalls.length = 0;
      for (const each of [outer, inner])
        expect(await each.runWith(() => again({ n: 0 }), { model, snapshot })).toEqual({ result: "ok" });
      expect(liveCalls).toEqual([]);
    }
  });

  it.each([
    ["ESM around CommonJS", esm, cjs],
    ["CommonJS around ESM", cjs, esm],
  ])("abort each other's agents: %s", async (_how, outer, inner) => {
    const rejections: Promise<unknown>[] = [];
    const deaf = inner.createAgent({ id: "deaf", handler: () => sleep(3) });
    const hasty = outer.createAgent({
      id: "hasty",
      handler: () => void rejections.push(deaf().catch((error: unknown) => error)),
    });
    await outer.runWith(() => hasty());
    const error = (await rejections[0]) as Error;
    expect([inner.isAbortError(error), outer.isAbortError(error)]).toEqual([true, true]);
    expect(error.message).toBe('Operation aborted: its parent agent "hasty" ended before this agent did');
  });

  it("recognize each other's errors", async () => {
    await expect(cjs.promptAgent(z.string())).rejects.toSatisfy(esm.isContextNotFoundError);
    const error = await esm
      .runWith(() => cjs.createAgent({ id: "a", handler: () => cjs.promptAgent(z.string()) })())
      .catch((thrown: unknown) => thrown);
    expect(esm.isModelNotFoundError(error)).toBe(true);
    expect(cjs.isModelNotFoundError(error)).toBe(true);
  });

  it("share the global event bus", async () => {
    const seen = recorder();
    const unsubscribe = cjs.getGlobalEventBus().subscribe("*", seen.emit);
    await esm.createAgent({ id: "a", handler: () => 1 })();
    unsubscribe();
    expect(seen.of("agent:end")).toHaveLength(1);
  });

  it("use the same model for one prompt, equipped by either copy", async () => {
    const model = scriptedModel("m", () => result("ok"));
    await cjs.runWith(
      async () => {
        equipInstruction("esm");
        cjs.equipInstruction("cjs");
        await promptAgent(z.object({ result: z.string() }));
        expect(() => cjs.equipInstruction("late")).toThrow(/equipInstruction\(\) was called after promptAgent/);
      },
      { model },
    );
    expect(model.calls[0]?.messages.map(({ content }) => content)).toEqual([
      [{ type: "text", text: "esm" }],
      [{ type: "text", text: "cjs" }],
    ]);
  });
});
