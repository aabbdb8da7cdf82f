import { readdirSync, readFileSync } from "node:fs";

import {
  callTool,
  createAgent,
  equipInstruction,
  equipMemory,
  equipTool,
  getUsageStats,
  journalCall,
  promptAgent,
  reborn,
  replay,
  resume,
  runFrame,
  runWith,
  type AgentSnapshot,
  type CallRecord,
  type ReplayReport,
  type Tool,
  type TraceEvent,
} from "agent-rewind";
import { restoreSnapshot, type RestoreOptions } from "agent-rewind/debugger";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { recorder } from "./support/recorder.js";
import { scriptedModel, result } from "./support/scripted-model.js";

const TRACES = new URL("fixtures/traces/", import.meta.url);
const Result = z.object({ result: z.string() });
const step = <T>(request: unknown, make: () => T | Promise<T>): Promise<T> =>
  journalCall({ kind: "step", name: "step", request }, make);
const never = (): never => {
  throw new Error("executed again");
};

/** Restores a trace from memory and from its lines. The results must be equal. */
function restoredBothWays(events: readonly TraceEvent[], kept: readonly TraceEvent[] = events): AgentSnapshot {
  const [fromMemory, fromLines] = [
    restoreSnapshot(kept),
    restoreSnapshot(kept.map((event) => JSON.stringify(event)).join("\n")),
  ];
  expect(fromMemory.root).toEqual(fromLines.root);
  expect(fromMemory.warnings).toEqual(fromLines.warnings);
  expect(fromMemory.normalize).toEqual(fromLines.normalize);
  return fromMemory;
}

/** Restores from memory, lines and bytes. All three return the same snapshot or the same error. */
function sameBothWays(events: readonly object[], options: RestoreOptions = {}): void {
  const outcome = (trace: readonly TraceEvent[] | string | Buffer): unknown => {
    try {
      const snapshot = restoreSnapshot(trace, options);
      // A later change of the bytes does not change the snapshot.
      if (Buffer.isBuffer(trace)) trace.fill("}");
      const { root, warnings, normalize } = snapshot;
      return { root, warnings, normalize };
    } catch (error) {
      return String(error);
    }
  };
  const lines = events.map((event) => JSON.stringify(event)).join("\n");
  const expected = outcome(lines);
  expect(outcome(events as readonly TraceEvent[])).toEqual(expected);
  expect(outcome(Buffer.from(lines))).toEqual(expected);
}

/** Cut, shuffled, duplicated, renumbered and mixed traces, and traces whose ends contradict their starts. */
function sameInAnyDisorder(events: readonly TraceEvent[]): void {
  const withEach = (change: (event: TraceEvent, index: number) => object): object[] =>
    events.map((event, index) => ({ ...event, ...change(event, index) }));
  for (const spanId of new Set(events.map(({ trace }) => trace.spanId))) {
    for (const anchor of ["before", "after"] as const) sameBothWays(events, { spanId, anchor });
  }
  sameBothWays(events.toReversed());
  sameBothWays([...events, ...events]);
  for (const stride of [3, 5, 7, 11]) {
    const place = (index: number): number => (index * stride) % events.length;
    sameBothWays(events.map((_, index) => events[place(index)] as TraceEvent));
    sameBothWays(withEach((_, index) => ({ _seq: place(index) })));
    sameBothWays(withEach((_, index) => ({ _seq: place(index), timestamp: place(index * 2) })));
  }
  sameBothWays(withEach(() => ({ _seq: undefined })));
  sameBothWays(withEach((_, index) => (index % 3 === 0 ? { _seq: undefined } : {})));
  const traceId = "f".repeat(32);
  const inAnotherRun = withEach(({ trace }, index) => (index % 2 === 0 ? { trace: { ...trace, traceId } } : {}));
  sameBothWays(inAnotherRun);
  sameBothWays(inAnotherRun, { traceId });
  const keys = ["contentHash", "inputHash", "callId", "agentId", "props", "kind", "name", "toolName", "journalCallId"];
  for (const key of keys) {
    for (const value of [key.endsWith("Hash") ? "0".repeat(64) : "other", undefined, null, 1]) {
      for (const phase of [":start", ":end"]) {
        sameBothWays(withEach((event) => (event.type.endsWith(phase) && key in event ? { [key]: value } : {})));
      }
    }
  }
}

describe("a trace in memory and its lines restore the same snapshot", () => {
  it.each(readdirSync(TRACES))("for %s, complete and without any one event", (name) => {
    const lines = readFileSync(new URL(`${name}/trace.jsonl`, TRACES), "utf8")
      .trim()
      .split("\n");
    const events = lines.map((line) => JSON.parse(line) as TraceEvent);
    expect(restoredBothWays(events).root.callId).toMatch(/^root/);
    // Facts of a lost event come from other events, which are read for that purpose.
    for (let index = 1; index < events.length; index += 1) restoredBothWays(events, events.toSpliced(index, 1));
  });

  it("for a run with all features, complete and without any one event", async () => {
    const bus = recorder();
    const model = scriptedModel("m", () => result("answer"));
    const tool: Tool = { name: "t", description: "", parameters: z.looseObject({}), handler: () => new Date(0) };
    const agent = createAgent<{ at: Date; round: number }, Date>({
      id: "a",
      model,
      handler: async ({ at, round }) => {
        const [count, setCount] = equipMemory("count", 0);
        setCount(count + 1);
        equipInstruction(`round ${round}`);
        await promptAgent(Result);
        await callTool(tool, {});
        await step("fails", () => {
          throw new Error("down");
        }).catch(() => {});
        return round === 0 ? (reborn({ at, round: 1 }) as never) : at;
      },
    });
    await runWith(() => agent({ at: new Date(1), round: 0 }), {
      eventBus: bus,
      initialProps: { when: new Date(2) },
      normalize: [{ id: "digits", pattern: /\d{9}/ }],
    });
    const events = JSON.parse(JSON.stringify(bus.events)) as TraceEvent[];
    expect(restoredBothWays(events).normalize).toEqual([expect.objectContaining({ id: "digits" })]);
    for (let index = 1; index < events.length; index += 1) restoredBothWays(events, events.toSpliced(index, 1));
    sameInAnyDisorder(events);
  });

  it("for a batch of tools, whose outputs are in two kinds of events", async () => {
    const bus = recorder();
    let asked = 0;
    const calls = [1, 2].map((n) => ({ id: `c${n}`, name: "t", arguments: `{"n":${n}}` }));
    const model = scriptedModel("m", () => ((asked += 1) === 1 ? { tool_calls: calls } : result("answer")));
    const handler = ({ n }: { n: number }): unknown => {
      if (n === 2) throw new Error("down");
      return { n, at: new Date(n) };
    };
    const tool: Tool<{ n: number }> = { name: "t", description: "", parameters: z.object({ n: z.number() }), handler };
    const program = async (): Promise<unknown> => {
      equipInstruction("use it");
      equipTool(tool);
      return promptAgent(Result);
    };
    await runWith(() => createAgent({ id: "a", model, handler: program })(), { eventBus: bus });
    const events = JSON.parse(JSON.stringify(bus.events)) as TraceEvent[];
    const batch = events.find((event) => event.type === "tools:execute:end");
    expect(batch?.toolResults.map(({ success }) => success)).toEqual([true, false]);
    sameInAnyDisorder(events);
    // Only the batch reports them.
    const ofTools = events.flatMap((event, index) => (event.type === "tool:call:end" ? [index] : []));
    for (const index of ofTools) restoredBothWays(events, events.toSpliced(index, 1));
    const { root } = restoredBothWays(events.filter(({ type }) => !type.startsWith("tool:call")));
    expect(root.calls?.filter(({ kind }) => kind === "tool")).toHaveLength(2);
  });
});

it("for bytes in shared memory", () => {
  const lines = readFileSync(new URL("b-tool-loop/trace.jsonl", TRACES));
  const shared = new Uint8Array(new SharedArrayBuffer(lines.length));
  shared.set(lines);
  expect(restoreSnapshot(shared).root).toEqual(restoreSnapshot(lines).root);
});

describe("a trace without a dump", () => {
  it("contains the usage and durations of calls, so a replay can report its savings", async () => {
    const bus = recorder();
    const tool: Tool = { name: "t", description: "", parameters: z.looseObject({}), handler: () => 1 };
    const program = async (): Promise<void> => {
      await callTool(tool, {});
      await step("fails", () => {
        throw new Error("down");
      }).catch(() => {});
      await step("works", () => 1);
    };
    await runWith(program, { eventBus: bus });
    const { root } = restoredBothWays(bus.events);
    expect(root.calls?.map(({ meta }: CallRecord) => typeof meta?.durationMs)).toEqual(["number", "number", "number"]);
    let report: ReplayReport | undefined;
    await replay(program, { snapshot: restoreSnapshot(bus.events), onReport: (given) => (report = given) });
    const total = root.calls?.reduce((sum, { meta }) => sum + (meta?.durationMs ?? 0), 0);
    expect(report?.saved.milliseconds).toBeCloseTo(total ?? Number.NaN, 6);
  });

  it("of @rejelly/core does so too: usage, finish reason and duration of model calls, duration of tools", () => {
    const trace = readFileSync(new URL("b-tool-loop/trace.jsonl", TRACES), "utf8");
    const { root } = restoreSnapshot(trace);
    const ofKind = (kind: string): CallRecord[] => (root.calls ?? []).filter((call) => call.kind === kind);
    expect(ofKind("prompt").length).toBeGreaterThan(1);
    for (const { meta } of ofKind("prompt")) {
      expect(meta).toEqual({
        durationMs: expect.any(Number),
        usage: expect.objectContaining({ totalTokens: expect.any(Number) }),
        finishReason: expect.any(String),
      });
    }
    for (const { meta } of ofKind("tool")) expect(meta).toEqual({ durationMs: expect.any(Number) });
  });

  it("restores initial memory values that vary from run to run, also of a killed run", async () => {
    let session = 0;
    const program = async (make: (id: string) => string): Promise<string> => {
      const [runId] = equipMemory("run", `run ${(session += 1)}`);
      return runFrame({ id: "a", input: {} }, async () => {
        const [id, setId] = equipMemory("session", `session ${session}`);
        setId("changed");
        return step([runId, id], () => make(`${runId}, ${id}`));
      });
    };
    const bus = recorder();
    const liveResult = await runWith(() => program((text) => text), { eventBus: bus });
    expect(liveResult).toBe("run 1, session 1");
    expect(await replay(() => program(never), { snapshot: restoredBothWays(bus.events) })).toBe(liveResult);
    const killed = bus.events.slice(0, bus.events.findIndex(({ type }) => type === "call:end") + 1);
    expect(await replay(() => program(never), { snapshot: restoredBothWays(killed) })).toBe(liveResult);
  });

  it("of a resumed run contains the complete usage and memory", async () => {
    const model = scriptedModel("m", () => result("answer"));
    const ask = createAgent<{ n: number }, unknown>({
      id: "ask",
      model,
      handler: ({ n }) => {
        equipInstruction(`question ${n}`);
        return promptAgent(Result);
      },
    });
    const first = recorder();
    const program = (questions: number) => async (): Promise<unknown> => {
      const [seen, setSeen] = equipMemory<number>("seen", 0);
      for (let n = 0; n < questions; n += 1) await ask({ n });
      setSeen(seen + questions);
      return getUsageStats().aggregate.callCount;
    };
    await runWith(program(2), { eventBus: first });
    const second = recorder();
    const snapshot = restoreSnapshot(first.events);
    expect(await resume(program(3), { snapshot, eventBus: second })).toBe(3);
    const [start] = second.of("runWith:start");
    expect(start?.budgetState?.aggregate.callCount).toBe(2);
    expect(start?.memory).toEqual({ seen: 0 });
    expect(second.of("agent:start").map(({ budgetState }) => budgetState?.aggregate.callCount)).toEqual([
      1,
      1,
      undefined,
    ]);
    const again = restoredBothWays(JSON.parse(JSON.stringify(second.events)) as TraceEvent[]);
    expect(again.root.budgetState.aggregate.callCount).toBe(3);
    expect(again.root.memory).toEqual({ seen: 3 });
    expect(Object.values(again.root.children).map(({ budgetState }) => budgetState.aggregate.callCount)).toEqual([
      1, 1, 1,
    ]);
    expect(await replay(program(3), { snapshot: again })).toBe(3);
  });
});
