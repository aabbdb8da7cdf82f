// The recording of a resumed run is as complete as that of the first run.
import { setImmediate as nextMacrotask } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { dumpSnapshot, parseSnapshot, restoreSnapshot, stringifySnapshot } from "../ts/debugger.js";
import {
  callTool,
  captureContext,
  createEventBus,
  journalCall,
  replay,
  resume,
  runFrame,
  runWith,
} from "../ts/index.js";
import type { AgentSnapshot, Tool, TraceEvent } from "../ts/index.js";

interface World {
  readonly liveCalls: string[];
  call(name: string, answer?: () => unknown): Promise<unknown>;
}

function world(): World {
  const liveCalls: string[] = [];
  return {
    liveCalls,
    call: (name, answer = () => name) =>
      journalCall({ kind: "step", name, request: {} }, () => {
        liveCalls.push(name);
        return answer();
      }),
  };
}

describe("a race between a replayed and a live call", () => {
  /**
   * `slow` is in flight at the dump. In the resumed run, it ends while the program waits for `second` of three calls.
   */
  async function program({ call }: World, at: (place: string) => void, slow: () => unknown): Promise<string[]> {
    const order: string[] = [];
    const note = (name: string) => () => void order.push(name);
    await Promise.all([
      call("slow", slow).then(note("slow")),
      (async () => {
        for (const name of ["first", "second", "third"]) {
          await call(name).then(note(name));
          at(name);
        }
      })(),
    ]);
    return order;
  }

  it("has the same winner when the resumed run is replayed, also from JSON", async () => {
    let dump: AgentSnapshot | undefined;
    let ready = (): void => undefined;
    const whenReady = new Promise<void>((resolve) => (ready = resolve));
    const first = runWith(
      () =>
        program(
          world(),
          (place) => {
            if (place === "third") {
              dump = dumpSnapshot();
              ready();
            }
          },
          () => new Promise(() => undefined),
        ),
      { enableSnapshot: true },
    );
    void first;
    await whenReady;

    let end = (): void => undefined;
    let whole: AgentSnapshot | undefined;
    const resumed = await resume(
      async () => {
        const order = await program(
          world(),
          (place) => place === "first" && end(),
          () => new Promise<void>((resolve) => (end = resolve)),
        );
        whole = dumpSnapshot();
        return order;
      },
      { snapshot: dump as AgentSnapshot, enableSnapshot: true },
    );
    expect(resumed).toEqual(["first", "slow", "second", "third"]);

    const snapshot = whole as AgentSnapshot;
    const again = world();
    for (const each of [snapshot, parseSnapshot(stringifySnapshot(snapshot))]) {
      const order = await replay(() => program(again, () => undefined, nextMacrotask), { snapshot: each });
      expect(order).toEqual(resumed);
    }
    expect(again.liveCalls).toEqual([]);
    const places = snapshot.root.calls?.map(({ callId, startOrder, endOrder }) => [callId, startOrder, endOrder]);
    expect(places).toEqual([
      ["root/step:slow:0", 1, 5],
      ["root/step:first:0", 2, 3],
      ["root/step:second:0", 4, 6],
      ["root/step:third:0", 7, 8],
    ]);
  });
});

describe("agents that a resumed run had started but not finished", () => {
  async function program({ call }: World, answered = (_question: string): void => undefined): Promise<unknown> {
    const agent = (id: string, questions: string[]): Promise<string> =>
      runFrame({ id, input: {} }, async () => {
        for (const question of questions) {
          await call(question);
          answered(question);
        }
        return id;
      });
    const slow = agent("slow", ["a", "b", "c"]);
    const first = await Promise.race([slow, agent("fast", ["d"])]);
    const won = await call(`${first} has won`);
    await slow;
    return won;
  }

  it("end in the recorded order and make no live call", async () => {
    let whole: AgentSnapshot | undefined;
    await runWith(
      async () => {
        await program(world());
        whole = dumpSnapshot();
      },
      { enableSnapshot: true },
    );
    let early: AgentSnapshot | undefined;
    const dump = (question: string): void => {
      if (question === "a") early = dumpSnapshot();
    };
    await resume(() => program(world(), dump), { snapshot: whole as AgentSnapshot, enableSnapshot: true });

    const snapshot = early as AgentSnapshot;
    const again = world();
    await expect(replay(() => program(again), { snapshot })).resolves.toBe("fast has won");
    await expect(resume(() => program(again), { snapshot })).resolves.toBe("fast has won");
    expect(again.liveCalls).toEqual([]);
  });
});

describe("a failure that the first run had handled", () => {
  async function program({ call }: World): Promise<unknown[]> {
    const fails = (): never => {
      throw new RangeError("too far");
    };
    const failed = await runFrame({ id: "worker", input: {} }, () => call("fails", fails)).catch(
      (error: unknown) => (error as Error).name,
    );
    return [failed, await call("next")];
  }

  it("is not retried when the resumed run was killed before it continued", async () => {
    const recorded: TraceEvent[] = [];
    const bus = createEventBus();
    bus.subscribe("*", (event) => recorded.push(event));
    await runWith(() => program(world()), { eventBus: bus });

    const resumed: TraceEvent[] = [];
    const second = createEventBus();
    second.subscribe("*", (event) => resumed.push(event));
    await resume(() => program(world()), { snapshot: restoreSnapshot(recorded), eventBus: second });
    const end = resumed.findIndex(({ type }) => type === "call:end");
    expect(resumed[end]).toMatchObject({ cache: true, handled: true, error: { name: "RangeError" } });
    const killed = resumed.slice(0, end + 1);

    for (const trace of [killed, killed.map((event) => JSON.stringify(event)).join("\n")]) {
      const again = world();
      await expect(resume(() => program(again), { snapshot: restoreSnapshot(trace) })).resolves.toEqual([
        "RangeError",
        "next",
      ]);
      expect(again.liveCalls).toEqual(["next"]);
    }
  });

  it("is retried when it ended the resumed run", async () => {
    const events: TraceEvent[] = [];
    const bus = createEventBus();
    bus.subscribe("*", (event) => events.push(event));
    const failing = ({ call }: World): Promise<unknown> =>
      call("fails", () => {
        throw new RangeError("too far");
      });
    await expect(runWith(() => failing(world()), { eventBus: bus })).rejects.toThrow("too far");
    expect(events.find(({ type }) => type === "call:end")).not.toHaveProperty("handled");
    const again = world();
    await expect(resume(() => failing(again), { snapshot: restoreSnapshot(events) })).rejects.toThrow("too far");
    expect(again.liveCalls).toEqual(["fails"]);
  });
});

describe("a failure after which the program called a tool", () => {
  /** Runs the program. The tool's middleware waits until the test lets it continue. */
  async function asked(caught: boolean): Promise<{ snapshots: AgentSnapshot[]; program: (world: World) => unknown }> {
    let pass!: () => void;
    const passing = new Promise<void>((resolve) => void (pass = resolve));
    const tool: Tool = {
      name: "fallback",
      description: "",
      parameters: z.object({}),
      handler: () => "used",
      middlewares: [{ name: "approval", handler: (_context, next) => passing.then(() => next()) }],
    };
    const fails = (): never => {
      throw new RangeError("too far");
    };
    const program = ({ call }: World): Promise<unknown> =>
      runFrame({ id: "worker", input: {} }, async () => {
        const called = call("fails", fails);
        if (!caught) return called;
        return called.catch(() => callTool(tool, {}));
      });
    const events: TraceEvent[] = [];
    let context!: ReturnType<typeof captureContext>;
    const running = runWith(
      () => {
        context = captureContext();
        return program(world());
      },
      { enableSnapshot: true, eventBus: { emit: (event) => void events.push(event) } },
    );
    const ended = running.catch(() => {});
    for (let turn = 0; turn < 5; turn++) await nextMacrotask();
    const dump = dumpSnapshot({ context });
    const snapshots = [dump, parseSnapshot(stringifySnapshot(dump)), restoreSnapshot(events.slice())];
    pass();
    await ended;
    return { snapshots, program };
  }

  it("is not retried while the tool waits for its middleware", async () => {
    const { snapshots, program } = await asked(true);
    for (const snapshot of snapshots) {
      expect(JSON.stringify(snapshot.root)).not.toContain("fallback");
      const again = world();
      await expect(resume(async () => program(again), { snapshot })).resolves.toBe("used");
      expect(again.liveCalls).toEqual([]);
    }
  });

  it("is retried if the program did not continue", async () => {
    const { snapshots, program } = await asked(false);
    for (const snapshot of snapshots) {
      const again = world();
      await expect(resume(async () => program(again), { snapshot })).rejects.toThrow("too far");
      expect(again.liveCalls).toEqual(["fails"]);
    }
  });
});

it("answers of an earlier frame belong to the frame that borrowed them, even if the program had not used them yet", async () => {
  const worker = ({ call }: World, input: object, looks: boolean): Promise<unknown> =>
    runFrame({ id: "worker", input }, async () => {
      const same = call("same", () => `made for ${JSON.stringify(input)}`);
      if (looks) return same;
      // The call follows later.
      return dumpSnapshot();
    });
  const snapshot = await runWith(async () => {
    await worker(world(), { round: 1 }, true);
    return dumpSnapshot();
  });
  const lent = (await resume(() => worker(world(), { round: 2 }, false), { snapshot })) as AgentSnapshot;
  const again = world();
  expect(await resume(() => worker(again, { round: 2 }, true), { snapshot: lent })).toBe('made for {"round":1}');
  expect(again.liveCalls).toEqual([]);
});

describe("recorded calls that the resumed run has not reached", () => {
  it("are carried over into its dump after everything that happened, and are not executed again", async () => {
    const steps = async ({ call }: World, until?: string): Promise<AgentSnapshot> => {
      for (const name of ["a", "b", "c"]) {
        await call(name);
        if (name === until) return dumpSnapshot();
      }
      return dumpSnapshot();
    };
    const snapshot = await runWith(() => steps(world()), { enableSnapshot: true });
    let early = await resume(() => steps(world(), "a"), { snapshot, enableSnapshot: true });
    expect(early.root.calls?.map(({ carriedOver }) => carriedOver)).toEqual([undefined, true, true]);
    // Version 0.1.0 wrote the mark under another name.
    const older = parseSnapshot(stringifySnapshot(early).replaceAll('"carriedOver"', '"unreached"'));
    expect(older.root).toEqual(early.root);
    // Repeated interruptions do not change that.
    for (let index = 0; index < 50; index++) {
      early = await resume(() => steps(world(), "a"), { snapshot: early, enableSnapshot: true });
    }
    expect(early.root.calls?.map(({ endOrder }) => endOrder)).toEqual([2, 4, 6]);
    const again = world();
    await replay(() => steps(again), { snapshot: early, enableSnapshot: true });
    expect(again.liveCalls).toEqual([]);
  });
});
