// Runs by id: finished ones return their result, interrupted ones are resumed, and only one process executes a run.
import {
  isRunLeasedError,
  journalCall,
  promptAgent,
  runFrame,
  runWith,
  createAgent,
  equipInstruction,
  type AgentSnapshot,
} from "agent-rewind";
import { durable, openStore, sqliteStore, type RunStore, type StoredRun } from "agent-rewind/store";
import { describe, expect, it, vi } from "vitest";
import { z } from "zod";

import { createMockModel } from "../../ts/testing/mock-model.js";
import { deferred, type Deferred } from "../support/deferred.js";
import { describeStores } from "./stores.js";

/** A program of three calls, and the names of those that it executed. */
function program(): { live: string[]; fail: Set<string>; agent: () => Promise<string> } {
  const live: string[] = [];
  const fail = new Set<string>();
  const call = (name: string): Promise<string> =>
    journalCall({ kind: "step", name, request: { name } }, () => {
      live.push(name);
      if (fail.has(name)) throw new Error(`${name} failed`);
      return `${name} of ${live.length}`;
    });
  return {
    live,
    fail,
    agent: async () => `${await call("a")}, ${await call("b")}, ${await call("c")}`,
  };
}

function endedCalls(snapshot: AgentSnapshot | undefined): number {
  if (snapshot === undefined) return 0;
  const { root } = snapshot;
  const frames = [root, ...Object.values(root.children)];
  return frames.flatMap(({ calls = [] }) => calls).filter(({ endOrder }) => endOrder !== undefined).length;
}

async function listed(store: RunStore, filter: Parameters<RunStore["runs"]>[0] = {}): Promise<StoredRun[]> {
  const runs: StoredRun[] = [];
  for await (const run of store.runs(filter)) runs.push(run);
  return runs;
}

/** Starts a run whose process never ends it, and resolves when it waits in its second call. */
async function abandoned(store: RunStore, id: string, live: string[], lease = LONG): Promise<void> {
  const waits: Deferred<void> = deferred();
  const run = durable(store, { id, lease, agent: "writer" }, async () => {
    await journalCall({ kind: "step", name: "a", request: { name: "a" } }, () => {
      live.push("a");
      return "a of 1";
    });
    await journalCall({ kind: "step", name: "b", request: { name: "b" } }, () => {
      waits.resolve();
      return new Promise<never>(() => {});
    });
  });
  run.catch(() => {});
  await waits.promise;
}

/** So that no renewal comes between the end of a lease and the next process. */
const LONG = 3_600_000;
const EXPIRE = "update rewind_run set until = 1";

describeStores("durable", (database) => {
  it("returns the result of a completed run, also one that JSON lacks", async () => {
    const store = await database.open();
    const { live, agent } = program();
    const fn = async () => ({ text: await agent(), at: new Date(0), bytes: new Uint8Array([1, 2]) });
    const first = await durable(store, { id: "order-1" }, fn);
    const second = await durable(await database.open(), { id: "order-1" }, fn);
    expect(second).toEqual(first);
    expect(second.at).toBeInstanceOf(Date);
    expect(live).toEqual(["a", "b", "c"]);
  });

  it("resumes a failed run at the call that failed", async () => {
    const store = await database.open();
    const { live, fail, agent } = program();
    fail.add("c");
    await expect(durable(store, { id: "order-2" }, agent)).rejects.toThrow("c failed");
    expect(await store.run("order-2")).toMatchObject({ status: "failed", error: { message: "c failed" } });
    fail.clear();
    expect(await durable(store, { id: "order-2" }, agent)).toBe("a of 1, b of 2, c of 4");
    expect(live).toEqual(["a", "b", "c", "c"]);
    expect(await store.run("order-2")).toMatchObject({ status: "completed", epoch: 2, error: undefined });
  });

  it("refuses a run that another process executes, and resumes it after its lease", async () => {
    const [one, two] = [await database.open(), await database.open()];
    const { live, agent } = program();
    await abandoned(one, "order-3", live);
    const refused: unknown = await durable(two, { id: "order-3" }, agent).catch((error: unknown) => error);
    expect(isRunLeasedError(refused)).toBe(true);
    expect(refused).toMatchObject({ id: "order-3", owner: expect.stringContaining(String(process.pid)) });
    expect((refused as { until: Date }).until.getTime()).toBeGreaterThan(Date.now());
    await database.execute(EXPIRE);
    expect(await listed(two, { status: "interrupted" })).toMatchObject([{ id: "order-3" }]);
    expect(await durable(two, { id: "order-3" }, agent)).toBe("a of 1, b of 2, c of 3");
    expect(live).toEqual(["a", "b", "c"]);
  });

  it("stops a process that has lost its lease: nothing of it is written", async () => {
    const [one, two] = [await database.open(), await database.open()];
    const { live, agent } = program();
    const takenOver: Deferred<void> = deferred();
    const started: Deferred<void> = deferred();
    let aborted: unknown;
    const stale = durable(one, { id: "order-4", lease: LONG }, async () => {
      await journalCall({ kind: "step", name: "a", request: { name: "a" } }, async ({ signal }) => {
        signal.addEventListener("abort", () => (aborted = signal.reason));
        started.resolve();
        await takenOver.promise;
        return "a of the stale process";
      });
      // The agent may catch what it likes.
      return journalCall({ kind: "step", name: "late", request: {} }, () => {
        live.push("late");
        return "late";
      }).catch(() => "caught");
    });
    await started.promise;
    await database.execute(EXPIRE);
    expect(await durable(two, { id: "order-4" }, agent)).toBe("a of 1, b of 2, c of 3");
    takenOver.resolve();
    await expect(stale).rejects.toMatchObject({ name: "LeaseLostError", id: "order-4" });
    expect(aborted).toMatchObject({ name: "LeaseLostError" });
    expect(live).toEqual(["a", "b", "c"]);
    expect(await durable(one, { id: "order-4" }, agent)).toBe("a of 1, b of 2, c of 3");
  });

  it("lets one of two processes have a run that both start at once", async () => {
    const stores = await Promise.all(Array.from({ length: 8 }, () => database.open()));
    const { live, agent } = program();
    const ended = await Promise.allSettled(stores.map((store) => durable(store, { id: "race" }, agent)));
    const results = ended.flatMap((end) => (end.status === "fulfilled" ? [end.value] : []));
    const errors = ended.flatMap((end) => (end.status === "rejected" ? [end.reason as Error] : []));
    expect(new Set(results)).toEqual(new Set(["a of 1, b of 2, c of 3"]));
    expect(errors.every(isRunLeasedError)).toBe(true);
    expect(live).toEqual(["a", "b", "c"]);
  });

  it("is exact after many interruptions, with agents that race each other", async () => {
    const store = await database.open();
    const live: string[] = [];
    let stopAfter = 1;
    const agent = async (): Promise<string> => {
      const gate: Deferred<never> = deferred();
      const call = (name: string, text: string): Promise<string> =>
        journalCall({ kind: "step", name, request: { name } }, () => {
          if (live.length >= stopAfter) return gate.promise;
          live.push(name);
          return text;
        });
      const frame = (id: string): Promise<string> =>
        runFrame({ id, input: { id } }, async () => `${await call(`${id}1`, "1")}${await call(`${id}2`, "2")}${id}`);
      return (await Promise.all(["x", "y", "z"].map(frame))).join(" ");
    };
    for (; ; stopAfter += 1) {
      const run = durable(store, { id: "racing", lease: LONG }, agent);
      run.catch(() => {});
      const ended = await Promise.race([
        run,
        vi.waitUntil(() => live.length >= stopAfter && stopAfter < 6, { timeout: 10_000 }).then(() => 0),
      ]);
      if (typeof ended === "string") {
        expect(ended).toBe("12x 12y 12z");
        break;
      }
      await vi.waitUntil(async () => endedCalls(await store.snapshot("racing")) === live.length, { timeout: 10_000 });
      await database.execute(EXPIRE);
    }
    expect(live.toSorted()).toEqual(["x1", "x2", "y1", "y2", "z1", "z2"]);
  });

  it("keeps one idempotency key for all processes", async () => {
    const store = await database.open();
    const keys: string[] = [];
    const agent = (): Promise<unknown> =>
      journalCall({ kind: "step", name: "a", request: {} }, ({ idempotencyKey }) => {
        keys.push(idempotencyKey);
        if (keys.length < 3) throw new Error("again");
        return 1;
      });
    await expect(durable(store, { id: "keys" }, agent)).rejects.toThrow("again");
    await expect(durable(store, { id: "keys" }, agent)).rejects.toThrow("again");
    await durable(store, { id: "keys" }, agent);
    expect(new Set(keys).size).toBe(1);
    expect(keys).toHaveLength(3);
  });

  it("stores conversations and large values once", async () => {
    const store = await database.open();
    const model = createMockModel({ rules: [{ when: "", reply: { json: { text: "x".repeat(20_000) } } }] });
    const agent = createAgent({
      id: "writer",
      handler: async ({ n }: { n: number }) => {
        equipInstruction(`write ${n}`);
        return (await promptAgent(z.object({ text: z.string() }))).text.length;
      },
    });
    for (const id of ["one", "two", "three"])
      expect(await durable(store, { id }, () => agent({ n: 1 }), { model })).toBe(20_000);
    const snapshot = await store.snapshot("three");
    expect(JSON.stringify(snapshot)).toContain("x".repeat(20_000));
    const calls = model.calls.length;
    expect(await runWith(() => agent({ n: 1 }), { model, snapshot: snapshot as never })).toBe(20_000);
    expect(model.calls.length).toBe(calls);
  });

  it("refuses or continues a run of another version of the program", async () => {
    const store = await database.open();
    const { fail, agent } = program();
    fail.add("b");
    await expect(durable(store, { id: "v", version: "1" }, agent)).rejects.toThrow("b failed");
    fail.clear();
    const newer = { id: "v", version: "2" } as const;
    await expect(durable(store, { ...newer, otherVersion: "refuse" }, agent)).rejects.toMatchObject({
      name: "RunVersionError",
      recorded: "1",
      current: "2",
    });
    expect(await durable(store, newer, agent)).toBe("a of 1, b of 3, c of 4");
  });

  it("lists runs by status, agent, labels and time, and prunes the finished ones", async () => {
    const store = await database.open();
    for (let index = 0; index < 12; index += 1) {
      const run = { id: `run-${index}`, agent: index % 2 === 0 ? "even" : "odd", labels: { team: `t${index % 3}` } };
      await durable(store, run, () => {
        if (index === 4) throw new Error("four");
      }).catch(() => {});
      await database.execute(`update rewind_run set updated = ${1_000_000 + index} where id = 'run-${index}'`);
    }
    await database.execute(`update rewind_run set updated = updated + ${Date.now() - 1_060_000}`);
    await abandoned(store, "open", []);
    const ids = async (filter: Parameters<RunStore["runs"]>[0]): Promise<string[]> =>
      (await listed(store, filter)).map(({ id }) => id);
    expect(await ids({ agent: "odd", labels: { team: "t1" } })).toEqual(["run-7", "run-1"]);
    expect(await ids({ status: "failed" })).toEqual(["run-4"]);
    expect(await ids({ status: "running" })).toEqual(["open"]);
    expect(await ids({ limit: 2 })).toEqual(["open", "run-11"]);
    expect(await ids({ since: new Date(Date.now() + 60_000) })).toEqual([]);
    expect(await store.prune({ olderThan: "1d" })).toBe(0);
    await database.execute("update rewind_run set updated = updated - 172800000");
    expect(await store.prune({ olderThan: "1d", keepLast: 3 })).toBe(9);
    expect(await ids({})).toEqual(["open", "run-11", "run-10", "run-9"]);
    expect(await store.snapshot("run-1")).toBeUndefined();
  });

  it("writes nothing into tables of a newer version", async () => {
    await database.open();
    await database.execute("update rewind_meta set value = '7'");
    await expect(database.open()).rejects.toMatchObject({ name: "StoreVersionError", found: 7, supported: 1 });
  });

  it("creates the tables once if several processes open the store at once", async () => {
    await Promise.all(Array.from({ length: 6 }, () => database.open()));
    await expect(database.open()).resolves.toBeDefined();
  });

  it("accepts any text of 512 bytes as an id", async () => {
    const store = await database.open();
    for (const id of ["'; drop table rewind_run; --", "ünï 🚀/\\%_\n", "x".repeat(512)]) {
      expect(await durable(store, { id }, () => id)).toBe(id);
      expect((await store.run(id))?.status).toBe("completed");
    }
    for (const id of ["", "x".repeat(513), "a\0b", "\ud800"]) {
      await expect(durable(store, { id }, () => 1)).rejects.toThrow(TypeError);
    }
  });
});

describe("wrong arguments", () => {
  it("are named", async () => {
    await expect(openStore("runs.db")).rejects.toThrow('url must be "sqlite:" and a path, received "runs.db"');
    await expect(openStore("postgres://localhost")).rejects.toThrow("postgresStore");
    await expect(openStore("sqlite:/no/such/folder/runs.db")).rejects.toMatchObject({ name: "StoreOpenError" });
    await expect(sqliteStore({ database: {} as never })).rejects.toThrow("options.database must be a database");
    const store = await openStore("sqlite::memory:");
    await expect(durable({} as never, { id: "x" }, () => 1)).rejects.toThrow("store must be opened by");
    await expect(durable(store, { id: "x", lease: 5 }, () => 1)).rejects.toThrow("run.lease must be a number");
    await expect(durable(store, { id: "x", labels: { a: 1 } } as never, () => 1)).rejects.toThrow(
      "run.a must be a string",
    );
    await expect(store.prune({ olderThan: "soon" })).rejects.toThrow('"30d"');
    await store.close();
  });
});
