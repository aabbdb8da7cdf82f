import { afterEach, describe, expect, it, vi } from "vitest";
import { createEventBus, getGlobalEventBus } from "../../ts/events/bus.js";
import { EVENTS, TRACE_EVENT_SCHEMA_VERSION } from "../../ts/events/names.js";
import type { TraceEvent, TraceEventType } from "../../ts/types/events.js";

afterEach(() => {
  vi.restoreAllMocks();
});

function event(type: TraceEventType, _seq = 0): TraceEvent {
  return {
    type,
    _seq,
    schemaVersion: 1,
    timestamp: 0,
    trace: { traceId: "t", spanId: "s", parentSpanId: "" },
  } as TraceEvent;
}

describe("createEventBus", () => {
  it("delivers during emit, by type, to several subscribers and to all-type subscribers, in order of subscription", () => {
    const bus = createEventBus();
    const seen: string[] = [];
    bus.subscribe("*", ({ type }) => seen.push(`all ${type}`));
    bus.subscribe(EVENTS.AGENT_START, ({ type }) => seen.push(`start ${type}`));
    bus.subscribeMany([EVENTS.AGENT_START, EVENTS.AGENT_END], ({ type }) => seen.push(`many ${type}`));
    bus.emit(event("agent:start"));
    expect(seen).toEqual(["all agent:start", "start agent:start", "many agent:start"]);
    bus.emit(event("agent:end"));
    expect(seen.slice(3)).toEqual(["all agent:end", "many agent:end"]);
    bus.emit(event("sys:log"));
    expect(seen.slice(5)).toEqual(["all sys:log"]);
  });

  it("delivers to subscribeOnce only once, even if the subscriber emits again", () => {
    const bus = createEventBus();
    const once = vi.fn(() => bus.emit(event("sys:log", 1)));
    bus.subscribeOnce("sys:log", once);
    bus.emit(event("agent:start"));
    bus.emit(event("sys:log"));
    bus.emit(event("sys:log"));
    expect(once).toHaveBeenCalledTimes(1);
    expect(bus.hasSubscribers).toBe(false);
  });

  it("reports with hasSubscribers if anybody listens", () => {
    const bus = createEventBus();
    expect(bus.hasSubscribers).toBe(false);
    const unsubscribe = bus.subscribe("agent:end", () => {});
    expect(bus.hasSubscribers).toBe(true);
    unsubscribe();
    unsubscribe();
    expect(bus.hasSubscribers).toBe(false);
    bus.subscribe("*", () => {});
    bus.reset();
    expect(bus.hasSubscribers).toBe(false);
  });

  it("allows subscribing and unsubscribing during delivery", () => {
    const bus = createEventBus();
    const seen: string[] = [];
    const late = (): unknown => seen.push("late");
    const leave = bus.subscribe("*", () => {
      seen.push("first");
      leave();
      leaveThird();
      bus.subscribe("*", late);
    });
    bus.subscribe("*", () => seen.push("second"));
    const leaveThird = bus.subscribe("*", () => seen.push("third"));
    bus.emit(event("sys:log"));
    expect(seen).toEqual(["first", "second"]);
    bus.emit(event("sys:log"));
    expect(seen.slice(2)).toEqual(["second", "late"]);
  });

  it("stops the delivery when it is reset by a subscriber", () => {
    const bus = createEventBus();
    const last = vi.fn();
    bus.subscribe("*", () => bus.reset());
    bus.subscribe("*", last);
    bus.emit(event("sys:log"));
    expect(last).not.toHaveBeenCalled();
  });

  it("keeps errors of a subscriber away from the emitter and other subscribers, and reports them once", () => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
    const bus = createEventBus();
    const other = vi.fn();
    bus.subscribe("*", () => {
      throw new Error("broken");
    });
    bus.subscribe("*", other);
    bus.emit(event("sys:log"));
    bus.emit(event("sys:log"));
    expect(other).toHaveBeenCalledTimes(2);
    expect(warn).toHaveBeenCalledTimes(1);
    expect(warn).toHaveBeenCalledWith(
      expect.stringContaining("sys:log"),
      expect.objectContaining({ message: "broken" }),
    );
  });

  it("passes all thrown errors and rejections to onError", async () => {
    const onError = vi.fn(() => {
      throw new Error("from onError");
    });
    const bus = createEventBus({ onError });
    bus.subscribe("*", () => {
      throw new Error("thrown");
    });
    bus.subscribe("*", async () => {
      throw new Error("rejected");
    });
    bus.emit(event("sys:log", 3));
    await vi.waitFor(() => expect(onError).toHaveBeenCalledTimes(2), 10_000);
    expect(onError).toHaveBeenCalledWith(expect.objectContaining({ message: "thrown" }), event("sys:log", 3));
    expect(onError).toHaveBeenCalledWith(expect.objectContaining({ message: "rejected" }), event("sys:log", 3));
  });

  it("narrows the event type by its name", () => {
    const bus = createEventBus();
    const hashes: string[] = [];
    bus.subscribe("turn:end", (turn) => {
      hashes.push(turn.contentHash);
    });
    bus.emit({ ...event("turn:end"), contentHash: "h" } as TraceEvent);
    expect(hashes).toEqual(["h"]);
  });
});

describe("getGlobalEventBus", () => {
  it("returns one bus per process, under a registered symbol", () => {
    expect(getGlobalEventBus()).toBe(getGlobalEventBus());
    expect((globalThis as Record<symbol, unknown>)[Symbol.for("agent-rewind/event-bus@1")]).toBe(getGlobalEventBus());
  });
});

describe("EVENTS", () => {
  it("has a unique type for each name, and version 1", () => {
    expect(new Set(Object.values(EVENTS)).size).toBe(Object.keys(EVENTS).length);
    expect(TRACE_EVENT_SCHEMA_VERSION).toBe(1);
    const types: readonly TraceEventType[] = Object.values(EVENTS);
    expect(types).toContain("tool:call:end");
  });
});
