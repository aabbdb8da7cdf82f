import {
  callTool,
  createAgent,
  equipMemory,
  getContext,
  journalCall,
  isMaxDepthExceededError,
  isNestedRunError,
  MaxDepthExceededError,
  runWith,
  type Agent,
  type Context,
  type Tool,
  type TraceEvent,
} from "agent-rewind";
import { dumpSnapshot, restoreSnapshot } from "agent-rewind/debugger";
import { describe, expect, it, vi } from "vitest";
import { z } from "zod";

import { sleep } from "../support/deferred.js";
import { recorder } from "../support/recorder.js";

function here(): Context {
  const context = getContext();
  if (context === undefined) throw new Error("no context");
  return context;
}

const whereAmI = createAgent<undefined, string>({ id: "leaf", handler: () => here().callId });

describe("an agent outside of runWith", () => {
  const solo = createAgent<{ n: number }, unknown>({
    id: "solo",
    handler: async ({ n }) => {
      const { callId, agentId, depth, trace } = here();
      return { n, callId, agentId, depth, traceId: trace.traceId, snapshot: dumpSnapshot(), leaf: await whereAmI() };
    },
  });

  it("is its own run, with its frame as the root", async () => {
    const result = (await solo({ n: 1 })) as Record<string, never>;
    expect(result).toMatchObject({
      n: 1,
      callId: "root/agent:solo:0",
      agentId: "solo",
      depth: 1,
      leaf: "root/agent:solo:0/agent:leaf:0",
      snapshot: {
        processId: result["traceId"],
        provenance: { traceId: result["traceId"], source: "dump" },
        root: { callId: "root/agent:solo:0", agentId: "solo", children: {}, state: { status: "running" } },
      },
    });
    expect(getContext()).toBeUndefined();
  });

  it("starts a new run at each call", async () => {
    const [first, second] = (await Promise.all([solo({ n: 1 }), solo({ n: 2 })])) as {
      traceId: string;
      callId: string;
    }[];
    expect(first?.traceId).toMatch(/^[0-9a-f]{32}$/);
    expect(second?.traceId).not.toBe(first?.traceId);
    expect(second?.callId).toBe(first?.callId);
  });
});

describe("sub-agents", () => {
  it("are numbered per id under the calling frame", async () => {
    const other = createAgent({ id: "other", handler: () => here().callId });
    const parent = createAgent({
      id: "parent",
      handler: async () => [await whereAmI(), ...(await Promise.all([other(), whereAmI()])), here().callId],
    });
    const run = await runWith(async () => [...((await parent()) as string[]), ...((await parent()) as string[])]);
    expect(run).toEqual(
      [0, 1].flatMap((seq) => [
        `root/agent:parent:${seq}/agent:leaf:0`,
        `root/agent:parent:${seq}/agent:other:0`,
        `root/agent:parent:${seq}/agent:leaf:1`,
        `root/agent:parent:${seq}`,
      ]),
    );
  });

  it("are found in the dump by their callIds, whatever characters their id has", async () => {
    const ids = ['a "quoted" one', "with/slash:and:colon", "naïve 😀", "\ud83d", "__proto__"];
    const snapshot = await runWith(async () => {
      for (const id of ids) await createAgent({ id, handler: () => id })();
      return dumpSnapshot();
    });
    const frames = Object.entries(snapshot.root.children);
    expect(frames.map(([key, frame]) => [key, frame.callId, frame.agentId, frame.state.output])).toEqual(
      ids.map((id) => [`root/agent:${id}:0`, `root/agent:${id}:0`, id, id]),
    );
  });

  it("receive their props and return their result by reference", async () => {
    const props = { map: new Map([[1, () => 2]]) };
    const identity = createAgent<typeof props, typeof props>({ id: "identity", handler: (given) => given });
    expect(await identity(props)).toBe(props);
    expect(await runWith(() => identity(props))).toBe(props);
    const seen = createAgent({ id: "seen", handler: (given) => given === undefined });
    expect(await seen()).toBe(true);
  });

  it.each([
    ["an error", new TypeError("broken")],
    ["a string", "broken"],
    ["undefined", undefined],
    ["a frozen object", Object.freeze({ code: 7 })],
  ])("pass on %s exactly as thrown", async (_what, thrown) => {
    const thrower = createAgent({
      id: "thrower",
      handler: () => {
        throw thrown;
      },
    });
    const parent = createAgent({ id: "parent", handler: () => thrower() });
    const caught = async (run: () => Promise<unknown>): Promise<unknown> =>
      run().then(
        () => "nothing",
        (error: unknown) => error,
      );
    expect(await caught(() => parent())).toBe(thrown);
    expect(await caught(() => runWith(() => parent()))).toBe(thrown);
  });

  it("can fail without failing their parent", async () => {
    const thrower = createAgent({ id: "thrower", handler: () => Promise.reject(new Error("no")) });
    await runWith(async () => {
      await thrower().catch(() => {});
      const frame = dumpSnapshot().root.children["root/agent:thrower:0"];
      expect(frame?.state).toMatchObject({ status: "failed", error: { name: "Error", message: "no" } });
    });
  });
});

describe("createAgent", () => {
  it("returns a function with a read-only id, which can be forked", async () => {
    const agent = createAgent<number, number>({ id: "double", handler: (n) => 2 * n });
    expect(agent.id).toBe("double");
    expect(() => Object.assign(agent, { id: "other" })).toThrow(TypeError);
    const triple = agent.fork({ id: "triple", handler: (n) => 3 * n });
    expect([triple.id, await triple(2), await agent(2)]).toEqual(["triple", 6, 4]);
    expect(await agent.fork({})(4)).toBe(8);
  });

  it.each([
    [{ id: "" }, TypeError, /config\.id/],
    [{ id: 7 }, TypeError, /config\.id/],
    [{ handler: undefined }, TypeError, /config\.handler/],
    [{ maxRetries: -1 }, RangeError, /config\.maxRetries/],
    [{ maxTurnSteps: Number.NaN }, RangeError, /config\.maxTurnSteps/],
    [{ maxReborns: "3" }, RangeError, /config\.maxReborns/],
  ])("rejects %o and names the field", (wrong, errorClass, message) => {
    const make = (): unknown => createAgent({ id: "a", handler: () => {}, ...wrong } as never);
    expect(make).toThrow(errorClass);
    expect(make).toThrow(message);
  });

  it("wraps middlewares around the handler, the first outermost", async () => {
    const log: unknown[] = [];
    const layer = (name: string) => ({
      name,
      handler: async (context: { agentId: string; props: unknown }, next: () => Promise<unknown>) => {
        log.push([name, context.agentId, context.props]);
        const result = (await next()) as string;
        log.push(`${name} ends`);
        return `${name}(${result})`;
      },
    });
    const agent = createAgent<{ x: number }, string>({
      id: "layered",
      middlewares: [layer("outer"), layer("inner")],
      handler: ({ x }) => {
        log.push("handler");
        return `x=${x}`;
      },
    });
    expect(await agent({ x: 1 })).toBe("outer(inner(x=1))");
    expect(log).toEqual([
      ["outer", "layered", { x: 1 }],
      ["inner", "layered", { x: 1 }],
      "handler",
      "inner ends",
      "outer ends",
    ]);
    const cut = agent.fork({ middlewares: [{ name: "cut", handler: async () => "instead" }, layer("inner")] });
    expect(await cut({ x: 1 })).toBe("instead");
  });
});

describe("nesting of agents", () => {
  const descend: Agent<{ left: number }, number> = createAgent({
    id: "descend",
    handler: async ({ left }) => (left === 0 ? here().depth : descend({ left: left - 1 })),
  });

  it("is limited to a depth of 50 by default", async () => {
    expect(await runWith(() => descend({ left: 49 }))).toBe(50);
    expect(await descend({ left: 49 })).toBe(50);
    for (const run of [() => runWith(() => descend({ left: 50 })), () => descend({ left: 50 })]) {
      const error = await run().catch((thrown: unknown) => thrown);
      expect(isMaxDepthExceededError(error)).toBe(true);
      expect(error).toBeInstanceOf(MaxDepthExceededError);
      expect(error).toMatchObject({ maxDepth: 50, agentId: "descend" });
    }
  });

  it("is limited by the maxDepth option of runWith", async () => {
    expect(await runWith(() => descend({ left: 2 }), { maxDepth: 3 })).toBe(3);
    await expect(runWith(() => descend({ left: 3 }), { maxDepth: 3 })).rejects.toThrow(MaxDepthExceededError);
    expect(await runWith(() => descend({ left: 119 }), { maxDepth: 120 })).toBe(120);
  });

  it("leaves the calling agent able to continue after the limit was exceeded", async () => {
    const careful = createAgent({ id: "careful", handler: () => descend({ left: 0 }).catch(() => "caught") });
    expect(await runWith(() => careful(), { maxDepth: 1 })).toBe("caught");
  });
});

describe("runWith", () => {
  it("passes initialProps to the function and returns its result", async () => {
    const props = { a: 1 };
    const fn = (given: unknown): Promise<unknown> => Promise.resolve(given);
    expect(await runWith(fn, { initialProps: props })).toBe(props);
    expect(await runWith(fn)).toBeUndefined();
    expect(await runWith(() => "no promise")).toBe("no promise");
  });

  it("passes the recorded props to a replay without initialProps", async () => {
    const bus = recorder();
    const initialProps = { when: new Date(0), n: 1 };
    const program = async (props: unknown) => ({
      props,
      step: await journalCall({ kind: "k", name: "n", request: 1 }, () => "made"),
      dump: dumpSnapshot(),
    });
    const { dump } = await runWith(program, { initialProps, eventBus: bus });
    for (const snapshot of [dump, restoreSnapshot(JSON.parse(JSON.stringify(bus.events)) as TraceEvent[])]) {
      expect((await runWith(program, { snapshot })).props).toEqual(initialProps);
      expect((await runWith(program, { snapshot, initialProps: 7 })).props).toBe(7);
      expect((await runWith(program, { snapshot, initialProps: undefined })).props).toBeUndefined();
    }
  });

  it("allows any number of agents to listen to their signals without a warning", async () => {
    const warned = vi.fn();
    process.on("warning", warned);
    try {
      const listening = createAgent({
        id: "listening",
        handler: async () => {
          here().signal.addEventListener("abort", () => {});
          await sleep(1);
        },
      });
      await runWith(async () => {
        for (let at = 0; at < 12; at += 1) here().signal.addEventListener("abort", () => {});
        await Promise.all(Array.from({ length: 30 }, () => listening()));
      });
      await sleep(1);
      const names = warned.mock.calls.map(([warning]) => (warning as Error).name);
      expect(names).not.toContain("MaxListenersExceededWarning");
    } finally {
      process.off("warning", warned);
    }
  });

  it("rejects with the error of the function, also with a synchronous one", async () => {
    const error = new Error("at once");
    await expect(
      runWith(() => {
        throw error;
      }),
    ).rejects.toBe(error);
  });

  it("is rejected inside a run, an agent or a tool", async () => {
    const nested = (): Promise<unknown> =>
      runWith(() => 1).then(
        () => "ran",
        (error: unknown) => (isNestedRunError(error) ? (error as Error).message : error),
      );
    const refusal = expect.stringMatching(/^runWith can only be used at the top level/) as unknown;
    const agent = createAgent({ id: "a", handler: nested });
    const tool: Tool = { name: "t", description: "", parameters: z.object({}), handler: nested };
    expect(await runWith(nested)).toEqual(refusal);
    expect(await agent()).toEqual(refusal);
    expect(await runWith(() => callTool(tool, {}))).toEqual(refusal);
    expect(await nested()).toBe("ran");
  });

  it("keeps parallel runs apart: context, memory, events and counters", async () => {
    const worker = createAgent<{ wait: number }, string>({
      id: "worker",
      handler: async ({ wait }) => {
        const [, set] = equipMemory("waits", 0);
        for (let round = 0; round < 3; round += 1) {
          await sleep(wait);
          set((previous) => previous + wait);
        }
        return here().callId;
      },
    });
    const start = async (wait: number) => {
      const bus = recorder();
      const run = await runWith(
        async () => {
          const callIds = await Promise.all([worker({ wait }), worker({ wait: wait + 1 })]);
          return { callIds, traceId: here().trace.traceId, snapshot: dumpSnapshot() };
        },
        { eventBus: bus },
      );
      return { ...run, bus };
    };
    const runs = await Promise.all([1, 3, 2].map(start));
    expect(new Set(runs.map(({ traceId }) => traceId)).size).toBe(3);
    for (const [index, { callIds, traceId, snapshot, bus }] of runs.entries()) {
      const wait = [1, 3, 2][index] ?? 0;
      expect(callIds).toEqual(["root/agent:worker:0", "root/agent:worker:1"]);
      expect(Object.values(snapshot.root.children).map(({ memory }) => memory)).toEqual([
        { waits: 3 * wait },
        { waits: 3 * (wait + 1) },
      ]);
      expect(new Set(bus.events.map(({ trace }) => trace.traceId))).toEqual(new Set([traceId]));
      expect(bus.events.map(({ _seq }) => _seq)).toEqual(bus.events.map((_, seq) => seq));
      expect(bus.of("agent:end")).toHaveLength(2);
    }
  });
});
