// Failures in the middle of a call that are not its own: callbacks that throw and edited recordings.
import { journalCall, resume, runWith, type AgentSnapshot, type ReplayReport, type RunWithOptions } from "agent-rewind";
import { dumpSnapshot, parseSnapshot, stringifySnapshot } from "agent-rewind/debugger";
import { describe, expect, it } from "vitest";

const ask = (name: string): Promise<string> => journalCall({ kind: "ask", name, request: { name } }, () => name);
const recorded = (): Promise<AgentSnapshot> =>
  runWith(async () => {
    await ask("a");
    return dumpSnapshot();
  });

it("a call fails with the error that onMiss throws", async () => {
  const mine = new Error("mine");
  const onMiss = (): never => {
    throw mine;
  };
  await expect(resume(() => ask("b"), { snapshot: await recorded(), onMiss })).rejects.toBe(mine);
});

it.each([
  null,
  [],
  {},
  "x",
  1,
  { durationMs: null },
  { durationMs: "1" },
  { durationMs: 2, usage: { totalTokens: "9" } },
])("the meta of a recorded call can be edited to %j", async (meta) => {
  const snapshot = parseSnapshot(stringifySnapshot(await recorded()));
  (snapshot.root.calls as unknown as { meta: unknown }[])[0]!.meta = meta;
  let report: ReplayReport | undefined;
  expect(await runWith(() => ask("a"), { snapshot, onReport: (given) => (report = given) })).toBe("a");
  expect(report?.replayed).toBe(1);
  const isTimed = typeof meta === "object" && meta !== null && "durationMs" in meta && meta.durationMs === 2;
  expect(report?.saved).toMatchObject({ milliseconds: isTimed ? 2 : 0, totalTokens: 0 });
});

describe("runWith rejects, before anything runs,", () => {
  it.each<[string, unknown, RegExp]>([
    ["options", null, /options must be an object, received null/],
    ["options", 5, /options must be an object, received number/],
    ["eventBus", { eventBus: [] }, /options\.eventBus must be an object with a method emit/],
    ["eventBus", { eventBus: null }, /options\.eventBus must be an object with a method emit/],
    ["onMiss", { onMiss: 5 }, /options\.onMiss must be a function, received number/],
    ["onReport", { onReport: "x" }, /options\.onReport must be a function, received string/],
    ["enableSnapshot", { enableSnapshot: "no" }, /options\.enableSnapshot must be true or false, received string/],
    ["requests", { requests: 1 }, /options\.requests must be true or false, received number/],
    ["normalize", { normalize: {} }, /options\.normalize must be an array of rules/],
    ["signal", { signal: {} }, /options\.signal must be an AbortSignal/],
  ])("wrong %s: %j", async (_what, options, message) => {
    let ran = false;
    const run = runWith(() => (ran = true), options as RunWithOptions);
    await expect(run).rejects.toThrow(TypeError);
    await expect(run).rejects.toThrow(message);
    expect(ran).toBe(false);
  });

  it("callbacks that are not functions", async () => {
    await expect(runWith(5 as unknown as () => number)).rejects.toThrow(/fn must be a function, received number/);
  });
});
