import {
  captureContext,
  equipMemory,
  isAbortError,
  journalCall,
  reborn,
  replay,
  resume,
  runFrame,
  runWith,
  type AgentSnapshot,
  type Context,
} from "agent-rewind";
import { dumpSnapshot } from "agent-rewind/debugger";
import { describe, expect, it } from "vitest";

import { deferred } from "./support/deferred.js";

const step = <T>(request: unknown, make: () => T | Promise<T>): Promise<T> =>
  journalCall({ kind: "step", name: "step", request }, make);
const never = (): never => {
  throw new Error("executed again");
};

/** Runs a program and returns its result with a dump taken after it. */
async function record<T>(program: () => Promise<T>): Promise<{ value: T; snapshot: AgentSnapshot }> {
  return runWith(async () => ({ value: await program(), snapshot: dumpSnapshot() }));
}

describe("code that an agent left running before it was reborn", () => {
  it("makes no call, starts no agent and sets no memory in the new generation", async () => {
    const go = deferred();
    const left: Promise<unknown>[] = [];
    const { value, snapshot } = await record(() =>
      runFrame({ id: "phoenix", input: {} }, async () => {
        const [rounds, setRounds] = equipMemory("rounds", 0);
        setRounds(rounds + 1);
        if (rounds === 0) {
          const late = async (): Promise<unknown> => {
            await go.promise;
            setRounds(99);
            const call = await step("late", () => "late").catch((error: unknown) => error);
            const agent = await runFrame({ id: "late", input: {} }, () => "late").catch((error: unknown) => error);
            return [call, agent];
          };
          left.push(late());
          await step("begin", () => "begun");
          return reborn();
        }
        go.resolve();
        await Promise.all(left);
        await step("end", () => "ended");
        return equipMemory("rounds", 0)[0];
      }),
    );
    expect(value).toBe(2);
    const [[call, agent]] = (await Promise.all(left)) as [[unknown, unknown]];
    expect([isAbortError(call), isAbortError(agent)]).toEqual([true, true]);
    expect(String(call)).toContain('the agent "phoenix" was reborn before this call');
    const frame = snapshot.root.children["root/agent:phoenix:0"];
    expect(frame?.calls?.map(({ callId }) => callId)).toEqual(["root/agent:phoenix:0/step:step:0"]);
    expect(frame?.children).toEqual({});
    // A replay starts with the last generation, where no code of the first is running.
    const again = await replay(
      () =>
        runFrame({ id: "phoenix", input: {} }, async () => {
          const [rounds, setRounds] = equipMemory("rounds", 0);
          setRounds(rounds + 1);
          await step("end", never);
          return equipMemory("rounds", 0)[0];
        }),
      { snapshot },
    );
    expect(again).toBe(2);
  });
});

it("an agent that is reborn beyond its recording receives no answers of the earlier generation", async () => {
  const program = (rounds: number, liveCalls: number[]) => () =>
    runFrame({ id: "phoenix", input: { round: 0 } }, async ({ round }): Promise<unknown> => {
      // The recorded generation asks twice. The changed program asks once.
      const answer = await step("the same", () => liveCalls.push(round));
      if (rounds === 0) await step("the same", () => liveCalls.push(round));
      return round < rounds ? reborn({ round: round + 1 }) : answer;
    });
  const { snapshot } = await record(program(0, []));
  const liveCalls: number[] = [];
  await resume(program(1, liveCalls), { snapshot });
  expect(liveCalls).toEqual([1]);
});

it("sub-agents with the same input replay in the order of their starts, whatever the numbers of other sub-agents", async () => {
  const sub = (input: string, make: () => string): Promise<string> =>
    runFrame({ id: "sub", input: { input } }, () => step(input, make));
  const { snapshot } = await record(async () => [
    await sub("same", () => "first"),
    await sub("other", () => "other"),
    await sub("same", () => "second"),
  ]);
  // Another sub-agent comes first now, so the first of the two has number 2, which was the number of the second.
  const again = await resume(
    async () => [
      await sub("new", () => "new"),
      await sub("newer", () => "newer"),
      await sub("same", never),
      await sub("same", never),
    ],
    { snapshot },
  );
  expect(again).toEqual(["new", "newer", "first", "second"]);
});

describe("a failure that the program had handled", () => {
  const failing = (liveCalls: string[]) => async (): Promise<string | void> => {
    const caught = await runFrame({ id: "worker", input: {} }, async () => {
      await step("try", () => {
        liveCalls.push("try");
        throw new Error("down");
      });
    }).catch(({ message }: Error) => message);
    await step("then", () => liveCalls.push("then"));
    return caught;
  };

  it("stays handled in dumps of a resumed run that has not handled it again yet", async () => {
    const { snapshot } = await record(failing([]));
    let middle: AgentSnapshot | undefined;
    await resume(
      () =>
        runFrame({ id: "worker", input: {} }, async () => {
          await step("try", never).catch((error: unknown) => {
            middle = dumpSnapshot();
            throw error;
          });
        }).catch(() => {}),
      { snapshot },
    );
    for (const each of [middle, JSON.parse(JSON.stringify(middle)) as AgentSnapshot]) {
      const liveCalls: string[] = [];
      expect(await resume(failing(liveCalls), { snapshot: each as AgentSnapshot })).toBe("down");
      expect(liveCalls).toEqual([]);
    }
  });

  it("stays handled when it happened live and the following call was replayed", async () => {
    const { snapshot } = await record(async () => {
      await step("first", () => 1);
      await step("second", () => 2);
    });
    let middle: AgentSnapshot | undefined;
    const changed = (liveCalls: string[]) => async (): Promise<void> => {
      await step("first", never);
      await step("new", () => {
        liveCalls.push("new");
        throw new Error("down");
      }).catch(() => {});
      await step("second", never);
      middle ??= dumpSnapshot();
    };
    await resume(changed([]), { snapshot });
    const liveCalls: string[] = [];
    await resume(changed(liveCalls), { snapshot: middle as AgentSnapshot });
    expect(liveCalls).toEqual([]);
  });

  it('is retried after a changed program ended with it, and earlier with failures: "retry"', async () => {
    const { snapshot } = await record(failing([]));
    const rethrowing = (liveCalls: string[]) => async (): Promise<void> => {
      await runFrame({ id: "worker", input: {} }, async () => {
        await step("try", () => liveCalls.push("try"));
      });
    };
    let context: Context | undefined;
    let atCatch: AgentSnapshot | undefined;
    const ended = resume(
      async () => {
        context = captureContext();
        try {
          await rethrowing([])();
        } finally {
          atCatch = dumpSnapshot();
        }
      },
      { snapshot },
    );
    await expect(ended).rejects.toThrow("down");
    const failed = dumpSnapshot({ context: context as Context });
    const liveCalls: string[] = [];
    await resume(rethrowing(liveCalls), { snapshot: failed });
    await resume(rethrowing(liveCalls), { snapshot: atCatch as AgentSnapshot, failures: "retry" });
    expect(liveCalls).toEqual(["try", "try"]);
  });
});
