import { restoreSnapshot, stringifySnapshot } from "agent-rewind/debugger";
import { runWith, type AgentFrameSnapshot, type AgentSnapshot, type TraceEvent } from "agent-rewind";
import { describe, expect, it } from "vitest";

import { recorded, scenarioNames, type FrameTruth } from "./support/traces.js";

interface FrameView {
  agentId: string;
  prompt: string[];
  tool: string[];
  status: string;
  memory: unknown;
  children: FrameView[];
}

function view(frame: AgentFrameSnapshot): FrameView {
  return {
    agentId: frame.agentId,
    prompt: Object.keys(frame.journal.prompt).toSorted(),
    tool: Object.keys(frame.journal.tool).toSorted(),
    status: frame.state.status,
    memory: frame.memory,
    children: Object.values(frame.children).map(view),
  };
}

/** The tree that the truth describes. Rows are hashes, so each counts once, and failed tools have no row. */
function expectedView(frames: FrameTruth[], parent: string | null): FrameView[] {
  return frames
    .filter(({ parentAgentSpan }) => parentAgentSpan === parent)
    .map((frame) => ({
      agentId: frame.agentId,
      prompt: [...new Set(frame.prompt)].toSorted(),
      tool: [...new Set(frame.tool)].toSorted(),
      status: frame.status,
      memory: frame.memory,
      children: expectedView(frames, frame.span),
    }));
}

function agentFrames(snapshot: AgentSnapshot): AgentFrameSnapshot[] {
  return snapshot.root.agentId === "" ? Object.values(snapshot.root.children) : [snapshot.root];
}

/** The values by which a snapshot is compared with the documented truth. */
function comparable(frame: AgentFrameSnapshot): unknown {
  const { callId, agentId, journal, state, memory, children } = frame;
  const entries = Object.entries(children).map(([key, child]) => [key, comparable(child)]);
  return { callId, agentId, journal, state, memory, children: Object.fromEntries(entries) };
}

describe.each(scenarioNames)("restoreSnapshot of %s, recorded by @rejelly/core", (name) => {
  const scenario = recorded(name);

  it("restores the whole run: the right tree, status, memory and rows", () => {
    const snapshot = restoreSnapshot(scenario.events);
    expect(agentFrames(snapshot).map(view)).toEqual(expectedView(scenario.frames, null));
    if (scenario.truth !== undefined) {
      expect(agentFrames(snapshot).map(comparable)).toEqual(agentFrames(scenario.truth).map(comparable));
    }
    expect(snapshot.warnings ?? []).toEqual([]);
  });

  it("restores the same from events, text and bytes, also after a round trip, sharing nothing", () => {
    const events = structuredClone(scenario.events);
    const snapshot = restoreSnapshot(events);
    const roots = [scenario.jsonl, Buffer.from(scenario.jsonl)].map((trace) => restoreSnapshot(trace).root);
    for (const root of roots) expect(root).toEqual(snapshot.root);
    expect(JSON.parse(stringifySnapshot(snapshot))).toEqual(snapshot);
    deepChange(snapshot.root);
    expect(events).toEqual(scenario.events);
  });

  it.each(scenario.cuts)("contains everything up to the cut: $why", ({ options, eventsKept }) => {
    const snapshot = restoreSnapshot(scenario.events, options);
    const kept = scenario.events.slice(0, eventsKept ?? undefined);
    expect(view(snapshot.root)).toEqual(view(restoreSnapshot(kept).root));
    expect(rowsOf(snapshot.root)).toEqual(rowsEndedIn(kept));
    expect(snapshot.provenance).toMatchObject({ source: "restore", ...options });
  });

  it("accepts the dumps of the recording package", async () => {
    for (const which of ["mid", "end"] as const) {
      expect(await runWith(() => "ran", { snapshot: scenario.dump(which) })).toBe("ran");
    }
  });
});

function rowsOf(frame: AgentFrameSnapshot): string[] {
  const own = [...Object.keys(frame.journal.prompt), ...Object.keys(frame.journal.tool)];
  return [...own, ...Object.values(frame.children).flatMap(rowsOf)].toSorted();
}

/** The hashes that have an output by the end of these events: one row per hash and agent. */
function rowsEndedIn(events: TraceEvent[]): string[] {
  const parents = new Map(events.map(({ trace }) => [trace.spanId, trace.parentSpanId]));
  const agents = new Set(events.filter(({ type }) => type === "agent:start").map(({ trace }) => trace.spanId));
  const agentOf = (spanId: string | undefined): string => {
    for (let span = spanId; span; span = parents.get(span)) if (agents.has(span)) return span;
    return "";
  };
  const rows = new Set<string>();
  for (const event of events as unknown as {
    type: string;
    trace: { spanId: string };
    success?: boolean;
    contentHash?: string;
    toolResults?: { success: boolean; contentHash: string }[];
  }[]) {
    const agent = agentOf(event.trace.spanId);
    if (event.type === "turn:end" && event.success === true) rows.add(`${agent} prompt ${event.contentHash}`);
    for (const result of event.toolResults ?? []) if (result.success) rows.add(`${agent} tool ${result.contentHash}`);
  }
  return [...rows].map((row) => row.split(" ")[2] ?? "").toSorted();
}

function deepChange(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  for (const [key, member] of Object.entries(value)) {
    deepChange(member);
    (value as Record<string, unknown>)[key] = "changed";
  }
}
