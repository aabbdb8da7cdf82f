import {
  createAgent,
  EVENTS,
  journalCall,
  runFrame,
  runWith,
  TRACE_EVENT_SCHEMA_VERSION,
  type AgentSnapshot,
  type TraceEvent,
} from "agent-rewind";
import { dumpSnapshot } from "agent-rewind/debugger";
import { beforeAll, describe, expect, it } from "vitest";

import { recorder, spanTree, type Recorder } from "../support/recorder.js";
import { richResult, richRun } from "../support/rich-run.js";

const live = recorder();
/** From the end of the run, in its last generation. */
const replayed = recorder();
/** From the end of the first generation. That is replayed, and the next one is live. */
const resumed = recorder();
let snapshot: AgentSnapshot;

beforeAll(async () => {
  let first: AgentSnapshot | undefined;
  const recording = richRun({ beforeRebirth: () => (first = dumpSnapshot()) });
  snapshot = await runWith(
    async () => {
      expect(await recording.run()).toStrictEqual(richResult);
      return dumpSnapshot({ metadata: { why: "test", nested: { n: 1 } } });
    },
    { model: recording.model, eventBus: live },
  );
  const replay = richRun();
  expect(await runWith(() => replay.run(), { model: replay.model, eventBus: replayed, snapshot })).toStrictEqual(
    richResult,
  );
  expect([replay.model.calls, replay.liveCalls]).toEqual([[], []]);
  const resume = richRun();
  expect(
    await runWith(() => resume.run(), { model: resume.model, eventBus: resumed, snapshot: first as AgentSnapshot }),
  ).toStrictEqual(richResult);
  expect([resume.model.calls.length, resume.liveCalls]).toEqual([1, ["broken", "look_up <sum up <lead>>"]]);
});

/** Drops the events that this package adds to the spans: initial memory values, and the report at the end of a run. */
const spansOnly = (events: readonly TraceEvent[]): TraceEvent[] =>
  events.filter(({ type }) => type !== "replay:report" && type !== "memory:init");

const indented = (depth: number, lines: string[]): string[] => lines.map((line) => "  ".repeat(depth) + line);
const liveTurn = ["turn", "  model:call", "    budget:update"];
const replayedTurn = ["turn"];

/** The expected tree of spans, with each generation live or replayed. */
function treeOf(...generations: string[][]): string[] {
  return ["runWith", "  agent leader", ...indented(2, generations.flat())];
}

function firstGeneration(isLive: boolean): string[] {
  const turn = isLive ? liveTurn : replayedTurn;
  const writer = (...before: string[]): string[] => [
    "agent writer",
    "  generation",
    ...indented(2, ["promptAgent", ...indented(1, [...before, ...turn, "validation:success"]), "call embedding small"]),
  ];
  return [
    "generation",
    ...indented(1, [
      "promptAgent",
      ...indented(1, [
        ...turn,
        "tools:execute",
        "  tool:call look_up",
        "  tool:call delegate",
        // The handler of a replayed tool does not run and starts no agents.
        ...(isLive ? indented(2, [...writer(), ...writer(...turn, "validation:fail")]) : []),
        "  tool:call broken",
        ...turn,
        "validation:success",
      ]),
      "agent:reborn",
    ]),
  ];
}

function secondGeneration(isLive: boolean): string[] {
  return [
    "generation",
    ...indented(1, [
      "promptAgent",
      ...indented(1, [...(isLive ? liveTurn : replayedTurn), "validation:success"]),
      "agent checker",
      "  generation",
      "    tools:execute",
      "      tool:call broken",
      "tools:execute",
      "  tool:call look_up",
    ]),
  ];
}

describe("the events of a run", () => {
  it("form a tree of run, agents, generations, prompts, turns, model calls and tools, each under its parent span", () => {
    expect(spanTree(spansOnly(live.events))).toEqual(treeOf(firstGeneration(true), secondGeneration(true)));
  });

  it("start and end each span once, the end after the start and inside the parent", () => {
    const open = new Map<string, string>();
    const closed = new Set<string>();
    for (const { type, trace } of live.events) {
      if (type.endsWith(":start")) {
        expect(open.has(trace.spanId) || closed.has(trace.spanId)).toBe(false);
        if (trace.parentSpanId !== "") expect(open.has(trace.parentSpanId)).toBe(true);
        open.set(trace.spanId, type);
      } else if (type.endsWith(":end")) {
        expect(open.get(trace.spanId)).toBe(type.replace(/:end$/, ":start"));
        open.delete(trace.spanId);
        closed.add(trace.spanId);
      } else {
        expect(open.has(trace.parentSpanId)).toBe(true);
      }
    }
    expect([...open]).toEqual([]);
  });

  it("all have the base fields and increasing numbers", () => {
    const { traceId } = live.events[0]?.trace ?? {};
    expect(traceId).toMatch(/^[0-9a-f]{32}$/);
    expect(TRACE_EVENT_SCHEMA_VERSION).toBe(1);
    for (const [index, event] of live.events.entries()) {
      expect(Object.values(EVENTS)).toContain(event.type);
      expect(event).toMatchObject({
        schemaVersion: 1,
        _seq: index,
        agentId: expect.any(String) as unknown,
        timestamp: expect.any(Number) as unknown,
      });
      expect(event.trace.traceId).toBe(traceId);
      expect(event.trace.spanId).toMatch(/^[0-9a-f]{16}$/);
      expect(event.trace.parentSpanId).toMatch(event.type.startsWith("runWith") ? /^$/ : /^[0-9a-f]{16}$/);
      expect(event.timestamp).toBeGreaterThanOrEqual(live.events[index - 1]?.timestamp ?? 0);
    }
  });

  it("name their agent", () => {
    const agentOf = (type: string): string[] => [
      ...new Set(live.events.filter((event) => event.type === type).map(({ agentId }) => agentId ?? "")),
    ];
    expect(agentOf("runWith:start")).toEqual([""]);
    expect(agentOf("agent:start")).toEqual(["leader", "writer", "checker"]);
    expect(agentOf("turn:end")).toEqual(["leader", "writer"]);
    expect(agentOf("budget:update")).toEqual(["leader", "writer"]);
    expect(agentOf("call:end")).toEqual(["writer"]);
  });
});

describe("the events of a replay", () => {
  it("are the same, except for model calls and events inside replayed calls", () => {
    expect(spanTree(spansOnly(replayed.events))).toEqual(treeOf(secondGeneration(false)));
    expect(spanTree(spansOnly(resumed.events))).toEqual(treeOf(firstGeneration(false), secondGeneration(true)));
    for (const type of ["model:call:start", "model:call:end", "budget:update"] as const)
      expect(replayed.of(type)).toEqual([]);
  });

  it("mark each turn and each call as coming from the recording", () => {
    const caches = (events: Recorder): unknown[] => [
      ...events.of("turn:end").map(({ cache }) => cache),
      ...events.of("tool:call:end").map(({ cache }) => cache),
      ...events.of("tools:execute:end").flatMap(({ toolResults }) => toolResults.map(({ cache }) => cache)),
      ...events.of("call:end").map(({ cache }) => cache),
    ];
    expect(new Set(caches(live))).toEqual(new Set([false]));
    expect(new Set(caches(replayed))).toEqual(new Set([true]));
    expect(resumed.of("turn:end").map(({ cache }) => cache)).toEqual([true, true, false]);
  });

  it("have the same hashes, messages and outputs", () => {
    const turns = (events: Recorder): unknown[] =>
      events
        .of("turn:end")
        .filter(({ agentId }) => agentId === "leader")
        .map(({ contentHash, messages, message, resultType, step, schema, toolConfig }) => ({
          contentHash,
          messages,
          message,
          resultType,
          step,
          schema,
          toolConfig,
        }));
    expect(turns(resumed)).toEqual(turns(live));
    expect(turns(replayed)).toEqual(turns(live).slice(2));
    // The recording contains the call ids of the model. Those of callTool are new.
    const results = (events: Recorder): unknown =>
      events.of("tools:execute:end").map(({ toolResults }) =>
        toolResults.map(({ toolName, input, output, outputTypes, error, contentHash }) => ({
          toolName,
          input,
          output,
          outputTypes,
          message: error?.message,
          contentHash,
        })),
      );
    expect(results(resumed)).toEqual(results(live));
    expect(results(replayed)).toEqual((results(live) as unknown[]).slice(1));
  });

  it("contain the origin of the snapshot", () => {
    for (const type of ["runWith:start", "runWith:end"] as const) {
      expect(live.of(type)[0]?.restoration).toBeUndefined();
      expect(live.of(type)[0]?.trace.attributes).toBeUndefined();
      expect(replayed.of(type)[0]?.restoration).toEqual({
        isRestored: true,
        sourceProcessId: snapshot.processId,
        snapshotTimestamp: snapshot.timestamp,
        snapshotVersion: 1,
        provenance: snapshot.provenance,
      });
      expect(replayed.of(type)[0]?.trace.attributes).toEqual({
        "restoration.why": "test",
        "restoration.nested": { n: 1 },
      });
    }
    expect(replayed.of("agent:start")[0]?.trace.attributes).toBeUndefined();
  });
});

describe("the spans of a custom agent loop", () => {
  it("are nested like the calls", async () => {
    const bus = recorder();
    const inner = createAgent({ id: "inner", handler: () => 1 });
    await runWith(
      () =>
        runFrame({ id: "loop", input: 1 }, () =>
          journalCall({ kind: "step", name: "outer", request: 1 }, async () => {
            await journalCall({ kind: "step", name: "nested", request: 2 }, () => 2);
            return inner();
          }),
        ),
      { eventBus: bus },
    );
    expect(spanTree(spansOnly(bus.events))).toEqual([
      "runWith",
      "  agent loop",
      "    generation",
      "      call step outer",
      "        call step nested",
      "        agent inner",
      "          generation",
    ]);
  });
});
