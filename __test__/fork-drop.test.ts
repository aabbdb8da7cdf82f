import { equipMemory, journalCall, reborn, runFrame, type AgentSnapshot } from "agent-rewind";
import { type ForkChange } from "agent-rewind/debugger";
import { describe, expect, it } from "vitest";

import {
  abcd,
  at,
  callsIn,
  forkError,
  forks,
  frameOf,
  framesIn,
  gate,
  parsed,
  record,
  replayed,
  type Program,
  type Step,
} from "./support/fork.js";

describe("forkSnapshot: drop", () => {
  it("executes the dropped call again and every call that started after it had ended", async () => {
    const source = await record(abcd);
    for (const [name, liveCalls] of [
      ["a", "abcd"],
      ["b", "bcd"],
      ["d", "d"],
    ] as const) {
      for (const fork of forks(source, { at: at(name), drop: true })) {
        expect(await replayed(abcd, fork)).toEqual({ result: ["a!", "b!", "c!", "d!"], liveCalls: [...liveCalls] });
        expect(fork.root.state).toEqual({ status: "running" });
      }
    }
  });

  it("keeps calls that were in flight at that time, finished or not", async () => {
    const program =
      (a1: () => Promise<string>, b2: () => Promise<string>, started: (name: string) => void): Program =>
      async (step) => {
        const a = runFrame({ id: "a", input: {} }, async () => [
          await step("a1", () => (started("a1"), a1())),
          await step("a2", () => (started("a2"), "a2!")),
        ]);
        const b = runFrame({ id: "b", input: {} }, async () => [
          await step("b1", () => "b1!"),
          await step("b2", () => (started("b2"), b2())),
          await step("b3", () => "b3!"),
        ]);
        return Promise.all([a, b]);
      };
    // a1 starts, b1 ends, b2 starts, a1 ends, a2 starts, b2 ends, b3 starts.
    const gates = { a1: gate(), a2: gate(), b2: gate() };
    const live = program(
      () => gates.b2.passed.then(() => "a1!"),
      () => gates.a2.passed.then(() => "b2!"),
      (name) => gates[name as keyof typeof gates].open(),
    );
    const source = await record(live);
    const again = program(
      async () => "a1!",
      async () => "b2!",
      () => {},
    );
    const expected = [
      ["a1!", "a2!"],
      ["b1!", "b2!", "b3!"],
    ];
    for (const fork of forks(source, { at: "root/agent:a:0/step:a1:0", drop: true })) {
      const { result: given, liveCalls } = await replayed(again, fork);
      expect(given).toEqual(expected);
      expect(liveCalls.toSorted()).toEqual(["a1", "a2", "b3"]);
      expect(frameOf(fork, "root/agent:b:0")).toMatchObject({ state: { status: "running" } });
      expect(frameOf(fork, "root/agent:b:0").endOrder).toBeUndefined();
    }
    // Only a1 and b1 had started before the end of b1. The call a1 ended later and stays.
    for (const fork of forks(source, { at: "root/agent:b:0/step:b1:0", drop: true })) {
      expect((await replayed(again, fork)).liveCalls.toSorted()).toEqual(["a2", "b1", "b2", "b3"]);
    }
  });

  it("removes a sub-agent with everything inside it and after it", async () => {
    const agent = (name: string, step: Step): Promise<string> =>
      runFrame({ id: name, input: { name } }, async () => {
        const [seen, setSeen] = equipMemory<string[]>("seen", []);
        setSeen([...seen, name]);
        const own = await step(`${name}1`);
        return own + (await runFrame({ id: "inner", input: {} }, () => step<string>(`${name}2`)));
      });
    const program: Program<string[]> = async (step) => [
      await step("first"),
      await agent("x", step),
      await agent("y", step),
      await step("last"),
    ];
    const source = await record(program);
    const expected = ["first!", "x1!x2!", "y1!y2!", "last!"];
    for (const fork of forks(source, { at: "root/agent:x:0", drop: true })) {
      expect(await replayed(program, fork)).toEqual({ result: expected, liveCalls: ["x1", "x2", "y1", "y2", "last"] });
      expect(framesIn(fork.root).map(({ callId }) => callId)).toEqual(["root", "root/agent:x:0"]);
      const dropped = frameOf(fork, "root/agent:x:0");
      expect(dropped).toMatchObject({
        state: { status: "running" },
        memory: {},
        children: {},
        journal: { prompt: {}, tool: {} },
      });
      expect(dropped.calls).toBeUndefined();
    }
    for (const fork of forks(source, { at: "root/agent:y:0/agent:inner:0", drop: true })) {
      expect(await replayed(program, fork)).toEqual({ result: expected, liveCalls: ["y2", "last"] });
      expect(frameOf(fork, "root/agent:x:0").state.status).toBe("completed");
      expect(frameOf(fork, "root/agent:y:0").state.status).toBe("running");
    }
    // The order of the changes does not matter.
    const both: ForkChange[] = [
      { at: "root/agent:y:0", drop: true },
      { at: "root/agent:x:0/step:x1:0", drop: true },
    ];
    for (const changes of [both, both.toReversed()]) {
      for (const fork of forks(source, changes)) {
        expect((await replayed(program, fork)).liveCalls).toEqual(["x1", "x2", "y1", "y2", "last"]);
      }
    }
  });

  it("keeps the positions of other occurrences of the same request", async () => {
    const gates = [gate(), gate(), gate()];
    let started = 0;
    // All three start before any of them ends.
    const live: Program<string[]> = (step) =>
      Promise.all(
        [0, 1, 2].map((number) =>
          step("same", async () => {
            started += 1;
            if (started === 3) for (const each of gates) each.open();
            await gates[number]?.passed;
            return `answer ${number}`;
          }),
        ),
      );
    const source = await record(live);
    const again: Program<string[]> = (step) => Promise.all([0, 1, 2].map(() => step("same", () => "executed again")));
    for (const occurrence of [0, 1, 2]) {
      const expected = ["answer 0", "answer 1", "answer 2"].with(occurrence, "executed again");
      const { contentHash = "" } = callsIn(parsed(source).root)[0] ?? {};
      for (const target of [at("same", occurrence), { contentHash, occurrence }]) {
        for (const fork of forks(source, { at: target, drop: true })) {
          expect(await replayed(again, fork)).toEqual({ result: expected, liveCalls: ["same"] });
        }
      }
    }
  });

  it("keeps the positions of sub-agents with the same input", async () => {
    const workers = (step: Step): Promise<string[]> =>
      Promise.all([0, 1, 2].map(() => runFrame({ id: "worker", input: { same: true } }, () => step<string>("work"))));
    let number = 0;
    const source = await record(() =>
      workers((name) => journalCall({ kind: "step", name, request: name }, () => `work ${number++}` as never)),
    );
    const frame = frameOf(parsed(source), "root/agent:worker:1");
    for (const fork of forks(source, { at: "root/agent:worker:1", drop: true })) {
      expect(await replayed(workers, fork)).toEqual({ result: ["work 0", "work!", "work 2"], liveCalls: ["work"] });
      expect(frameOf(fork, "root/agent:worker:1").startOrder).toBe(frame.startOrder);
    }
  });

  it("updates the journal row to the last remaining output", async () => {
    const program: Program = async (step) => {
      for (let round = 0; round < 3; round += 1) await step("same", () => round);
    };
    const source = await record(program);
    const rowOf = (snapshot: AgentSnapshot): unknown =>
      Object.values(snapshot.root.journal.other?.["step"] ?? {})[0]?.output;
    expect(rowOf(parsed(source))).toBe(2);
    const [fork] = forks(source, { at: at("same", 2), drop: true }) as [AgentSnapshot];
    expect(rowOf(fork)).toBe(1);
    expect(fork.root.calls?.map(({ row, output }) => row ?? output)).toEqual([0, true, undefined]);
    expect((await replayed(program, fork)).liveCalls).toEqual(["same"]);
  });

  it("of a call that has not ended removes nothing else", async () => {
    const program =
      (wait: () => Promise<string>): Program =>
      async (step) => {
        void step("hanging", wait);
        return [await step("a"), await step("b")];
      };
    const source = await record(program(() => new Promise(() => {})));
    for (const fork of forks(source, { at: at("hanging"), drop: true })) {
      expect(
        await replayed(
          program(async () => ""),
          fork,
        ),
      ).toEqual({ result: ["a!", "b!"], liveCalls: ["hanging"] });
    }
  });

  it("of a failed call executes it again and keeps failures that were handled", async () => {
    let failing = true;
    const program: Program<string[]> = async (step) => {
      const attempt = (name: string): Promise<string> =>
        step(name, () => {
          if (failing) throw new TypeError(`no ${name}`);
          return `${name} now`;
        }).catch((error: Error) => error.message);
      return [await attempt("first"), await step("between"), await attempt("second"), await step("fallback")];
    };
    const source = await record(program);
    failing = false;
    // "second" is the last call before the dropped one, but its failure was handled.
    for (const fork of forks(source, { at: at("fallback"), drop: true })) {
      expect(await replayed(program, fork)).toEqual({
        result: ["no first", "between!", "no second", "fallback!"],
        liveCalls: ["fallback"],
      });
    }
    for (const fork of forks(source, { at: at("second"), drop: true })) {
      expect(await replayed(program, fork)).toEqual({
        result: ["no first", "between!", "second now", "fallback!"],
        liveCalls: ["second", "fallback"],
      });
    }
  });

  it("keeps failures handled in frames that have to run again", async () => {
    const gates = { failed: gate(), slow: gate() };
    const program =
      (wait: Promise<void>): Program =>
      async (step) =>
        Promise.all([
          runFrame({ id: "careful", input: {} }, async () => {
            const caught = await step("risky", () => Promise.reject(new Error("refused"))).catch(
              (error: Error) => error.message,
            );
            gates.failed.open();
            await wait;
            return caught;
          }),
          step("slow", async () => {
            await gates.failed.passed;
            setImmediate(gates.slow.open);
            return "slow!";
          }),
        ]);
    const source = await record(program(gates.slow.passed));
    const { state, endOrder = 0 } = frameOf(parsed(source), "root/agent:careful:0");
    expect(state.status).toBe("completed");
    expect(endOrder).toBeGreaterThan(
      callsIn(parsed(source).root).find(({ callId }) => callId === at("slow"))?.endOrder ?? Infinity,
    );
    for (const fork of forks(source, { at: at("slow"), drop: true })) {
      expect(frameOf(fork, "root/agent:careful:0").state.status).toBe("running");
      expect(await replayed(program(Promise.resolve()), fork)).toEqual({
        result: ["refused", "slow!"],
        liveCalls: ["slow"],
      });
    }
    // A failure that ended the run is retried in the fork as in its source.
    let failing = true;
    const ending: Program = async (step) => {
      await step("a");
      await runFrame({ id: "inner", input: {} }, async () => {
        await step("b");
        await step("c", () => {
          if (failing) throw new Error("refused");
        });
      });
    };
    const ended = await record(ending);
    failing = false;
    for (const snapshot of [ended, ...forks(ended, [])])
      expect((await replayed(ending, snapshot)).liveCalls).toEqual(["c"]);
    for (const fork of forks(ended, { at: "root/agent:inner:0/step:b:0", drop: true })) {
      expect((await replayed(ending, fork)).liveCalls).toEqual(["b", "c"]);
    }
  });

  it("reopens frames that the end of their parent had closed, if the parent runs again", async () => {
    const program: Program = async (step) => {
      await runFrame({ id: "outer", input: {} }, async () => {
        void runFrame({ id: "left", input: {} }, async () => {
          await step("l1");
          await new Promise(() => {});
        }).catch(() => {});
        await step("o1");
        await step("o2");
      });
      await step("last");
    };
    const source = await record(program);
    const left = "root/agent:outer:0/agent:left:0";
    expect(frameOf(parsed(source), left).state.status).toBe("failed");
    for (const fork of forks(source, { at: "root/agent:outer:0/step:o2:0", drop: true })) {
      expect(frameOf(fork, left).state).toEqual({ status: "running" });
      expect((await replayed(program, fork)).liveCalls).toEqual(["o2", "last"]);
    }
    for (const fork of forks(source, { at: "root/step:last:0", drop: true })) {
      expect(frameOf(fork, left).state.status).toBe("failed");
      expect((await replayed(program, fork)).liveCalls).toEqual(["last"]);
    }
  });

  it("rejects dropping the root and changes without effect", async () => {
    const source = await record(abcd);
    expect(forkError(source, { at: "root", drop: true })).toMatchObject({ path: "changes.drop", at: "root" });
  });
});

describe("forkSnapshot in a reborn agent", () => {
  const again: Program = (step) =>
    runFrame<number, unknown>({ id: "again", input: 0 }, async (round) => {
      const [log, setLog] = equipMemory<string[]>("log", []);
      const text = await step(`ask ${log.length}`, () => `said ${log.length}`);
      await step("check");
      setLog([...log, text]);
      return round < 2 ? reborn(round + 1) : [...log, text];
    });
  const frame = "root/agent:again:0";
  const generationsOf = (fork: AgentSnapshot): unknown[] => {
    const { generations = [], generation } = frameOf(fork, frame);
    return [...generations.map(({ id }) => id), generation?.id];
  };

  it("returns to the generation of the dropped call", async () => {
    const source = await record(again);
    const expected = ["said 0", "said 1", "said 2"];
    for (const [round, liveCalls, left] of [
      [2, ["ask 2", "check"], [0, 1, 2]],
      [1, ["ask 1", "check", "ask 2", "check"], [0, 1]],
      [0, ["ask 0", "check", "ask 1", "check", "ask 2", "check"], [0]],
    ] as const) {
      for (const fork of forks(source, { at: `${frame}/step:ask ${round}:0`, drop: true })) {
        expect(generationsOf(fork)).toEqual(left);
        expect(frameOf(fork, frame).memory).toEqual({ log: expected.slice(0, round) });
        expect(await replayed(again, fork)).toEqual({ result: expected, liveCalls });
      }
    }
    // This is the last call in its generation. Nothing started after it there, but later generations have to be
    // removed.
    for (const fork of forks(source, { at: { callId: `${frame}/step:check:0`, occurrence: 1 }, drop: true })) {
      expect(generationsOf(fork)).toEqual([0, 1]);
      expect(await replayed(again, fork)).toEqual({ result: expected, liveCalls: ["check", "ask 2", "check"] });
    }
  });

  it("returns to an earlier generation whose output is changed", async () => {
    const source = await record(again);
    for (const fork of forks(source, { at: `${frame}/step:ask 1:0`, output: "changed" })) {
      expect(generationsOf(fork)).toEqual([0, 1]);
      expect(await replayed(again, fork)).toEqual({
        result: ["said 0", "changed", "said 2"],
        liveCalls: ["ask 2", "check"],
      });
    }
    const both: ForkChange[] = [
      { at: `${frame}/step:ask 1:0`, output: "x" },
      { at: `${frame}/step:ask 2:0`, output: "y" },
    ];
    expect(forkError(source, both)).toMatchObject({ path: "changes.1", at: `${frame}/step:ask 2:0` });
  });

  it("keeps edited memory keys when generations are removed", async () => {
    const [edited] = forks(await record(again), { at: frame, memory: { log: ["mine"] } }) as [AgentSnapshot];
    for (const fork of forks(edited, { at: `${frame}/step:ask 1:0`, drop: true })) {
      expect(await replayed(again, fork)).toEqual({
        result: ["mine", "said 1", "said 2"],
        liveCalls: ["ask 1", "check", "ask 2", "check"],
      });
    }
  });
});
