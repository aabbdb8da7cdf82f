import {
  createAgent,
  equipInstruction,
  equipMemory,
  promptAgent,
  reborn,
  runWith,
  type AgentSnapshot,
  type ModelAdapter,
} from "agent-rewind";
import { dumpSnapshot, forkSnapshot, restoreSnapshot } from "agent-rewind/debugger";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { callsIn, framesIn, parsed, record } from "./support/fork.js";
import { nested, parallel, toolLoop, type Scenario } from "./support/scenarios.js";
import { result, scriptedModel, textOf } from "./support/scripted-model.js";
import { recorded } from "./support/traces.js";
import { tree } from "./support/tree.js";

type Setting = Scenario & { model?: ModelAdapter };

const nothingElse: { name: string; make: () => Setting }[] = [
  { name: "a tool loop", make: toolLoop },
  { name: "agents in agents", make: nested },
  { name: "parallel agents", make: () => parallel() },
  {
    name: "a tree of agents, whose ends interleave",
    make: () => {
      const { run, model, toolInputs } = tree({
        latency: (text) => (text.length * 7) % 5,
        startAfter: (index) => (index * 3) % 4,
      });
      return {
        run,
        model,
        counts: () => ({ model: model.calls.length, tool: toolInputs.length }),
        expected: expect.anything(),
      };
    },
  },
  { name: "a reborn agent with sub-agents", make: rebornScenario },
];

/**
 * The agent of the recorded scenario: three generations, each with a sub-agent and a prompt that depend on its memory.
 */
function rebornScenario(): Scenario {
  const helperModel = scriptedModel("fake-helper", (messages) => result(`help for ${textOf(messages[0])}`));
  const model = scriptedModel("fake-retry", (messages) =>
    result(`try ${/attempt (\d)/.exec(textOf(messages[0]))?.[1]}`),
  );
  const Result = z.object({ result: z.string() });
  const helper = createAgent<{ k: number }, { result: string }>({
    id: "helper",
    model: helperModel,
    handler: async ({ k }) => {
      equipInstruction(`hint ${k}`);
      return promptAgent(Result);
    },
  });
  const retry = createAgent<Record<string, never>, unknown>({
    id: "retry",
    model,
    handler: async () => {
      const [attempts, setAttempts] = equipMemory("attempts", 0);
      const [log, setLog] = equipMemory<string[]>("log", []);
      const { result: hint } = await helper({ k: attempts });
      equipInstruction(`attempt ${attempts}, hint ${hint}`);
      const { result: text } = await promptAgent(Result);
      setAttempts(attempts + 1);
      setLog([...log, text]);
      return attempts < 2 ? reborn() : { attempts: attempts + 1, log: [...log, text] };
    },
  });
  return {
    run: () => retry({}),
    counts: () => ({ model: helperModel.calls.length + model.calls.length, tool: 0 }),
    expected: { attempts: 3, log: ["try 0", "try 1", "try 2"] },
  };
}

/**
 * Drops each call and each frame of a snapshot, and checks that exactly the dropped calls are executed again.
 * @returns the number of drops.
 */
async function checkEveryDrop(source: AgentSnapshot, make: () => Setting): Promise<number> {
  const { root } = parsed(source);
  const all = callsIn(root);
  const started = framesIn(root).filter(({ callId }) => callId !== root.callId);
  const cases = [
    ...all.map((call) => ({ callId: call.callId, end: call.endOrder, inside: [call], start: call.startOrder })),
    ...started.map((frame) => ({
      callId: frame.callId,
      end: frame.endOrder,
      inside: callsIn(frame),
      start: frame.startOrder ?? 0,
    })),
  ];
  const countMade = async (snapshot: AgentSnapshot): Promise<number> => {
    const scenario = make();
    const { model } = scenario;
    expect(await runWith(() => scenario.run(), { snapshot, ...(model && { model }) })).toEqual(scenario.expected);
    const counts = scenario.counts();
    return counts.model + counts.tool;
  };
  const remaining = await countMade(source);
  for (const { callId, end = Infinity, inside, start } of cases) {
    const same = cases.filter((other) => other.callId === callId).toSorted((left, right) => left.start - right.start);
    const occurrence = same.findIndex((other) => other.start === start);
    const fork = forkSnapshot(source, { at: { callId, occurrence }, drop: true });
    const dropped = all.filter(
      (call) => call.endOrder !== undefined && (inside.includes(call) || call.startOrder > end),
    );
    expect({ callId, occurrence, liveCalls: await countMade(fork) }).toEqual({
      callId,
      occurrence,
      liveCalls: remaining + dropped.length,
    });
  }
  return cases.length;
}

describe.each(nothingElse)("forkSnapshot in $name", ({ make }) => {
  it("each drop executes exactly the dropped calls again", async () => {
    const scenario = make();
    const { model } = scenario;
    const source = await record(() => scenario.run(), { ...(model && { model }) });
    expect(await checkEveryDrop(source, make)).toBeGreaterThan(4);
  }, 60_000);

  it("a fork keeps the requests, so they can be hashed by other rules", async () => {
    const scenario = make();
    const { model } = scenario;
    const source = await record(() => scenario.run(), { ...(model && { model }) });
    const { startOrder } = callsIn(parsed(source).root).at(-1) ?? {};
    const callId = callsIn(parsed(source).root).find((call) => call.startOrder === startOrder)?.callId ?? "";
    const snapshot = forkSnapshot(source, { at: callId, drop: true });
    const expected = make();
    await runWith(() => expected.run(), { snapshot, ...(expected.model && { model: expected.model }) });
    const again = make();
    const normalize = [{ id: "nothing", pattern: /(?!)/ }];
    await runWith(() => again.run(), { snapshot, normalize, ...(again.model && { model: again.model }) });
    expect(again.counts()).toEqual(expected.counts());
  });
});

it("in the snapshot of an unfinished run, a drop adds to the calls that were not executed yet", async () => {
  const latency = (text: string): number => (text.length * 7) % 5;
  let dump: AgentSnapshot | undefined;
  const going = tree({
    latency,
    inTheMiddle: () => {
      dump = dumpSnapshot();
    },
  });
  const { model } = going;
  await runWith(() => going.run(), { model });
  const make = (): Setting => {
    const each = tree({ latency });
    const counts = (): { model: number; tool: number } => ({
      model: each.model.calls.length,
      tool: each.toolInputs.length,
    });
    return { run: each.run, model: each.model, counts, expected: expect.anything() };
  };
  expect(await checkEveryDrop(dump as AgentSnapshot, make)).toBeGreaterThan(4);
}, 60_000);

describe("a fork of a restored snapshot", () => {
  it.each([
    ["b-tool-loop", toolLoop],
    ["c-nested-3", nested],
    ["d-parallel-5", () => parallel()],
    ["f-reborn-3", rebornScenario],
  ] as const)(
    "of %s, recorded by @rejelly/core, executes exactly the dropped calls again",
    async (name, make) => {
      expect(await checkEveryDrop(restoreSnapshot(recorded(name).jsonl), make)).toBeGreaterThan(4);
    },
    60_000,
  );

  it.each([
    ["parallel agents", () => parallel()],
    ["a reborn agent", rebornScenario],
  ] as const)(
    "of %s, recorded by this package, does the same",
    async (_what, make) => {
      const events: object[] = [];
      await runWith(() => make().run(), { eventBus: { emit: (event) => void events.push(event) } });
      const lines = events.map((event) => JSON.stringify(event)).join("\n");
      expect(await checkEveryDrop(restoreSnapshot(lines), make)).toBeGreaterThan(4);
    },
    60_000,
  );
});
