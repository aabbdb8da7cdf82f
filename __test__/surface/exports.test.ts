// The names that programs import, and the types that they write explicitly.
import { createRequire } from "node:module";
import * as main from "agent-rewind";
import * as debuggerEntry from "agent-rewind/debugger";
import { describe, expect, expectTypeOf, it } from "vitest";
import type { z } from "zod";

const require = createRequire(import.meta.url);

const FUNCTIONS = [
  "augmentTool",
  "callTool",
  "createAgent",
  "createEventBus",
  "equipBudget",
  "equipInstruction",
  "equipMemory",
  "equipSystem",
  "equipTool",
  "getAbortHandle",
  "getContextSignal",
  "getGlobalEventBus",
  "getUsageStats",
  "isRebornSignal",
  "promptAgent",
  "reborn",
  "recordToolUsage",
  "runWith",
  "withCustomSpan",
];

const ERRORS = [
  "AbortError",
  "AfterPromptAgentError",
  "AttemptsExhaustedError",
  "ContextNotFoundError",
  "InvalidToolOutputError",
  "JsonSchemaNotFoundError",
  "MaxDepthExceededError",
  "ModelNotFoundError",
  "ModelRegistryNotFoundError",
  "RestoreError",
  "SnapshotDisabledError",
  "TurnBudgetExceededError",
];

describe.each([
  ["import", main as object],
  ["require", require("agent-rewind") as object],
])("the main entry point, by %s", (_how, entry) => {
  const exported = entry as Record<string, unknown>;

  it.each(FUNCTIONS)("exports %s", (name) => {
    expect(exported[name]).toBeTypeOf("function");
  });

  it.each(ERRORS)("exports %s, and a guard for it that compares the name", (name) => {
    const guard = exported[`is${name}`] as (value: unknown) => boolean;
    expect((exported[name] as { prototype: Error }).prototype.name).toBe(name);
    expect(guard(Object.assign(new Error("x"), { name }))).toBe(true);
    expect([undefined, null, 1, "x", new Error("x")].map(guard)).toEqual(Array.from({ length: 5 }, () => false));
  });

  it("exports the version of its events", () => {
    expect(exported["TRACE_EVENT_SCHEMA_VERSION"]).toBe(1);
    expect(exported["EVENTS"]).toMatchObject({ AGENT_START: "agent:start", RUN_WITH_END: "runWith:end" });
  });
});

describe("the debugger entry point", () => {
  it("exports the functions for snapshots", () => {
    expect(debuggerEntry.dumpSnapshot).toBeTypeOf("function");
    expect(debuggerEntry.restoreSnapshot).toBeTypeOf("function");
  });
});

describe("types", () => {
  it("of runWith can be written as its result, or as its props and its result", () => {
    const { runWith } = main;
    expectTypeOf(runWith<number>)
      .parameter(0)
      .toEqualTypeOf<() => number | Promise<number>>();
    expectTypeOf(runWith<{ q: string }, number>).toBeCallableWith(({ q }) => q.length, { initialProps: { q: "x" } });
    expectTypeOf(runWith<{ q: string }, number>).returns.resolves.toEqualTypeOf<number>();
  });

  it("are inferred from the arguments", () => {
    const { createAgent, equipMemory, promptAgent, runWith, callTool } = main;
    const agent = createAgent({ id: "a", handler: ({ q }: { q: string }) => Promise.resolve(q.length) });
    expectTypeOf(agent).parameter(0).toEqualTypeOf<{ q: string }>();
    expectTypeOf(agent).returns.resolves.toEqualTypeOf<number>();
    const inferred = () => runWith((props) => props.q, { initialProps: { q: "x" } });
    expectTypeOf(inferred).returns.resolves.toEqualTypeOf<string>();
    const prompted = (schema: z.ZodType<{ city: string }>) => promptAgent(schema);
    expectTypeOf(prompted).returns.resolves.toEqualTypeOf<{ city: string }>();
    const remembered = () => equipMemory("k", 0);
    expectTypeOf(remembered).returns.toEqualTypeOf<
      [number, (value: number | ((previous: number) => number)) => void]
    >();
    const called = (tool: main.Tool<{ n: number }, string>) => callTool(tool, { n: 1 });
    expectTypeOf(called).returns.resolves.toEqualTypeOf<string>();
  });
});
