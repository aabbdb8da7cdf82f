import { runWith } from "agent-rewind";
import { restoreSnapshot } from "agent-rewind/debugger";
import { describe, expect, it } from "vitest";

import { nested, parallel, toolLoop, type Scenario } from "./support/scenarios.js";
import { recorded } from "./support/traces.js";

const scenarios = [
  { name: "b-tool-loop", make: toolLoop },
  { name: "c-nested-3", make: nested },
  { name: "d-parallel-5", make: () => parallel() },
] satisfies { name: Parameters<typeof recorded>[0]; make: () => Scenario }[];

describe.each(scenarios)("a replay of $name, recorded by @rejelly/core", ({ name, make }) => {
  const { events, jsonl, cuts } = recorded(name);

  it.each(cuts)("makes at most the remaining calls: $why", async ({ options, callsStillOwed }) => {
    for (const trace of [events, jsonl]) {
      const scenario = make();
      const result = await runWith(() => scenario.run(), { snapshot: restoreSnapshot(trace, options) });
      expect(result).toEqual(scenario.expected);
      const counts = scenario.counts();
      expect(counts.model).toBeLessThanOrEqual(callsStillOwed.model);
      expect(counts.tool).toBeLessThanOrEqual(callsStillOwed.tool);
    }
  });
});

describe.each(scenarios)("$name, recorded by this package", ({ make }) => {
  it("replays its own dump without a live call", async () => {
    const { dumpSnapshot } = await import("agent-rewind/debugger");
    const live = make();
    const snapshot = await runWith(async () => {
      expect(await live.run()).toEqual(live.expected);
      return dumpSnapshot();
    });
    const again = make();
    expect(await runWith(() => again.run(), { snapshot })).toEqual(live.expected);
    expect(again.counts()).toEqual({ model: 0, tool: 0 });
  });
});
