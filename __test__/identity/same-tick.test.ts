// Calls that ended in one tick of the event loop are released in one tick.
import { setImmediate as nextMacrotask } from "node:timers/promises";
import { journalCall, replay, runFrame, runWith, type AgentSnapshot, type TraceEvent } from "agent-rewind";
import { dumpSnapshot, parseSnapshot, restoreSnapshot, stringifySnapshot } from "agent-rewind/debugger";
import { expect, it } from "vitest";

import { sleep } from "../support/deferred.js";

async function recorded<T>(program: () => Promise<T>): Promise<{ live: T; snapshots: AgentSnapshot[] }> {
  const events: TraceEvent[] = [];
  let dump: AgentSnapshot | undefined;
  const live = await runWith(
    async () => {
      const result = await program();
      // Calls that lost a race end before the dump.
      await sleep(5);
      dump = parseSnapshot(stringifySnapshot(dumpSnapshot()));
      return result;
    },
    { eventBus: { emit: (event) => void events.push(event) } },
  );
  return { live, snapshots: [dump as AgentSnapshot, restoreSnapshot(events)] };
}

async function expectAsLive(program: () => Promise<unknown>): Promise<unknown> {
  const { live, snapshots } = await recorded(program);
  for (const snapshot of snapshots) expect(await replay(program, { snapshot })).toEqual(live);
  return live;
}

/** Calls that end together, when `open` is called. */
function gate(): { call: (name: string, fails?: boolean) => Promise<string>; open: () => void } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  return {
    open: () => open(),
    call: (name, fails = false) =>
      journalCall({ kind: "step", name, request: {} }, async () => {
        await opened;
        if (fails) throw new Error(name);
        return name;
      }),
  };
}

/** The promise, some steps later. */
async function later<T>(promise: Promise<T>, steps: number): Promise<T> {
  return steps === 0 ? promise : later((async () => await promise)(), steps - 1);
}

it("a race of promises with different depths has the live winner", async () => {
  const program = async (): Promise<string> => {
    const { call, open } = gate();
    const racing = Promise.race([later(call("deep"), 4), later(call("less deep"), 2), call("plain")]);
    open();
    return racing;
  };
  expect(await expectAsLive(program)).toBe("plain");
});

it("a nested race of failures and outputs has the live winner", async () => {
  const program = async (): Promise<string> => {
    const { call, open } = gate();
    const inner = Promise.race([later(call("fails", true), 3), later(call("inner"), 3)]);
    const racing = Promise.race([inner, later(call("outer"), 5)]).catch((error: Error) => `caught ${error.message}`);
    open();
    return racing;
  };
  await expectAsLive(program);
});

it("three ends in one tick are seen in the live order", async () => {
  const program = async (): Promise<string[]> => {
    const { call, open } = gate();
    const seen: string[] = [];
    const all = Promise.all([7, 1, 4].map(async (steps) => seen.push(await later(call(`after ${steps}`), steps))));
    open();
    await all;
    return seen;
  };
  expect(await expectAsLive(program)).toEqual(["after 1", "after 4", "after 7"]);
});

it("ends in one tick in different frames are seen in the live order", async () => {
  const program = async (): Promise<string> => {
    const { call, open } = gate();
    const seen: string[] = [];
    const frame = (id: string, steps: number): Promise<unknown> =>
      runFrame({ id, input: {} }, async () => seen.push(await later(call(id), steps)));
    const all = Promise.all([frame("slow", 6), frame("quick", 0)]);
    await nextMacrotask();
    open();
    await all;
    return seen.join();
  };
  expect(await expectAsLive(program)).toBe("quick,slow");
});

it("nothing waits for a call of the same tick that has not begun", async () => {
  const program = (calls: readonly string[]) => async (): Promise<string[]> => {
    const { call, open } = gate();
    const all = Promise.all(calls.map((name) => call(name)));
    open();
    return all;
  };
  const { snapshots } = await recorded(program(["a", "b", "c"]));
  for (const snapshot of snapshots) {
    expect(snapshot.root.calls?.map(({ sameTick }) => sameTick)).toEqual([undefined, true, true]);
    expect(await replay(program(["c", "a"]), { snapshot })).toEqual(["c", "a"]);
  }
});

it("ends in ticks of their own stay apart", async () => {
  const call = (name: string, ms: number): Promise<string> =>
    journalCall({ kind: "step", name, request: {} }, async () => (await sleep(ms), name));
  const program = (): Promise<string> => Promise.race([later(call("first", 2), 9), call("second", 20)]);
  const { live, snapshots } = await recorded(async () => {
    const winner = await program();
    await sleep(25);
    return winner;
  });
  expect(live).toBe("first");
  for (const snapshot of snapshots) {
    expect(snapshot.root.calls?.map(({ sameTick }) => sameTick)).toEqual([undefined, undefined]);
    expect(await replay(program, { snapshot })).toBe("first");
  }
});
