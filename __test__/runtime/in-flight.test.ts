import {
  callTool,
  createAgent,
  equipMemory,
  getContext,
  isAbortError,
  journalCall,
  promptAgent,
  reborn,
  runFrame,
  runWith,
  type AgentFrameSnapshot,
  type TraceEvent,
} from "agent-rewind";
import { dumpSnapshot, restoreSnapshot } from "agent-rewind/debugger";
import { describe, expect, it, vi } from "vitest";
import { z } from "zod";

import { deferred, sleep, turn } from "../support/deferred.js";
import { recorder, type Recorder } from "../support/recorder.js";
import { scriptedModel } from "../support/scripted-model.js";

/** One agent waits forever unless it listens to its signal, another waits for the first. */
const waiting = createAgent<{ name: string }, string>({
  id: "waiting",
  handler: async ({ name }) => {
    equipMemory("name", name);
    await journalCall({ kind: "step", name: "done", request: name }, () => "finished");
    return journalCall(
      { kind: "step", name: "open", request: name },
      ({ signal }) =>
        new Promise<string>((_, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason as Error));
        }),
    );
  },
});
const between = createAgent<{ name: string }, string>({ id: "between", handler: ({ name }) => waiting({ name }) });

const frameAt = (root: AgentFrameSnapshot, ...callIds: string[]): AgentFrameSnapshot =>
  callIds.reduce((frame, callId) => frame.children[`${frame.callId}/${callId}`] as AgentFrameSnapshot, root);

/** The events of agents after a given one. */
const ofAgents = (bus: Recorder, index = 0): string[] =>
  bus.events
    .slice(index)
    .filter(({ agentId }) => agentId !== "")
    .map(({ type, agentId }) => `${type} ${agentId}`);

describe("an agent that ends before its sub-agents", () => {
  it.each([
    ["returns", () => "done"],
    ["fails", () => Promise.reject(new RangeError("broken"))],
    ["is reborn", () => reborn({ round: 1 })],
  ])("aborts them, and they emit no more events, when it %s", async (_how, end) => {
    const bus = recorder();
    const rejections: unknown[] = [];
    const hasty = createAgent<{ round: number }, unknown>({
      id: "hasty",
      handler: async ({ round }) => {
        if (round === 1) return "second";
        for (const agent of [waiting, between])
          agent({ name: agent.id }).catch((error: unknown) => rejections.push(error));
        await sleep(1);
        return end();
      },
    });
    let ended = 0;
    const snapshot = await runWith(
      async () => {
        await hasty({ round: 0 }).catch(() => {});
        ended = bus.events.length;
        await sleep(5);
        return dumpSnapshot();
      },
      { eventBus: bus },
    );
    expect(rejections).toHaveLength(2);
    for (const error of rejections) {
      expect(isAbortError(error)).toBe(true);
      expect((error as Error).message).toBe('Operation aborted: its parent agent "hasty" ended before this agent did');
    }
    expect(ofAgents(bus, ended)).toEqual([]);
    expect(bus.of("agent:end").map(({ agentId }) => agentId)).toEqual(["hasty"]);

    const frame = frameAt(snapshot.root, "agent:hasty:0");
    const children = frame.generations?.[0]?.children ?? frame.children;
    const orphans = [
      children[`${frame.callId}/agent:waiting:0`],
      children[`${frame.callId}/agent:between:0`],
      frameAt(children[`${frame.callId}/agent:between:0`] as AgentFrameSnapshot, "agent:waiting:0"),
    ] as AgentFrameSnapshot[];
    for (const orphan of orphans) {
      const parent = orphan === orphans[2] ? "between" : "hasty";
      expect(orphan.state).toEqual({
        status: "failed",
        error: {
          name: "AbortError",
          message: `Operation aborted: its parent agent "${parent}" ended before this agent did`,
        },
      });
      expect(JSON.parse(JSON.stringify(orphan.state))).toEqual(orphan.state);
    }
    expect(orphans[2]?.memory).toEqual({ name: "between" });
    // Finished calls inside them are kept. Unfinished calls are executed again.
    expect(Object.values(orphans[2]?.journal.other?.["step"] ?? {}).map(({ output }) => output)).toEqual(["finished"]);
    expect(orphans[2]?.calls?.map(({ endOrder, error }) => [endOrder !== undefined, error])).toEqual([
      [true, undefined],
      [false, undefined],
    ]);
  });

  it("also aborts sub-agents that ignore the signal: they reject, whatever they return", async () => {
    const outcomes: Promise<unknown>[] = [];
    const deaf = createAgent({ id: "deaf", handler: () => sleep(3).then(() => "heard nothing") });
    const hasty = createAgent({
      id: "hasty",
      handler: () => void outcomes.push(deaf().catch((error: unknown) => error)),
    });
    await runWith(() => hasty());
    const error = (await outcomes[0]) as Error;
    expect(isAbortError(error)).toBe(true);
    expect(error.message).toBe('Operation aborted: its parent agent "hasty" ended before this agent did');
  });

  it("does not end the process with their rejections if nobody waits for them", async () => {
    const unhandled = vi.fn();
    process.on("unhandledRejection", unhandled);
    try {
      const after = deferred();
      const hasty = createAgent({
        id: "hasty",
        handler: async () => {
          void waiting({ name: "a" });
          void between({ name: "b" });
          void runFrame({ id: "own", input: 1 }, () => sleep(2));
          void after.promise.then(() => void waiting({ name: "late" }));
          await sleep(1);
        },
      });
      await runWith(async () => {
        await hasty();
        after.resolve();
        await sleep(5);
      });
      await sleep(1);
      expect(unhandled).not.toHaveBeenCalled();
    } finally {
      process.off("unhandledRejection", unhandled);
    }
  });

  it("is restored from its trace as from the dump", async () => {
    const bus = recorder();
    const hasty = createAgent({
      id: "hasty",
      handler: async () => {
        void Promise.allSettled([waiting({ name: "a" }), between({ name: "b" })]);
        await sleep(1);
        return "done";
      },
    });
    const dump = await runWith(
      async () => {
        await hasty();
        return dumpSnapshot();
      },
      { eventBus: bus },
    );
    const restored = restoreSnapshot(JSON.parse(JSON.stringify(bus.events)) as TraceEvent[]);
    const hastyDumped = frameAt(dump.root, "agent:hasty:0");
    const shape = ({ callId, agentId, state, journal, children, inputHash }: AgentFrameSnapshot): unknown => ({
      callId,
      agentId,
      state,
      journal,
      inputHash,
      children: Object.values(children).map(shape),
    });
    expect(shape(restored.root)).toEqual(shape(hastyDumped));
  });

  it("lets a sub-agent in flight continue after a restore, with its finished calls replayed", async () => {
    const execute = vi.fn((name: string) => name);
    const stop = deferred();
    const child = createAgent<{ stuck: boolean }, string>({
      id: "child",
      handler: async () => {
        const first = await journalCall({ kind: "step", name: "s", request: "first" }, () => execute("first"));
        const second = await journalCall({ kind: "step", name: "s", request: "second" }, async () => {
          execute("second");
          await stop.promise;
          return "second";
        });
        return `${first} ${second}`;
      },
    });
    const parent = createAgent<undefined, unknown>({ id: "parent", handler: () => child({ stuck: true }) });
    const bus = recorder();
    const dump = await runWith(
      async () => {
        void parent().catch(() => {});
        await sleep(2);
        return dumpSnapshot();
      },
      { eventBus: bus },
    );
    expect(frameAt(dump.root, "agent:parent:0", "agent:child:0").state).toEqual({ status: "running" });
    stop.resolve();
    for (const snapshot of [dump, restoreSnapshot(bus.events)]) {
      execute.mockClear();
      expect(await runWith(() => parent(), { snapshot })).toBe("first second");
      expect(execute.mock.calls).toEqual([["second"]]);
    }
  });
});

describe("code that starts after an agent has ended", () => {
  it("is recorded, and does not run sub-agents", async () => {
    const ran = vi.fn();
    const late = createAgent({ id: "late", handler: ran });
    const outcomes: unknown[] = [];
    const after = deferred();
    const model = scriptedModel("m", () => ({ content: "1" }));
    const agent = createAgent({
      id: "gone",
      model,
      handler: () => {
        void (async () => {
          await after.promise;
          const calls = [
            () => late(),
            () => callTool({ name: "t", description: "", parameters: z.any(), handler: () => "made" }, {}),
            () => promptAgent(z.number()),
            () => journalCall({ kind: "k", name: "n", request: 1 }, () => "made"),
          ];
          for (const call of calls)
            outcomes.push(
              await call().then(
                (value: unknown) => value,
                (error: unknown) => (isAbortError(error) ? "AbortError" : error),
              ),
            );
        })();
        return "gone";
      },
    });
    const bus = recorder();
    await runWith(
      async () => {
        await agent();
        after.resolve();
        for (let round = 0; round < 50 && outcomes.length < 4; round += 1) await turn();
        expect(outcomes).toEqual(["AbortError", "made", 1, "made"]);
        const frame = frameAt(dumpSnapshot().root, "agent:gone:0");
        expect(frame.state).toEqual({ status: "completed", output: "gone" });
        expect(Object.keys(frame.children)).toEqual([]);
        expect(frame.calls?.map(({ kind, endOrder }) => [kind, endOrder !== undefined])).toEqual([
          ["tool", true],
          ["prompt", true],
          ["k", true],
        ]);
      },
      { eventBus: bus },
    );
    expect(ran).not.toHaveBeenCalled();
    expect(bus.events.at(-1)?.type).toBe("runWith:end");
  });

  it("does the same in the frame of runWith", async () => {
    const ran = vi.fn();
    const late = createAgent({ id: "late", handler: ran });
    const bus = recorder();
    let outcome: Promise<unknown> | undefined;
    await runWith(
      () => {
        const context = getContext();
        outcome = sleep(2)
          .then(() => context?.run(() => late()))
          .catch((error: unknown) => error);
      },
      { eventBus: bus },
    );
    expect(isAbortError(await outcome)).toBe(true);
    expect(ran).not.toHaveBeenCalled();
    expect(ofAgents(bus)).toEqual([]);
    expect(bus.events.at(-1)?.type).toBe("runWith:end");
  });
});

describe("a dump in the middle of a run", () => {
  it("contains every running frame with its finished calls", async () => {
    const go = deferred();
    const worker = createAgent<{ n: number }, number>({
      id: "worker",
      handler: async ({ n }) => {
        equipMemory("n", n);
        if (n > 0) await journalCall({ kind: "step", name: "s", request: n }, () => n);
        if (n < 2) await go.promise;
        return n;
      },
    });
    await runWith(async () => {
      const all = Promise.all([0, 1, 2].map((n) => worker({ n })));
      await sleep(2);
      const { root } = dumpSnapshot();
      expect(
        Object.values(root.children).map(({ state, memory, calls }) => [state.status, memory, calls?.length ?? 0]),
      ).toEqual([
        ["running", { n: 0 }, 0],
        ["running", { n: 1 }, 1],
        ["completed", { n: 2 }, 1],
      ]);
      go.resolve();
      await all;
    });
  });

  it("is the same tree wherever it is taken", async () => {
    const inner = createAgent({ id: "inner", handler: () => dumpSnapshot().root });
    const outer = createAgent({
      id: "outer",
      handler: async () => [
        await inner(),
        await callTool(
          { name: "t", description: "", parameters: z.any(), handler: () => JSON.stringify(dumpSnapshot().root) },
          {},
        ),
      ],
    });
    const [fromInner, fromTool] = (await runWith(() => outer())) as [AgentFrameSnapshot, string];
    expect(fromInner.callId).toBe("root");
    expect(frameAt(fromInner, "agent:outer:0", "agent:inner:0").state.status).toBe("running");
    expect(frameAt(JSON.parse(fromTool) as AgentFrameSnapshot, "agent:outer:0", "agent:inner:0").state.status).toBe(
      "completed",
    );
  });
});
