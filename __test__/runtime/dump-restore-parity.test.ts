import {
  createAgent,
  equipMemory,
  getGlobalEventBus,
  journalCall,
  runWith,
  type AgentFrameSnapshot,
  type AgentSnapshot,
  type TraceEvent,
} from "agent-rewind";
import { dumpSnapshot, restoreSnapshot } from "agent-rewind/debugger";
import { beforeAll, describe, expect, it } from "vitest";

import { factsOf, orderOf, type FrameFacts } from "../support/frames.js";
import { recorder } from "../support/recorder.js";
import { richResult, richRun } from "../support/rich-run.js";

/** A span's end: its event in the trace, and a dump that was taken at that moment. */
interface Point {
  type: string;
  spanId: string;
  dump: AgentSnapshot;
}

const ENDS = new Set(["turn:end", "tool:call:end", "call:end", "agent:end", "tools:execute:end"]);

const bus = recorder();
const points: Point[] = [];
let end: AgentSnapshot;
let events: TraceEvent[];

beforeAll(async () => {
  const rich = richRun();
  end = await runWith(
    async () => {
      expect(await rich.run()).toStrictEqual(richResult);
      return dumpSnapshot();
    },
    {
      model: rich.model,
      eventBus: {
        emit(event) {
          bus.emit(event);
          if (ENDS.has(event.type)) points.push({ type: event.type, spanId: event.trace.spanId, dump: dumpSnapshot() });
        },
      },
    },
  );
  // As read from a file.
  events = JSON.parse(JSON.stringify(bus.events)) as TraceEvent[];
});

/** The leader's frame: the root of a restored snapshot, but a child in a dump. */
function leaderOf({ root }: AgentSnapshot): AgentFrameSnapshot {
  const leader = root.agentId === "leader" ? root : root.children["root/agent:leader:0"];
  if (leader === undefined) throw new Error(`no leader under ${root.callId}`);
  return leader;
}

/**
 * Compares a restored tree with a dumped one. Both contain the memory at the start of a generation. Only the dump
 * counts the first value of a key as present at the start, because no event reports it.
 */
function expectSame(restored: AgentSnapshot, dumped: AgentSnapshot, why: string): void {
  const [left, right] = [factsOf(leaderOf(restored)), factsOf(leaderOf(dumped))];
  for (const [place, { atStart }] of Object.entries(right))
    expect({ why, ...atStart }).toMatchObject({ why, ...(left[place]?.atStart ?? { missing: place }) });
  const compared = (facts: Record<string, FrameFacts>): unknown =>
    Object.fromEntries(
      Object.entries(facts).map(([place, { atStart: _, ...frame }]) => {
        // No event reports memory in the middle of a generation either.
        return [place, { ...frame, memory: frame.status === "running" ? undefined : frame.memory }];
      }),
    );
  expect({ why, frames: compared(left) }).toEqual({ why, frames: compared(right) });
}

const step = (name: string): Promise<string> => journalCall({ kind: "step", name, request: name }, () => `did ${name}`);

describe("the root of a snapshot", () => {
  it("is the frame of runWith, dumped or restored, if it has several agents or calls", async () => {
    const seen = recorder();
    const agent = createAgent<{ n: number }, string>({ id: "a", handler: ({ n }) => step(`in ${n}`) });
    const dump = await runWith(
      async () => {
        const [, set] = equipMemory("log", ["start"]);
        await step("first");
        set([await agent({ n: 1 }), await agent({ n: 2 })]);
        await step("last");
        return dumpSnapshot();
      },
      { eventBus: seen, initialProps: { p: [1] } },
    );
    const { root } = restoreSnapshot(seen.events);
    expect([root.callId, root.agentId]).toEqual(["root", ""]);
    const compared = (frame: AgentFrameSnapshot): unknown => ({
      frames: factsOf(frame),
      journal: frame.journal,
      calls: frame.calls?.map(({ callId, contentHash, row }) => ({ callId, contentHash, row })),
      memory: frame.memory,
      budget: frame.budgetState,
      inputHash: frame.inputHash,
      props: frame.generation?.props,
    });
    expect(compared(root)).toEqual(compared(dump.root));
    expect(dump.root.state).toEqual({ status: "running" });
    expect(root.state.status).toBe("completed");
  });

  it("is the agent's own frame, dumped or restored, for an agent outside of runWith", async () => {
    const seen = recorder();
    const unsubscribe = getGlobalEventBus().subscribe("*", seen.emit);
    const alone = createAgent<{ n: number }, AgentSnapshot>({
      id: "alone",
      handler: async ({ n }) => {
        equipMemory("n", n);
        await step("one");
        return dumpSnapshot();
      },
    });
    const dump = await alone({ n: 1 });
    unsubscribe();
    const spanId = seen.of("call:end")[0]?.trace.spanId ?? "";
    const restored = restoreSnapshot(seen.events, { spanId });
    expect([restored.root.callId, restored.root.agentId]).toEqual([dump.root.callId, dump.root.agentId]);
    expect(restored.provenance.traceId).toBe(dump.provenance.traceId);
    const { memory: _dumped, atStart: _atStart, ...facts } = factsOf(dump.root)["root/agent:alone:0"] as FrameFacts;
    expect(factsOf(restored.root)["root/agent:alone:0"]).toMatchObject(facts);
  });
});

describe("dump and restore of a run with all features", () => {
  it("agree for the whole trace and the dump at its end", () => {
    const restored = restoreSnapshot(events);
    expect(restored.warnings ?? []).toEqual([]);
    expect(Object.keys(factsOf(leaderOf(end)))).toEqual([
      "root/agent:leader:0",
      "root/agent:leader:0#0",
      "root/agent:leader:0#0/agent:writer:0",
      "root/agent:leader:0#0/agent:writer:1",
      "root/agent:leader:0#1/agent:checker:0",
    ]);
    expectSame(restored, end, "the end");
    expect(orderOf(leaderOf(restored))).toEqual(orderOf(leaderOf(end)));
  });

  it("agree for events in any order", () => {
    for (const shuffled of [
      events.toReversed(),
      [...events.filter((_, at) => at % 2 === 0), ...events.filter((_, at) => at % 2 === 1)],
    ]) {
      const { root, warnings } = restoreSnapshot(shuffled);
      expect(warnings ?? []).toEqual([]);
      expect(root).toEqual(restoreSnapshot(events).root);
    }
  });

  it("agree at each end of a span in journals, frames and budgets", () => {
    expect(points.length).toBeGreaterThanOrEqual(20);
    for (const { type, spanId, dump } of points) {
      expectSame(restoreSnapshot(events, { spanId, anchor: "after" }), dump, `${type} ${spanId}`);
    }
  });

  it("continue from each of these points with the same calls", { timeout: 30_000 }, async () => {
    const callsFrom = async (snapshot: AgentSnapshot): Promise<unknown> => {
      const replay = richRun();
      expect(await runWith(() => replay.run(), { model: replay.model, snapshot })).toStrictEqual(richResult);
      return [replay.model.calls.map(({ messages }) => messages), replay.liveCalls.toSorted()];
    };
    const remaining: number[] = [];
    for (const { type, spanId, dump } of points) {
      const fromDump = (await callsFrom(dump)) as [unknown[], string[]];
      const fromTrace = await callsFrom(restoreSnapshot(events, { spanId, anchor: "after" }));
      expect({ type, calls: fromTrace }).toEqual({ type, calls: fromDump });
      remaining.push(fromDump[0].length + fromDump[1].length);
    }
    // Each end leaves at most as many calls to make as the one before.
    expect(remaining).toEqual(remaining.toSorted((left, right) => right - left));
    expect(remaining.at(-1)).toBe(0);
  });
});
