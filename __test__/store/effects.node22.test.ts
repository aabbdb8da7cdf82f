// A call with `effect: "once"` that was in flight when its process died is verified or settled, never repeated blindly.
import { callTool, journalCall, type Tool } from "agent-rewind";
import { durable, type RunStore } from "agent-rewind/store";
import { expect, it } from "vitest";
import { z } from "zod";

import { deferred, type Deferred } from "../support/deferred.js";
import { describeStores, type Database } from "./stores.js";

interface Charges {
  /** Amounts by idempotency key, as the payment service has them. */
  readonly charged: Map<string, number>;
  readonly executed: number[];
  /** The process dies in the handler, before or after the effect. */
  dies?: "before" | "after" | undefined;
  readonly dead: Deferred<void>;
}

const charges = (dies?: "before" | "after"): Charges => ({ charged: new Map(), executed: [], dies, dead: deferred() });

function chargeTool(state: Charges, verify?: Tool<{ amount: number }>["verify"]): Tool<{ amount: number }> {
  return {
    name: "charge",
    description: "Charges an amount",
    parameters: z.object({ amount: z.number() }),
    effect: "once",
    ...(verify === undefined ? {} : { verify }),
    handler: async ({ amount }, { idempotencyKey }) => {
      state.executed.push(amount);
      if (state.dies !== "before") state.charged.set(idempotencyKey, amount);
      if (state.dies !== undefined) {
        state.dead.resolve();
        await new Promise(() => {});
      }
      return `charged ${amount}`;
    },
  };
}

/** Executes a run until its process dies in the tool, and lets its lease end. */
async function died(database: Database, store: RunStore, state: Charges, agent: () => Promise<unknown>): Promise<void> {
  // No renewal comes between the end of the lease and the next process.
  durable(store, { id: "order", lease: 3_600_000 }, agent).catch(() => {});
  await state.dead.promise;
  state.dies = undefined;
  await database.execute("update rewind_run set until = 1");
}

describeStores("an effect that must happen once", (database) => {
  it("is not executed again, but reported, and settled with its output", async () => {
    const store = await database.open();
    const state = charges("after");
    const agent = () => callTool(chargeTool(state), { amount: 7 });
    await died(database, store, state, agent);
    const [key] = state.charged.keys();
    const error: unknown = await durable(store, { id: "order" }, agent).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      name: "UncertainEffectError",
      callId: "root/tool:charge:0",
      tool: "charge",
      input: { amount: 7 },
      idempotencyKey: key,
      startedAt: expect.any(Date),
    });
    expect(await store.effects("order")).toMatchObject([{ callId: "root/tool:charge:0", state: "intent" }]);
    expect(await store.run("order")).toMatchObject({ status: "failed", error: { name: "UncertainEffectError" } });
    // Still uncertain.
    await expect(durable(store, { id: "order" }, agent)).rejects.toMatchObject({ name: "UncertainEffectError" });
    await store.settle("order", "root/tool:charge:0", { output: "charged 7" });
    expect(await durable(store, { id: "order" }, agent)).toBe("charged 7");
    expect(state.executed).toEqual([7]);
    expect(await store.effects("order")).toMatchObject([{ state: "done" }]);
  });

  it("is executed once more if it is settled as not done, with the same key", async () => {
    const store = await database.open();
    const state = charges("before");
    const agent = () => callTool(chargeTool(state), { amount: 8 });
    await died(database, store, state, agent);
    await store.settle("order", "root/tool:charge:0", "not-done");
    expect(await durable(store, { id: "order" }, agent)).toBe("charged 8");
    expect(state.executed).toEqual([8, 8]);
    expect(state.charged.size).toBe(1);
  });

  it("is uncertain again if the process dies again after a settlement", async () => {
    const store = await database.open();
    const first = charges("before");
    await died(database, store, first, () => callTool(chargeTool(first), { amount: 8 }));
    await store.settle("order", "root/tool:charge:0", "not-done");
    const second = charges("after");
    await died(database, store, second, () => callTool(chargeTool(second), { amount: 8 }));
    await expect(
      durable(store, { id: "order" }, () => callTool(chargeTool(second), { amount: 8 })),
    ).rejects.toMatchObject({ name: "UncertainEffectError" });
    expect(second.executed).toEqual([8]);
  });

  it.each(["before", "after"] as const)("asks verify if its process died %s the effect", async (dies) => {
    const store = await database.open();
    const state = charges(dies);
    const agent = () =>
      callTool(
        chargeTool(state, ({ amount }, { idempotencyKey }) =>
          state.charged.get(idempotencyKey) === amount ? `found ${amount}` : "not-done",
        ),
        { amount: 9 },
      );
    await died(database, store, state, agent);
    expect(await durable(store, { id: "order" }, agent)).toBe(dies === "after" ? "found 9" : "charged 9");
    expect(state.executed).toEqual(dies === "after" ? [9] : [9, 9]);
    expect([...state.charged.values()]).toEqual([9]);
  });

  it("stays uncertain if verify fails, even if the agent catches the error", async () => {
    const store = await database.open();
    const state = charges("after");
    const tool = chargeTool(state, () => {
      throw new Error("the service is down");
    });
    const agent = () => callTool(tool, { amount: 3 }).catch(() => "caught");
    await died(database, store, state, agent);
    await expect(durable(store, { id: "order" }, agent)).rejects.toThrow("the service is down");
    await expect(durable(store, { id: "order" }, agent)).rejects.toThrow("the service is down");
    expect(state.executed).toEqual([3]);
  });

  it("is not executed by a changed program while the earlier one is uncertain", async () => {
    const store = await database.open();
    const state = charges("after");
    await died(database, store, state, () => callTool(chargeTool(state), { amount: 5 }));
    await expect(
      durable(store, { id: "order" }, () => callTool(chargeTool(state), { amount: 6 })),
    ).rejects.toMatchObject({ name: "UncertainEffectError", callId: "root/tool:charge:0" });
    expect(state.executed).toEqual([5]);
  });

  it("is replayed once it is recorded, and each occurrence has a key of its own", async () => {
    const store = await database.open();
    const state = charges();
    let fails = true;
    const agent = async () => {
      await callTool(chargeTool(state), { amount: 1 });
      await journalCall({ kind: "pay", name: "pay", request: {}, effect: "once" }, () => state.executed.push(100));
      await callTool(chargeTool(state), { amount: 1 });
      if (fails) throw new Error("later");
      return "ok";
    };
    await expect(durable(store, { id: "order" }, agent)).rejects.toThrow("later");
    fails = false;
    expect(await durable(store, { id: "order" }, agent)).toBe("ok");
    expect(state.executed).toEqual([1, 100, 1]);
    expect((await store.effects("order")).map(({ state: is }) => is)).toEqual(["done", "done", "done"]);
  });

  it("cannot be settled while a process executes the run, or if nothing is uncertain", async () => {
    const store = await database.open();
    const state = charges("after");
    const run = { id: "order", lease: 3_600_000 };
    durable(store, run, () => callTool(chargeTool(state), { amount: 1 })).catch(() => {});
    await state.dead.promise;
    await expect(store.settle("order", "root/tool:charge:0", "not-done")).rejects.toMatchObject({
      name: "RunLeasedError",
    });
    await database.execute("update rewind_run set until = 1");
    await expect(store.settle("order", "root/tool:other:0", "not-done")).rejects.toThrow('only "root/tool:charge:0"');
    await expect(store.settle("order", "root/tool:charge:0", { output: () => 1 })).rejects.toThrow(TypeError);
    await expect(store.settle("order", "root/tool:charge:0", "done" as never)).rejects.toThrow(
      '{ output } or "not-done"',
    );
  });
});
