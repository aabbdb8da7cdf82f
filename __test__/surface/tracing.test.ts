import {
  createAgent,
  createEventBus,
  getContext,
  journalCall,
  runWith,
  type AgentSnapshot,
  type TraceEvent,
} from "agent-rewind";
import { dumpSnapshot, restoreSnapshot } from "agent-rewind/debugger";
import { describe, expect, it } from "vitest";

import { recorder } from "../support/recorder.js";

const child = createAgent({
  id: "child",
  handler: () => journalCall({ kind: "step", name: "s", request: 1 }, () => 1),
});
const parent = createAgent({ id: "parent", handler: async () => [await child(), await child()] });

const traceId = "0af7651916cd43dd8448eb211c80319c";
const parentSpanId = "b7ad6b7169203331";

describe("runWith's trace option", () => {
  it("joins the run to a trace: its events have the trace's id and attributes, and its root span is under the given span", async () => {
    const sink = recorder();
    const attributes = { tenant: "t1", request: 7 };
    await runWith(
      async () => {
        expect(getContext()?.trace.traceId).toBe(traceId);
        await parent();
      },
      { eventBus: sink, trace: { traceId, parentSpanId, attributes } },
    );
    expect(sink.events.length).toBeGreaterThan(12);
    for (const { trace, schemaVersion } of sink.events) {
      expect(trace).toMatchObject({ traceId, attributes, spanId: expect.stringMatching(/^[\da-f]{16}$/) as string });
      expect(schemaVersion).toBe(1);
    }
    const run = sink.of("runWith:start")[0];
    expect(run?.trace.parentSpanId).toBe(parentSpanId);
    expect(sink.of("agent:start")[0]?.trace.parentSpanId).toBe(run?.trace.spanId);
  });

  it("is stored in the snapshot, and a snapshot restored from the events joins the trace too", async () => {
    const sink = recorder();
    const dumped = await runWith(
      async () => {
        await parent();
        return dumpSnapshot();
      },
      { eventBus: sink, trace: { traceId, parentSpanId } },
    );
    expect(dumped).toMatchObject({ processId: traceId, provenance: { traceId, source: "dump" } });
    expect(restoreSnapshot(sink.events).provenance).toMatchObject({ traceId, source: "restore" });
  });

  it("creates a new trace without attributes for each run by default", async () => {
    const [first, second] = [recorder(), recorder()];
    for (const eventBus of [first, second]) await runWith(() => child(), { eventBus });
    const idsOf = (events: readonly TraceEvent[]): string[] => [...new Set(events.map(({ trace }) => trace.traceId))];
    expect(idsOf(first.events)).toEqual([expect.stringMatching(/^[\da-f]{32}$/)]);
    expect(idsOf(first.events)).not.toEqual(idsOf(second.events));
    expect(first.events.every(({ trace }) => !("attributes" in trace))).toBe(true);
    expect(first.of("runWith:start")[0]?.trace.parentSpanId).toBe("");
  });

  it("numbers the events of a run from 0 without a gap, also across its agents", async () => {
    const sink = recorder();
    await runWith(() => Promise.all([parent(), parent()]), { eventBus: sink });
    expect(sink.events.map(({ _seq }) => _seq)).toEqual(sink.events.map((_event, index) => index));
  });
});

describe("a restored run", () => {
  async function recordedWith(metadata?: Record<string, unknown>): Promise<AgentSnapshot> {
    return runWith(async () => {
      await child();
      return metadata === undefined ? dumpSnapshot() : dumpSnapshot({ metadata });
    });
  }

  it("contains the origin of its snapshot, and the snapshot's metadata as attributes of its two events", async () => {
    const sink = recorder();
    const snapshot = await recordedWith({ reason: "test", run: 3 });
    await runWith(() => child(), { snapshot, eventBus: sink, trace: { attributes: { tenant: "t1" } } });
    const restoration = {
      isRestored: true,
      sourceProcessId: snapshot.processId,
      snapshotTimestamp: snapshot.timestamp,
      snapshotVersion: 1,
      provenance: snapshot.provenance,
    };
    const attributes = { tenant: "t1", "restoration.reason": "test", "restoration.run": 3 };
    expect(sink.of("runWith:start")).toMatchObject([{ restoration }]);
    expect(sink.of("runWith:start")[0]?.trace.attributes).toEqual(attributes);
    expect(sink.of("runWith:end")).toMatchObject([{ restoration, success: true }]);
    expect(sink.of("runWith:end")[0]?.trace.attributes).toEqual(attributes);
    expect(sink.of("agent:start")[0]?.trace.attributes).toEqual({ tenant: "t1" });
  });

  it("without metadata has no such attributes, and a run without a snapshot has no restore fields", async () => {
    const [restored, fresh] = [recorder(), recorder()];
    await runWith(() => child(), { snapshot: await recordedWith(), eventBus: restored });
    await runWith(() => child(), { eventBus: fresh });
    expect(restored.of("runWith:start")[0]?.trace).not.toHaveProperty("attributes");
    expect(fresh.of("runWith:start")[0]).not.toHaveProperty("restoration");
  });

  it("uses the metadata of the snapshot object at the start of the run", async () => {
    const sink = recorder();
    const snapshot = await recordedWith({ reason: "first" });
    await runWith(() => child(), { snapshot: { ...snapshot, metadata: { reason: "second" } }, eventBus: sink });
    expect(sink.of("runWith:start")[0]?.trace.attributes).toEqual({ "restoration.reason": "second" });
  });
});

describe("the events of runWith", () => {
  it("contain the run's configuration, its dependencies and its usage", async () => {
    const sink = recorder();
    const model = { id: "m", stream: async function* () {} };
    await runWith(() => child(), {
      eventBus: sink,
      model,
      modelRegistry: { fast: model, strong: model },
      enableSnapshot: false,
      initialProps: { q: 1 },
    });
    expect(sink.of("runWith:start")).toMatchObject([
      {
        agentId: "",
        config: { isProd: false, enableSnapshot: false },
        dependencies: { hasEventBus: true, hasGlobalModel: true, registeredModels: ["fast", "strong"] },
        props: { q: 1 },
      },
    ]);
    expect(sink.of("runWith:end")).toMatchObject([
      {
        success: true,
        result: 1,
        metrics: { totalPromptTokens: 0, totalCompletionTokens: 0, totalTokens: 0, costs: {} },
      },
    ]);
  });

  it("reach no other bus if the run has its own", async () => {
    const [own, other] = [createEventBus(), createEventBus()];
    const seen: string[] = [];
    own.subscribe("*", ({ type }) => seen.push(type));
    other.subscribe("*", () => seen.push("other"));
    await runWith(() => child(), { eventBus: own });
    expect(seen).toContain("agent:end");
    expect(seen).not.toContain("other");
  });
});
