import {
  createAgent,
  equipInstruction,
  equipSystem,
  isInvalidSnapshotError,
  isRestoreError,
  runWith,
  type AgentSnapshot,
  type TraceEvent,
} from "agent-rewind";
import {
  canonicalize,
  collectTrace,
  contentHash,
  dumpSnapshot,
  parseSnapshot,
  restoreSnapshot,
} from "agent-rewind/debugger";
import { createRedactor } from "agent-rewind/redact";
import { describe, expect, it } from "vitest";

import { recorded } from "./support/traces.js";

const { events, jsonl } = recorded("c-nested-3");

function restoreError(
  trace: unknown,
  options?: Parameters<typeof restoreSnapshot>[1],
): Error & { path?: string; spanId?: string } {
  try {
    restoreSnapshot(trace as TraceEvent[], options);
  } catch (error) {
    expect(isRestoreError(error)).toBe(true);
    return error as Error;
  }
  throw new Error("nothing was thrown");
}

async function snapshotError(snapshot: unknown): Promise<Error & { faults?: { path: string }[]; path?: string }> {
  let ran = false;
  const error: unknown = await runWith(() => (ran = true), { snapshot: snapshot as AgentSnapshot }).catch(
    (caught: unknown) => caught,
  );
  expect(ran).toBe(false);
  expect(error).toBeInstanceOf(Error);
  return error as Error;
}

describe("an argument of a wrong type is a TypeError that names it", () => {
  const wrong = [null, undefined, 5, true, {}, []] as unknown as string[];
  const redactor = createRedactor();

  it.each<[string, (value: never) => unknown, readonly unknown[]]>([
    ["contentHash: text", contentHash, wrong],
    ["canonicalize: text", canonicalize, wrong],
    ["redactor.text: text", (value) => redactor.text(value), wrong],
    ["redactor.json: text", (value) => redactor.json(value), wrong],
    ["redactor.findInText: text", (value) => redactor.findInText(value), wrong],
    ["redactor.findInJson: text", (value) => redactor.findInJson(value), wrong],
    ["collectTrace: bus", collectTrace, [null, 5, {}, "bus"]],
    ["createAgent: config", createAgent, [null, 5, "agent"]],
    ["restoreSnapshot: options", (value) => restoreSnapshot(events, value), [null, 5, "end"]],
  ])("%s", (name, call, values) => {
    for (const value of values) {
      let error: unknown;
      try {
        call(value as never);
      } catch (thrown) {
        error = thrown;
      }
      expect(error).toBeInstanceOf(TypeError);
      expect((error as Error).message).toMatch(new RegExp(`^${name} must be [^:]*, received `));
    }
  });

  it.each([
    ["equipInstruction: content", equipInstruction, [null, undefined, 5, {}]],
    ["equipSystem: text", equipSystem, wrong],
  ] as const)("%s", async (name, equip, values) => {
    for (const value of values) {
      const agent = createAgent({ id: "a", handler: () => equip(value as never) });
      const error: unknown = await runWith(() => agent()).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(TypeError);
      expect((error as Error).message).toMatch(new RegExp(`^${name} must be [^:]*, received `));
    }
  });

  it.each(["spanId", "traceId"])("restoreSnapshot: %s", (name) => {
    for (const value of [null, 5, {}])
      expect(restoreError(events, { [name]: value }).message).toContain(`options.${name} must be a string, received`);
  });
});

const good = (): AgentSnapshot => recorded("c-nested-3").dump("end");

describe("restoreSnapshot, given the events of two runs,", () => {
  const other = recorded("a-single-turn");
  const traceIds = [events[0]?.trace.traceId ?? "", other.events[0]?.trace.traceId ?? ""];

  it("restores the chosen one", () => {
    const both = [...events, ...other.events];
    expect(restoreSnapshot(both, { traceId: traceIds[0] ?? "" }).root).toEqual(restoreSnapshot(events).root);
    expect(restoreSnapshot(both, { traceId: traceIds[1] ?? "" }).root).toEqual(restoreSnapshot(other.events).root);
    const spanId = other.events.find(({ type }) => type === "turn:end")?.trace.spanId ?? "";
    expect(restoreSnapshot(both, { spanId }).provenance.traceId).toBe(traceIds[1]);
  });

  it("restores the one that started last by default, and names both in a warning", () => {
    const start = Math.min(...events.map(({ timestamp }) => timestamp));
    const later = other.events.map((event, index) => ({ ...event, timestamp: start + 1_000_000 + index }));
    for (const both of [
      [...events, ...later],
      [...later, ...events],
    ]) {
      const { root, provenance, warnings = [] } = restoreSnapshot(both);
      expect(provenance.traceId).toBe(traceIds[1]);
      expect(Object.keys(root.children)).toEqual(Object.keys(restoreSnapshot(later).root.children));
      expect(warnings).toMatchObject([{ code: "several-runs" }]);
      for (const traceId of traceIds) expect(warnings[0]?.message).toContain(traceId);
    }
  });
});

describe("restoreSnapshot refuses", () => {
  it.each([
    ["no events", [], "Restore failed: Trace is empty."],
    ["empty text", "", "Restore failed: Trace is empty."],
    ["no bytes", Buffer.alloc(0), "Restore failed: Trace is empty."],
  ])("%s", (_what, trace, message) => {
    expect(restoreError(trace).message).toBe(message);
  });

  it("a target span that does not exist, by its start and by its end", () => {
    const after = restoreError(events, { spanId: "nowhere" });
    expect(after.message).toBe('Restore failed: Target span "nowhere" END event not found in trace.');
    expect(after.spanId).toBe("nowhere");
    expect(restoreError(events, { spanId: "nowhere", anchor: "before" }).message).toBe(
      'Restore failed: Target span "nowhere" START event not found in trace.',
    );
  });

  it("a target with nothing before it, and a target before the first agent", () => {
    const first = events[0]?.trace.spanId ?? "";
    expect(restoreError(events, { spanId: first, anchor: "before" }).message).toBe(
      "Restore failed: START event is at the beginning of trace, cannot restore before it.",
    );
    const agent = events[1]?.trace.spanId ?? "";
    expect(restoreError(events, { spanId: agent, anchor: "before" }).message).toBe(
      "Restore failed: Root agent frame not created.",
    );
  });

  it.each([
    ["null", null, "events.1"],
    ["a string", "x", "events.1"],
    ["an event without a type", { trace: { traceId: "t", spanId: "s", parentSpanId: "" } }, "events.1.type"],
    ["an event without a trace", { type: "agent:start" }, "events.1.trace"],
    ["an event without a span", { type: "agent:start", trace: { traceId: "t" } }, "events.1.trace.spanId"],
  ])("%s in the event list, with its path", (_what, event, path) => {
    const error = restoreError([events[0], event, ...events.slice(1)]);
    expect(error.path).toBe(path);
    expect(error.message).toContain(path);
  });

  it("a wrong anchor and values that are not a trace", () => {
    expect(restoreError(events, { anchor: "around" as "after" }).message).toContain("options.anchor");
    expect(restoreError(7).message).toContain("number");
  });
});

describe("restoreSnapshot repairs", () => {
  it("a truncated or broken line: it is skipped and a warning names it", () => {
    const lines = jsonl.trim().split("\n");
    const cut = `${lines.slice(0, -1).join("\n")}\n${lines.at(-1)?.slice(0, 40)}`;
    const snapshot = restoreSnapshot(cut);
    expect(snapshot.warnings).toEqual([expect.objectContaining({ code: "invalid-line", line: lines.length })]);
    const broken = [...lines.slice(0, 5), "{oops}", ...lines.slice(5)].join("\n");
    const repaired = restoreSnapshot(broken);
    expect(repaired.warnings).toEqual([expect.objectContaining({ code: "invalid-line", line: 6 })]);
    expect(repaired.root).toEqual(restoreSnapshot(jsonl).root);
  });

  it("a duplicated event", () => {
    const doubled = events.flatMap((event) => [event, event]);
    const snapshot = restoreSnapshot(doubled);
    expect(withoutOrder(snapshot.root)).toEqual(withoutOrder(restoreSnapshot(events).root));
    expect(snapshot.warnings?.every(({ code }) => code === "duplicate-event")).toBe(true);
    expect(snapshot.warnings?.length).toBeGreaterThan(0);
  });
});

/** Drops the orders of starts and ends, which depend on the number of events in the list. */
function withoutOrder(root: AgentSnapshot["root"]): unknown {
  return JSON.parse(
    JSON.stringify(root, (key, value: unknown) => (/^(start|end)Order$/.test(key) ? undefined : value)),
  );
}

describe("runWith rejects a snapshot", () => {
  it("with twenty faults and lists all of them on one line with dotted paths", async () => {
    const bad = good() as unknown as Record<string, Record<string, unknown>>;
    const usage = { costs: 1, promptTokens: "1", completionTokens: "1", totalTokens: null, callCount: [], items: {} };
    Object.assign(bad, {
      processId: 1,
      timestamp: "now",
      version: 2,
      metadata: "tags",
      provenance: { traceId: 5, anchor: "x", source: "y" },
    });
    Object.assign(bad["root"] as object, {
      callId: 1,
      agentId: null,
      memory: [],
      journal: { prompt: { h: { output: 1 } }, tool: 3 },
      state: { status: "done" },
      budgetState: { own: usage },
    });
    const error = await snapshotError(bad);
    expect(isInvalidSnapshotError(error)).toBe(true);
    expect(error.message).toMatch(/^Invalid Snapshot format: \S+: [^\n]+$/);
    const paths = error.faults?.map(({ path }) => path) ?? [];
    expect(paths.toSorted()).toEqual(
      [
        "metadata",
        "processId",
        "provenance.anchor",
        "provenance.source",
        "provenance.traceId",
        "root.agentId",
        "root.budgetState.aggregate",
        "root.budgetState.own.callCount",
        "root.budgetState.own.completionTokens",
        "root.budgetState.own.costs",
        "root.budgetState.own.items",
        "root.budgetState.own.promptTokens",
        "root.budgetState.own.totalTokens",
        "root.callId",
        "root.journal.prompt.h.contentHash",
        "root.journal.tool",
        "root.memory",
        "root.state.status",
        "timestamp",
        "version",
      ].toSorted(),
    );
    for (const path of paths) expect(error.message).toContain(`${path}: `);
  });

  it("that is neither text nor bytes, and names what it received", () => {
    const wrong: [unknown, string][] = [
      [null, "null"],
      [undefined, "undefined"],
      [7, "number"],
      [{}, "object"],
      [new ArrayBuffer(8), "object"],
      [new Uint16Array(8), "object"],
    ];
    for (const [value, kind] of wrong) {
      const message = `parseSnapshot: text must be a string or a Uint8Array, received ${kind}`;
      expect(() => parseSnapshot(value as string)).toThrow(TypeError);
      expect(() => parseSnapshot(value as string)).toThrow(message);
    }
  });

  it("of a future version, and says so", async () => {
    const error = await snapshotError({ ...good(), version: 2 });
    expect(error.message).toMatch(/version: expected 1, received 2.*newer/);
  });

  it.each([7, "text", true, []])("that is %j", async (snapshot) => {
    expect(isInvalidSnapshotError(await snapshotError(snapshot))).toBe(true);
  });

  it("nested 100,000 levels deep, as frames or as JSON, without a crash", async () => {
    const deepJson = good();
    let value: unknown = 1;
    for (let level = 0; level < 100_000; level += 1) value = [value];
    deepJson.root.memory["deep"] = value;
    expect(await snapshotError(deepJson)).toMatchObject({ code: expect.stringMatching(/^ERR_REWIND_/) });

    const text = JSON.stringify(good());
    const nested = text.replace('"memory":{}', `"memory":{"deep":${"[".repeat(100_000)}${"]".repeat(100_000)}}`);
    expect(() => parseSnapshot(nested)).toThrow(
      expect.objectContaining({ message: expect.stringContaining("root.memory.deep") }),
    );

    const deepFrames = good();
    let frame = deepFrames.root;
    for (let level = 0; level < 1_001; level += 1) frame = Object.assign(good().root, { children: { child: frame } });
    deepFrames.root = frame;
    expect(await snapshotError(deepFrames)).toMatchObject({ code: "ERR_REWIND_LIMIT" });
  });

  it("with a circular reference", async () => {
    const circular = good();
    circular.root.memory["self"] = circular;
    expect((await snapshotError(circular)).message).toContain("Invalid Snapshot format");
  });
});

describe("__proto__ keys in snapshots and traces", () => {
  it("are plain data in both directions and do not pollute prototypes", async () => {
    const text = JSON.stringify(good())
      .replace('"memory":{}', '"memory":{"__proto__":{"polluted":true}}')
      .replace(
        '"tool":{}',
        '"tool":{"__proto__":{"output":{"__proto__":{"polluted":true}},"contentHash":"__proto__"}}',
      );
    for (const snapshot of [parseSnapshot(text), JSON.parse(text) as AgentSnapshot]) {
      await runWith(() => expect(Object.keys(dumpSnapshot())).toContain("root"), { snapshot });
    }
    const again = parseSnapshot(text);
    expect(Object.keys(again.root.memory)).toEqual(["__proto__"]);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });
});
