import { createAgent, createEventBus, getGlobalEventBus, journalCall, runWith } from "agent-rewind";
import { dumpSnapshot, restoreSnapshot } from "agent-rewind/debugger";
import { afterEach, describe, expect, it, vi } from "vitest";

import { sleep } from "../support/deferred.js";
import { recorder } from "../support/recorder.js";
import { richResult, richRun } from "../support/rich-run.js";

afterEach(() => {
  getGlobalEventBus().reset();
  vi.restoreAllMocks();
});

const agent = createAgent({ id: "a", handler: () => journalCall({ kind: "k", name: "n", request: 1 }, () => "done") });

describe("the events of a run", () => {
  it("go to the global bus, including those of an agent outside of runWith", async () => {
    const seen = recorder();
    getGlobalEventBus().subscribe("*", seen.emit);
    await runWith(() => agent());
    await agent();
    expect(seen.of("runWith:start")).toHaveLength(1);
    expect(seen.of("agent:end")).toHaveLength(2);
    expect(seen.of("runWith:start")).toMatchObject([{ dependencies: { hasEventBus: false } }]);
    expect(seen.of("agent:start").map(({ trace }) => trace.parentSpanId === "")).toEqual([false, true]);
  });

  it("go to the eventBus option of runWith instead, if it is set", async () => {
    const seen = recorder();
    const own = recorder();
    getGlobalEventBus().subscribe("*", seen.emit);
    await runWith(() => agent(), { eventBus: own });
    expect(seen.events).toEqual([]);
    expect(own.of("agent:end")).toHaveLength(1);
    const bus = createEventBus();
    await runWith(() => agent(), { eventBus: bus });
    expect(seen.events).toEqual([]);
  });

  it("are delivered before the program continues", async () => {
    const order: string[] = [];
    const told = createAgent({
      id: "told",
      handler: async () => {
        order.push("handler");
        await journalCall({ kind: "k", name: "n", request: 1 }, () => order.push("call"));
        order.push("after");
      },
    });
    await runWith(() => told(), { eventBus: { emit: ({ type }) => void order.push(type) } });
    expect(order.filter((entry) => entry !== "replay:report")).toEqual([
      "runWith:start",
      "agent:start",
      "generation:start",
      "handler",
      "call:start",
      "call",
      "call:end",
      "after",
      "generation:end",
      "agent:end",
      "runWith:end",
    ]);
  });

  it.each([
    [
      "a sink that throws",
      () => ({
        emit: () => {
          throw new Error("full disk");
        },
      }),
    ],
    [
      "a subscriber that throws",
      () => {
        const bus = createEventBus();
        bus.subscribe("*", () => {
          throw new Error("bad subscriber");
        });
        return bus;
      },
    ],
    [
      "a subscriber whose promise is rejected",
      () => {
        const bus = createEventBus();
        bus.subscribe("*", () => Promise.reject(new Error("bad subscriber")) as never);
        return bus;
      },
    ],
  ])("do not affect the run through %s", async (_what, makeBus) => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
    const rich = richRun();
    const run = (options: object) =>
      runWith(async () => ({ result: await rich.run(), dump: dumpSnapshot() }), { model: rich.model, ...options });
    const { result, dump } = await run({ eventBus: makeBus() });
    await sleep(1);
    expect(result).toStrictEqual(richResult);
    // Once, not once for each event.
    expect(warn).toHaveBeenCalledTimes(1);
    const replay = richRun();
    expect(await runWith(() => replay.run(), { model: replay.model, snapshot: dump })).toStrictEqual(richResult);
    expect(replay.model.calls).toEqual([]);
  });

  it("use the trace that is passed to runWith", async () => {
    const seen = recorder();
    const traceId = "0123456789abcdef0123456789abcdef";
    const parentSpanId = "fedcba9876543210";
    const attributes = { tenant: "t1", nested: { a: 1 } };
    await runWith(() => agent(), { eventBus: seen, trace: { traceId, parentSpanId, attributes } });
    expect(new Set(seen.events.map(({ trace }) => trace.traceId))).toEqual(new Set([traceId]));
    expect(seen.of("runWith:start")[0]?.trace.parentSpanId).toBe(parentSpanId);
    for (const { trace } of seen.events) expect(trace.attributes).toEqual(attributes);
    const snapshot = restoreSnapshot(seen.events);
    expect(snapshot.provenance.traceId).toBe(traceId);
    expect(await runWith(() => agent(), { snapshot })).toBe("done");
  });

  it("of a replay have the attributes of its trace and those of the snapshot", async () => {
    const snapshot = await runWith(async () => {
      await agent();
      return dumpSnapshot({ metadata: { by: "hand" } });
    });
    const seen = recorder();
    await runWith(() => agent(), { eventBus: seen, snapshot, trace: { attributes: { tenant: "t1" } } });
    expect(seen.of("runWith:start")[0]?.trace.attributes).toEqual({ tenant: "t1", "restoration.by": "hand" });
    expect(seen.of("agent:start")[0]?.trace.attributes).toEqual({ tenant: "t1" });
  });

  it("of a restored run are marked as such", async () => {
    const rich = richRun();
    const seen = recorder();
    await runWith(() => rich.run(), { eventBus: seen, model: rich.model });
    const spanId = seen.of("turn:end")[0]?.trace.spanId ?? "";
    const snapshot = restoreSnapshot(seen.events, { spanId, anchor: "after", metadata: { from: "trace" } });
    const again = recorder();
    const replay = richRun();
    await runWith(() => replay.run(), { eventBus: again, model: replay.model, snapshot });
    const [start] = again.of("runWith:start");
    expect(start?.restoration).toMatchObject({
      isRestored: true,
      snapshotVersion: 1,
      provenance: { traceId: seen.events[0]?.trace.traceId, spanId, anchor: "after", source: "restore" },
    });
    expect(start?.restoration?.sourceProcessId).toMatch(new RegExp(`^restore:${spanId}:\\d+$`));
    expect(start?.trace.attributes).toEqual({ "restoration.from": "trace" });
  });
});
