import { setTimeout as nextTimer } from "node:timers/promises";

import {
  createAgent,
  equipInstruction,
  equipTool,
  isReplayMissError,
  journalCall,
  live,
  promptAgent,
  replay,
  resume,
  runFrame,
  runWith,
  type AgentSnapshot,
  type Miss,
  type ReplayReport,
  type Tool,
} from "agent-rewind";
import { dumpSnapshot } from "agent-rewind/debugger";
import { describe, expect, it, vi } from "vitest";
import { z } from "zod";

import { result, scriptedModel, toolCall } from "./support/scripted-model.js";

const step = <T>(name: string, make: () => T | Promise<T>): Promise<T> =>
  journalCall({ kind: "step", name, request: name }, make);

async function recordingOf(program: () => Promise<unknown>): Promise<AgentSnapshot> {
  return runWith(async () => {
    await program().catch(() => {});
    return dumpSnapshot();
  });
}

describe("mode: replay", () => {
  it("answers everything and makes no live call", async () => {
    const snapshot = await recordingOf(() => step("a", () => 1));
    const execute = vi.fn();
    expect(await replay(() => step("a", execute), { snapshot })).toBe(1);
    expect(execute).not.toHaveBeenCalled();
  });

  it.each([
    ["a call that was never recorded", "not-recorded", () => step("a", () => 1), () => step("b", () => 2)],
    [
      "one more occurrence",
      "not-recorded",
      () => step("a", () => 1),
      async () => {
        await step("a", () => 1);
        return step("a", () => 1);
      },
    ],
    ["a tombstone", "tombstone", () => step("a", () => ({ run: () => {} })), () => step("a", () => 1)],
    [
      "a frame that was never recorded",
      "no-recording",
      () => step("a", () => 1),
      () => runFrame({ id: "new", input: {} }, () => step("a", () => 1)),
    ],
  ])("rejects %s", async (_what, reason, recorded, program) => {
    const snapshot = await recordingOf(recorded);
    const error: unknown = await replay(program, { snapshot }).catch((caught: unknown) => caught);
    expect(isReplayMissError(error)).toBe(true);
    expect(error).toMatchObject({ name: "ReplayMissError", reason, kind: "step" });
  });

  it("rejects a call that was in flight", async () => {
    let snapshot: AgentSnapshot | undefined;
    await runWith(() =>
      step("a", async () => {
        snapshot = dumpSnapshot();
        return 1;
      }),
    );
    await expect(replay(() => step("a", () => 1), { snapshot: snapshot as AgentSnapshot })).rejects.toMatchObject({
      reason: "in-flight",
    });
  });

  it("rejects at the end even if the agent caught the miss or failed with another error", async () => {
    const snapshot = await recordingOf(() => step("a", () => 1));
    const swallowing = (): Promise<unknown> => step("b", () => 2).catch(() => "swallowed");
    await expect(replay(swallowing, { snapshot })).rejects.toSatisfy(isReplayMissError);
    const renaming = async (): Promise<unknown> => {
      await step("b", () => 2).catch(() => {});
      throw new Error("something else");
    };
    await expect(replay(renaming, { snapshot })).rejects.toSatisfy(isReplayMissError);
  });

  it("never turns a miss into the output of a tool, even if a call inside the tool misses", async () => {
    const model = scriptedModel("m", (messages) => (messages.length > 1 ? result("done") : toolCall("t", "outer", {})));
    const inner = (name: string) => (): Promise<string> => step(name, () => "x");
    const agent = (name: string): (() => Promise<unknown>) => {
      const outer: Tool = { name: "outer", description: "", parameters: z.object({}), handler: inner(name) };
      return createAgent({
        id: "a",
        model,
        handler: () => {
          equipInstruction("go");
          equipTool(outer);
          return promptAgent(z.object({ result: z.string() }));
        },
      });
    };
    const snapshot = await recordingOf(agent("first"));
    const requests = model.calls.length;
    expect(await replay(agent("first"), { snapshot })).toEqual({ result: "done" });
    // The tool itself is answered from the recording, so its handler does not run and makes no calls.
    expect(await replay(agent("second"), { snapshot })).toEqual({ result: "done" });
    const other = createAgent({
      id: "a",
      model,
      handler: () => {
        equipInstruction("go");
        equipTool({ name: "outer", description: "changed", parameters: z.object({}), handler: inner("first") });
        return promptAgent(z.object({ result: z.string() }));
      },
    });
    await expect(replay(() => other(), { snapshot })).rejects.toSatisfy(isReplayMissError);
    expect(model.calls.length).toBe(requests);
  });

  it("replays every failure, including those that ended the run", async () => {
    const failing = (): Promise<never> =>
      step("a", () => {
        throw new RangeError("recorded");
      });
    const snapshot = await recordingOf(failing);
    const execute = vi.fn(() => 1);
    await expect(replay(() => step("a", execute), { snapshot })).rejects.toThrow(new RangeError("recorded"));
    expect(execute).not.toHaveBeenCalled();
    expect(await resume(() => step("a", execute), { snapshot })).toBe(1);
  });

  it("causes no unhandled rejection in all, allSettled, any and race", async () => {
    const unhandled = vi.fn();
    process.on("unhandledRejection", unhandled);
    const fail = (name: string): Promise<never> =>
      step(name, async () => {
        await new Promise((resolve) => setImmediate(resolve));
        throw new Error(name);
      });
    // A call that nobody waits for would be in flight at the dump.
    const race = async (calls: Promise<never>[]): Promise<never> => {
      const [first] = await Promise.allSettled([Promise.race(calls), ...calls]);
      throw first.status === "rejected" ? first.reason : new Error("no call failed");
    };
    const program = async (): Promise<unknown> => {
      const caught = (error: Error): string => error.constructor.name;
      return [
        await Promise.all([fail("a"), fail("b")]).catch(caught),
        (await Promise.allSettled([fail("c"), step("d", () => 1)])).map(({ status }) => status),
        await Promise.any([fail("e"), fail("f")]).catch(caught),
        await race([fail("g"), fail("h")]).catch(caught),
        await step("end", () => 1),
      ];
    };
    const snapshot = await recordingOf(program);
    const again = await replay(program, { snapshot });
    expect(again).toEqual(["Error", ["rejected", "fulfilled"], "AggregateError", "Error", 1]);
    await new Promise((resolve) => setTimeout(resolve, 10));
    process.off("unhandledRejection", unhandled);
    expect(unhandled).not.toHaveBeenCalled();
  });
});

describe("mode: resume", () => {
  const program = async (): Promise<unknown[]> => [
    await step("a", () => "new a"),
    await step("b", () => "new b"),
    await step("c", () => "new c"),
  ];

  it("is the default with a snapshot: replays hits, executes and journals the rest", async () => {
    const snapshot = await recordingOf(() => step("b", () => "old b"));
    const resumed = async (): Promise<AgentSnapshot> => {
      expect(await program()).toEqual(["new a", "old b", "new c"]);
      return dumpSnapshot();
    };
    for (const dump of [await runWith(resumed, { snapshot }), await resume(resumed, { snapshot })]) {
      expect(await replay(program, { snapshot: dump })).toEqual(["new a", "old b", "new c"]);
    }
  });

  it("lets onMiss decide for each call", async () => {
    const snapshot = await recordingOf(() => step("b", () => "old b"));
    const misses: Miss[] = [];
    const onMiss = (miss: Miss): "live" | "error" => {
      misses.push(miss);
      return miss.name === "c" ? "error" : "live";
    };
    await expect(resume(program, { snapshot, onMiss })).rejects.toSatisfy(isReplayMissError);
    expect(misses.map(({ name, reason }) => [name, reason])).toEqual([
      ["a", "not-recorded"],
      ["c", "not-recorded"],
    ]);
    expect(misses[0]).toMatchObject({
      kind: "step",
      callId: "root/step:a:0",
      contentHash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  });

  it("keeps a divergence local: siblings continue to replay", async () => {
    const worker =
      (changed: number) =>
      (id: number): Promise<unknown> =>
        runFrame({ id: "worker", input: { id } }, async () => [
          await step(id === changed ? `changed ${id}` : `first ${id}`, () => `made ${id}`),
          await step(`second ${id}`, () => `made ${id}`),
        ]);
    const team = (changed: number) => (): Promise<unknown> => Promise.all([1, 2, 3].map(worker(changed)));
    const snapshot = await recordingOf(team(0));
    let report: ReplayReport | undefined;
    await resume(team(2), { snapshot, onReport: (given) => (report = given) });
    expect(report).toMatchObject({ mode: "resume", replayed: 5, live: 1, missed: 1 });
    const frames = report?.frames.filter(({ agentId }) => agentId === "worker") ?? [];
    expect(frames.map(({ replayed, live: liveCalls }) => [replayed, liveCalls])).toEqual([
      [2, 0],
      [1, 1],
      [2, 0],
    ]);
    expect(frames[1]?.firstDivergence).toMatchObject({ name: "changed 2", reason: "not-recorded" });
    expect(frames[1]?.unused).toEqual({ calls: 1, frames: 0 });
  });

  it('takes recorded results with completedFrames: "reuse" and does not run the handlers', async () => {
    const ran: string[] = [];
    const child = (name: string) =>
      createAgent({
        id: "child",
        handler: async () => {
          ran.push(name);
          return step("work", () => `by ${name}`);
        },
      });
    const family = (name: string) => async (): Promise<unknown> => [await child(name)(), await step("after", () => 1)];
    const snapshot = await recordingOf(family("first"));
    expect(await resume(family("second"), { snapshot })).toEqual(["by first", 1]);
    expect(ran).toEqual(["first", "second"]);
    const dump = await resume(
      async () => {
        expect(await family("third")()).toEqual(["by first", 1]);
        return dumpSnapshot();
      },
      { snapshot, completedFrames: "reuse" },
    );
    expect(ran).toEqual(["first", "second"]);
    // The new recording contains the carried-over results too.
    expect(await replay(family("fourth"), { snapshot: dump })).toEqual(["by first", 1]);
  });
});

describe("mode: live", () => {
  it("executes every call even if there is a snapshot", async () => {
    const snapshot = await recordingOf(() => step("a", () => "old"));
    expect(await runWith(() => step("a", () => "new"), { snapshot, mode: "live" })).toBe("new");
    expect(await live(() => step("a", () => "new"))).toBe("new");
  });
});

describe("the replay report", () => {
  it("counts calls and savings, and is emitted as an event too", async () => {
    const model = scriptedModel("m", () => nextTimer(5, result("x")));
    const agent = createAgent({
      id: "a",
      model,
      handler: () => {
        equipInstruction("q");
        return promptAgent(z.object({ result: z.string() }));
      },
    });
    const snapshot = await recordingOf(() => agent());
    const events: { type: string; report?: ReplayReport }[] = [];
    let report: ReplayReport | undefined;
    await replay(() => agent(), {
      snapshot,
      onReport: (given) => (report = given),
      eventBus: { emit: (event) => void events.push(event as never) },
    });
    expect(report).toMatchObject({
      mode: "replay",
      replayed: 1,
      live: 0,
      missed: 0,
      overtaken: 0,
      saved: { promptTokens: 10, completionTokens: 7, totalTokens: 17 },
    });
    expect(report?.saved.milliseconds).toBeGreaterThan(3);
    expect(events.find(({ type }) => type === "replay:report")?.report).toEqual(report);
  });

  it("counts the calls of a run without replay", async () => {
    let report: ReplayReport | undefined;
    await runWith(() => step("a", () => 1), { onReport: (given) => (report = given) });
    expect(report).toMatchObject({ mode: "live", replayed: 0, live: 1, missed: 0 });
  });
});

describe("options that do not fit the mode", () => {
  it.each([
    [{ mode: "rewind" }, /options\.mode must be one of "live", "resume", "replay"/],
    [{ mode: "replay" }, /needs options\.snapshot/],
    [{ failures: "never" }, /options\.failures/],
    [{ memory: "all" }, /options\.memory/],
    [{ completedFrames: "skip" }, /options\.completedFrames/],
    [{ mode: "live", onMiss: () => "live" }, /options\.onMiss/],
    [{ maxDepth: 0 }, /options\.maxDepth/],
    [{ maxDepth: 1_000 }, /options\.maxDepth.*1 to 999/],
  ])("are rejected with a hint: %j", async (options, message) => {
    await expect(runWith(() => 1, options as object)).rejects.toThrow(message);
  });
});
