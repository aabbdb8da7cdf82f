// Calls that were in flight at the end of a recording are named, and have the same id when they are executed again.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import {
  callTool,
  createAgent,
  journalCall,
  reborn,
  replay,
  resume,
  runFrame,
  runWith,
  type AgentSnapshot,
  type ReplayReport,
} from "agent-rewind";
import { dumpSnapshot, forkSnapshot, parseSnapshot, restoreSnapshot, stringifySnapshot } from "agent-rewind/debugger";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi, type MockInstance } from "vitest";

import { defined } from "../ts/values/defined.js";
import { sleep } from "./support/deferred.js";
import { temporaryFolder } from "./support/process.js";
import { recorder } from "./support/recorder.js";
import { toolOf } from "./support/tools.js";

const never = new Promise<never>(() => {});
const HEX = /^[\da-f]{64}$/;

let warned: MockInstance<typeof console.warn>;
beforeEach(() => {
  warned = vi.spyOn(console, "warn").mockImplementation(() => {});
});
afterEach(() => warned.mockRestore());

/** The keys that functions received, by the name of what they did, in order. */
type Keys = [name: string, key: string][];

/** A call with an effect, which does not end if `hangs`. */
const act = (keys: Keys, name: string, hangs = false): Promise<string> =>
  journalCall({ kind: "effect", name: "act", request: { name } }, ({ idempotencyKey }) => {
    keys.push([name, idempotencyKey]);
    return hangs ? never : name;
  });

/** Runs a program that never ends until it waits, and takes a snapshot of it then. */
async function killed(
  program: () => Promise<unknown>,
  options: { snapshot?: AgentSnapshot | undefined; form?: "dump" | "trace" | "production" } = {},
): Promise<AgentSnapshot> {
  const { form = "dump", snapshot } = options;
  const trace = recorder();
  const dumped = await runWith(
    async () => {
      program().catch(() => {});
      await sleep(5);
      return form === "production" ? undefined : dumpSnapshot();
    },
    {
      ...defined({ snapshot }),
      eventBus: trace,
      ...(form === "production" ? { enableSnapshot: snapshot !== undefined } : {}),
    },
  );
  // The trace of a killed process contains nothing of the run's end.
  const events = trace.events.filter(({ type }) => type !== "runWith:end");
  return form === "dump" ? parseSnapshot(stringifySnapshot(dumped as AgentSnapshot)) : restoreSnapshot(events);
}

async function resumed(program: () => Promise<unknown>, snapshot: AgentSnapshot): Promise<ReplayReport> {
  let report!: ReplayReport;
  await resume(program, { snapshot, onReport: (given) => (report = given) });
  return report;
}

describe.each(["dump", "trace", "production"] as const)("calls in flight, from the %s", (form) => {
  it("get the same keys, in any order of their starts, and are reported and warned of", async () => {
    const first: Keys = [];
    const charge = (keys: Keys, hangs: boolean) =>
      toolOf<{ order: number }>("charge", ({ order }, { idempotencyKey }) => {
        keys.push([`order ${order}`, idempotencyKey]);
        return hangs ? never : "charged";
      });
    const snapshot = await killed(
      async () => {
        await act(first, "done");
        await Promise.all([callTool(charge(first, true), { order: 1 }), act(first, "mail", true)]);
      },
      { form },
    );
    const again: Keys = [];
    const report = await resumed(async () => {
      await act(again, "done");
      // Started the other way round, and after a call that the recording does not know.
      await Promise.all([act(again, "new"), act(again, "mail"), callTool(charge(again, false), { order: 1 })]);
    }, snapshot);
    const keyOf = (name: string): string => new Map(first).get(name) as string;
    expect(new Map(again).get("mail")).toBe(keyOf("mail"));
    expect(new Map(again).get("order 1")).toBe(keyOf("order 1"));
    expect(new Set([...first, ...again].map(([, key]) => key)).size).toBe(4);
    const inFlight = report.inFlight.map(({ callId, kind, idempotencyKey }) => [callId, kind, idempotencyKey]);
    expect(inFlight.toSorted()).toEqual([
      ["root/effect:act:1", "effect", keyOf("mail")],
      ["root/tool:charge:0", "tool", keyOf("order 1")],
    ]);
    expect(warned).toHaveBeenCalledOnce();
    expect(warned.mock.lastCall?.[0]).toContain(`root/tool:charge:0 (${keyOf("order 1")})`);
  });

  it("have keys by occurrence: what ended before is another call", async () => {
    const first: Keys = [];
    let count = 0;
    const snapshot = await killed(
      async () => {
        for (;;) await act(first, "same", ++count === 3);
      },
      { form },
    );
    const again: Keys = [];
    const report = await resumed(async () => {
      for (let round = 0; round < 4; round++) await act(again, "same");
    }, snapshot);
    expect(new Set(first.map(([, key]) => key)).size).toBe(3);
    expect(again[0]).toEqual(first[2]);
    expect(again[1]?.[1]).toMatch(HEX);
    expect(new Set([...first, ...again].map(([, key]) => key)).size).toBe(4);
    expect(report.inFlight).toMatchObject([{ idempotencyKey: first[2]?.[1] }]);
  });

  it("have keys by the props of their frames, in any order of the frames' starts", async () => {
    const worker = (keys: Keys, hangs: boolean) =>
      createAgent<{ name: string }, string>({
        id: "worker",
        handler: async ({ name }) => {
          const inner: Keys = [];
          const result = act(inner, "effect", hangs);
          keys.push([name, inner[0]?.[1] as string]);
          return result;
        },
      });
    const first: Keys = [];
    const names = ["a", "b", "b", "c"];
    const snapshot = await killed(() => Promise.all(names.map((name) => worker(first, true)({ name }))), { form });
    const again: Keys = [];
    await resumed(() => Promise.all(names.toReversed().map((name) => worker(again, false)({ name }))), snapshot);
    expect(new Set(first.map(([, key]) => key)).size).toBe(4);
    expect(again.toSorted()).toEqual(first.toSorted());
  });

  it("keep their keys through chains of resumed runs", async () => {
    const all: Keys[] = [[], [], [], []];
    const program = (keys: Keys, hangs: boolean) => () =>
      runFrame({ id: "outer", input: { depth: 1 } }, () =>
        runFrame({ id: "inner", input: {} }, async () => {
          await act(keys, "before");
          return act(keys, "effect", hangs);
        }),
      );
    const one = await killed(program(all[0] as Keys, true), { form });
    const two = await killed(program(all[1] as Keys, true), { form, snapshot: one });
    // A run that does not come to the call keeps it as carried over.
    const three = await killed(() => runFrame({ id: "outer", input: { depth: 1 } }, () => never), {
      form: "dump",
      snapshot: two,
    });
    const [report] = [
      await resumed(program(all[2] as Keys, false), three),
      await resumed(program(all[3] as Keys, false), one),
    ];
    expect(all[1]).toEqual([all[0]?.[1]]);
    expect(all[2]).toEqual(all[1]);
    expect(all[3]).toEqual(all[1]);
    expect(report.inFlight).toMatchObject([{ idempotencyKey: all[0]?.[1]?.[1] }]);
    const { firstRun } = one.provenance;
    expect(firstRun).toMatch(/^[\da-f]{32}$/);
    expect([two, three].map(({ provenance }) => provenance.firstRun)).toEqual([firstRun, firstRun]);
    expect(two.provenance.traceId).not.toBe(one.provenance.traceId);
  });

  it("have other keys in each generation of an agent", async () => {
    const agent = (keys: Keys, hangs: boolean) =>
      createAgent<{ round: number }, string>({
        id: "again",
        handler: async ({ round }) => {
          const done = await act(keys, "effect", hangs && round === 2);
          return round === 2 ? done : reborn({ round: round + 1 });
        },
      });
    const first: Keys = [];
    const snapshot = await killed(() => agent(first, true)({ round: 0 }), { form });
    const again: Keys = [];
    await resumed(() => agent(again, false)({ round: 0 }), snapshot);
    expect(new Set(first.map(([, key]) => key)).size).toBe(3);
    expect(again).toEqual([first[2]]);
  });
});

describe("an idempotency key", () => {
  it("is the hash that the page on formats describes", async () => {
    const keys: Keys = [];
    const snapshot = await killed(() =>
      runFrame({ id: "desk", input: { shift: "late" } }, async () => {
        await act(keys, "x");
        await act(keys, "x", true);
      }),
    );
    const sha = (...parts: unknown[]): string => createHash("sha256").update(JSON.stringify(parts)).digest("hex");
    const frame = snapshot.root.children["root/agent:desk:0"];
    const frameId = sha(snapshot.provenance.firstRun, 0, "agent:desk", frame?.inputHash, 0);
    const hash = frame?.calls?.[1]?.contentHash;
    expect(keys.map(([, key]) => key)).toEqual([0, 1].map((occurrence) => sha(frameId, 0, "effect", hash, occurrence)));
  });

  it("differs between runs, also in one trace, and is kept in forks", async () => {
    const runs: Keys[] = [[], [], []];
    const trace = { traceId: "0af7651916cd43dd8448eb211c80319c" };
    let snapshot!: AgentSnapshot;
    for (const keys of runs.slice(0, 2)) {
      await runWith(
        async () => {
          await act(keys, "before");
          void act(keys, "effect", true);
          snapshot = dumpSnapshot();
        },
        { trace },
      );
    }
    expect(runs[0]?.[1]?.[1]).not.toBe(runs[1]?.[1]?.[1]);
    const fork = forkSnapshot(snapshot, { at: "root/effect:act:0", output: "edited" });
    await resumed(async () => {
      await act(runs[2] as Keys, "before");
      await act(runs[2] as Keys, "effect");
    }, fork);
    expect(runs[2]).toEqual([runs[1]?.[1]]);
  });

  it("is the same in all runs that resume a recording of an older version", async () => {
    const { provenance, ...snapshot } = await killed(() => act([], "effect", true));
    const { firstRun: _firstRun, ...older } = provenance;
    const again: Keys = [];
    for (let round = 0; round < 2; round++) {
      const old = parseSnapshot(JSON.stringify({ ...snapshot, provenance: older }));
      const report = await resumed(() => act(again, "effect"), old);
      expect(report.inFlight).toMatchObject([{ idempotencyKey: again[round]?.[1] }]);
    }
    expect(again[0]).toEqual(again[1]);
  });
});

it("strict replay and live runs report nothing in flight", async () => {
  const snapshot = await killed(() => Promise.race([act([], "slow", true), act([], "fast")]));
  const reports: ReplayReport[] = [];
  const race = (): Promise<unknown> => Promise.race([act([], "slow", true), act([], "fast")]);
  await replay(race, { snapshot, onReport: (report) => reports.push(report) });
  await runWith(race, { snapshot, mode: "live", onReport: (report) => reports.push(report) });
  expect(reports).toMatchObject([{ inFlight: [] }, { inFlight: [] }]);
  expect(warned).not.toHaveBeenCalled();
});

it("a killed process and two runs that resume it execute the two calls in flight with the same keys", () => {
  const folder = temporaryFolder();
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const program = fileURLToPath(new URL("robustness/programs/killed-in-calls.mjs", import.meta.url));
  const start = (from: string, to: string, end: string) =>
    spawnSync(process.execPath, [program, folder, from, to, end], { encoding: "utf8" });
  expect(start("none", "one.jsonl", "die").signal).toBe("SIGKILL");
  const second = start("one.jsonl", "two.jsonl", "die");
  expect(second.signal).toBe("SIGKILL");
  expect(second.stderr).toContain("calls in flight when the recording was taken: ");
  const third = start("two.jsonl", "three.jsonl", "end");
  expect(third.status).toBe(0);
  const effects = readFileSync(join(folder, "effects"), "utf8").trim().split("\n");
  const keysOf = (name: string): string[] => effects.filter((line) => line.startsWith(`${name} `));
  expect(keysOf("order1")).toHaveLength(1);
  for (const name of ["order2", "mail"]) {
    expect(keysOf(name)).toHaveLength(3);
    expect(new Set(keysOf(name)).size).toBe(1);
  }
  const inFlight = JSON.parse(third.stdout) as ReplayReport["inFlight"];
  expect(inFlight.map(({ idempotencyKey }) => idempotencyKey).toSorted()).toEqual(
    ["mail", "order2"].map((name) => keysOf(name)[0]?.split(" ")[1]).toSorted(),
  );
});
