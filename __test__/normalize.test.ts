import {
  createAgent,
  equipInstruction,
  equipSystem,
  isNormalizeError,
  journalCall,
  promptAgent,
  replay,
  runFrame,
  runWith,
  type AgentSnapshot,
  type NormalizeRule,
} from "agent-rewind";
import { dumpSnapshot, parseSnapshot, stringifySnapshot } from "agent-rewind/debugger";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { result, scriptedModel, textOf } from "./support/scripted-model.js";

const dates: NormalizeRule = { id: "dates", pattern: /\d{4}-\d\d-\d\d/ };
const requestIds: NormalizeRule = { id: "request-ids", pointer: ["/input/requestId", "/input/props/requestId"] };

interface World {
  today: string;
  requestId: string;
}

/** An agent whose prompt and tool calls contain values that change from day to day. */
function diary(world: World): { run(): Promise<unknown>; sent: string[] } {
  const sent: string[] = [];
  const model = scriptedModel("m", (messages) => {
    sent.push(messages.map(textOf).join("|"));
    return result(`entry ${sent.length}`);
  });
  const agent = createAgent<{ day: string }, unknown>({
    id: "diary",
    model,
    handler: async ({ day }) => {
      const note = await journalCall(
        { kind: "lookup", name: "notes", request: { requestId: world.requestId, page: 1 } },
        () => {
          sent.push(`lookup ${world.requestId}`);
          return "note";
        },
      );
      equipSystem(`Today is ${day}.`);
      equipInstruction(`Write about ${note}`);
      return (await promptAgent(z.object({ result: z.string() }))).result;
    },
  });
  return { run: () => agent({ day: world.today }), sent };
}

const first: World = { today: "2026-11-28", requestId: "req-1" };
const second: World = { today: "2026-11-29", requestId: "req-2" };

async function recordingOf(world: World, normalize?: NormalizeRule[], requests = true): Promise<AgentSnapshot> {
  const live = diary(world);
  return runWith(
    async () => {
      expect(await live.run()).toBe("entry 2");
      return dumpSnapshot();
    },
    { requests, ...(normalize === undefined ? {} : { normalize }) },
  );
}

async function replayed(world: World, snapshot: AgentSnapshot, normalize?: NormalizeRule[]): Promise<unknown> {
  const again = diary(world);
  const value = await replay(() => again.run(), { snapshot, ...(normalize === undefined ? {} : { normalize }) });
  expect(again.sent).toEqual([]);
  return value;
}

describe("the normalize option", () => {
  it("excludes changing values from the hashes and changes nothing that is sent", async () => {
    const rules = [dates, requestIds];
    const live = diary(first);
    await runWith(() => live.run(), { normalize: rules });
    expect(live.sent).toEqual(["lookup req-1", "Today is 2026-11-28.|Write about note"]);
    const snapshot = await recordingOf(first, rules);
    expect(await replayed(second, snapshot, rules)).toBe("entry 2");
    await expect(replayed({ ...second, requestId: "req-1" }, snapshot, [dates])).resolves.toBe("entry 2");
    await expect(replayed(second, await recordingOf(first))).rejects.toThrow(/The recording has no answer/);
  });

  it("is part of the recorded snapshot", async () => {
    const snapshot = await recordingOf(first, [dates]);
    expect(snapshot.normalize).toEqual([{ id: "dates", definition: expect.stringContaining("pattern") }]);
    expect(parseSnapshot(stringifySnapshot(snapshot)).normalize).toEqual(snapshot.normalize);
    expect((await recordingOf(first)).normalize).toBeUndefined();
  });

  it("recomputes the hashes of a snapshot recorded with other rules or without rules", async () => {
    const rules = [dates, requestIds];
    for (const snapshot of [
      await recordingOf(first),
      await recordingOf(first, [dates]),
      parseSnapshot(stringifySnapshot(await recordingOf(first))),
    ]) {
      expect(await replayed(second, snapshot, rules)).toBe("entry 2");
    }
    const strict = await recordingOf(first, rules);
    expect(await replayed(first, strict)).toBe("entry 2");
    await expect(replayed(second, strict)).rejects.toThrow(/The recording has no answer/);
  });

  it("rejects snapshots that cannot be rehashed before anything runs", async () => {
    const snapshot = await recordingOf(first, undefined, false);
    expect(await replayed(first, snapshot)).toBe("entry 2");
    const error: unknown = await replayed(first, snapshot, [dates]).catch((caught: unknown) => caught);
    expect(isNormalizeError(error)).toBe(true);
    expect((error as Error).message).toMatch(/recorded under other rules.*was not kept/);
  });

  it("accepts functions that see the complete document", async () => {
    const rule: NormalizeRule = {
      id: "first-message",
      apply: (document, kind) =>
        kind === "prompt" ? { ...document, messages: (document["messages"] as unknown[]).slice(1) } : { kind },
    };
    const snapshot = await recordingOf(first, [rule]);
    expect(await replayed(second, snapshot, [rule])).toBe("entry 2");
  });

  it("finds frames with their memory by normalized props", async () => {
    const program = (day: string) => (): Promise<unknown> =>
      Promise.all(
        [1, 2].map((id) =>
          runFrame({ id: "part", input: { id, day } }, () =>
            journalCall({ kind: "k", name: "n", request: id }, () => `made ${day}`),
          ),
        ),
      );
    const snapshot = await runWith(
      async () => {
        await program("2026-01-01")();
        return dumpSnapshot();
      },
      { normalize: [dates] },
    );
    expect(await replay(program("2026-02-02"), { snapshot, normalize: [dates] })).toEqual([
      "made 2026-01-01",
      "made 2026-01-01",
    ]);
  });

  it("blanks values by JSON pointers, including wildcards and escapes", async () => {
    const ask = (request: unknown) => (): Promise<unknown> =>
      journalCall({ kind: "k", name: "n", request }, () => "made");
    const normalize: NormalizeRule[] = [
      { id: "ids", pointer: ["/input/rows/*/id", "/input/a~1b", "/input/nowhere/*/x"] },
    ];
    const snapshot = await runWith(
      async () => {
        await ask({
          rows: [
            { id: 1, v: 1 },
            { id: 2, v: 2 },
          ],
          "a/b": 1,
        })();
        return dumpSnapshot();
      },
      { normalize },
    );
    expect(
      await replay(
        ask({
          rows: [
            { id: 8, v: 1 },
            { id: 9, v: 2 },
          ],
          "a/b": 2,
        }),
        { snapshot, normalize },
      ),
    ).toBe("made");
    await expect(
      replay(
        ask({
          rows: [
            { id: 8, v: 3 },
            { id: 9, v: 2 },
          ],
          "a/b": 2,
        }),
        { snapshot, normalize },
      ),
    ).rejects.toThrow(/no answer/);
  });

  it.each([
    [[{ id: "a" }], /exactly one of pointer, pattern, apply/],
    [[{ id: "", pattern: /x/ }], /normalize\.0\.id/],
    [
      [
        { id: "a", pattern: /x/ },
        { id: "a", pattern: /y/ },
      ],
      /two rules with the id "a"/,
    ],
    [[{ id: "a", pattern: "x" }], /regular expression/],
    [[{ id: "a", pointer: "x" }], /JSON pointer/],
    [[{ id: "a", apply: 1 }], /function/],
  ])("rejects invalid rules: %j", async (normalize, message) => {
    await expect(runWith(() => 1, { normalize: normalize as never })).rejects.toThrow(message);
  });
});
