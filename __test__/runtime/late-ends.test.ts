// Calls that end, or begin, after the frame that they belong to has ended.
import {
  callTool,
  createAgent,
  equipInstruction,
  journalCall,
  promptAgent,
  reborn,
  replay,
  resume,
  runFrame,
  withCustomSpan,
  type AgentFrameSnapshot,
  type ReplayReport,
} from "agent-rewind";
import { dumpSnapshot, parseSnapshot, stringifySnapshot, type AgentSnapshot } from "agent-rewind/debugger";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { turn } from "../support/deferred.js";
import { factsOf, orderOf } from "../support/frames.js";
import { recorded } from "../support/manual-fetch.js";
import { scriptedModel } from "../support/scripted-model.js";

const turns = async (count: number): Promise<void> => {
  for (let at = 0; at < count; at += 1) await turn();
};

/** The calls that were executed. */
let made: string[] = [];

/** A call that takes a number of turns of the event loop. */
const call = (name: string, length: number): Promise<string> =>
  journalCall({ kind: "work", name, request: { name } }, async () => {
    made.push(name);
    await turns(length);
    return `${name} ${made.length}`;
  });

/** Runs tasks one after the other, and in the context in which each was added. */
function queue(): { add(task: () => Promise<unknown>): Promise<void>; idle(): Promise<void> } {
  let last: Promise<void> = Promise.resolve();
  return {
    add: (task) => (last = last.then(async () => void (await task()))),
    idle: () => last,
  };
}

/** Collects keys until the next turn, and requests them together. */
function loader(): (key: string) => Promise<string> {
  let batch: { keys: string[]; answer: Promise<Record<string, string>> } | undefined;
  return async (key) => {
    if (batch === undefined) {
      const keys: string[] = [];
      const answer = turn().then(() => {
        batch = undefined;
        return journalCall({ kind: "work", name: "batch", request: { keys } }, async () => {
          made.push(`batch ${keys.join("+")}`);
          await turn();
          return Object.fromEntries(keys.map((each) => [each, `${each} loaded`]));
        });
      });
      batch = { keys, answer };
    }
    batch.keys.push(key);
    return (await batch.answer)[key] as string;
  };
}

const model = scriptedModel("m", async () => {
  made.push("prompt");
  await turns(4);
  return { content: '"late answer"', usage: { promptTokens: 3, completionTokens: 2 } };
});
const background = createAgent<{ left: Promise<unknown>[] }, string>({
  id: "background",
  model,
  handler: ({ left }) => {
    equipInstruction("Answer late.");
    left.push(promptAgent(z.string()));
    return "returned";
  },
});

type Program = (atEnd: () => void) => Promise<unknown>;
const frame = <T>(id: string, fn: () => T | Promise<T>): Promise<T> => runFrame({ id, input: {} }, fn);
const shout = {
  name: "shout",
  description: "",
  parameters: z.looseObject({}),
  handler: async () => {
    made.push("shout");
    await turns(3);
    return "shouted";
  },
};

/** Each calls `atEnd` when the frame has ended and the work in it has not. */
const programs: Record<string, Program> = {
  "a hedged call": async (atEnd) => {
    const first = await frame("hedge", () => Promise.race([call("fast", 1), call("slow", 8)]));
    atEnd();
    await turns(20);
    return [first, await call("after", 1)];
  },
  "a hedged call that fails": async (atEnd) => {
    const failing = (): Promise<string> =>
      journalCall({ kind: "work", name: "failing", request: {} }, async () => {
        made.push("failing");
        await turns(8);
        throw new RangeError("too slow");
      });
    let late: unknown;
    const first = await frame("hedge", () =>
      Promise.race([call("fast", 1), failing().catch((error) => (late = error))]),
    );
    atEnd();
    await turns(20);
    return [first, String(late), await call("after", 1)];
  },
  "a queue that works on": async (atEnd) => {
    const tasks = queue();
    const seen: string[] = [];
    await frame("adds", async () => {
      for (const name of ["a", "b", "a"]) void tasks.add(async () => seen.push(await call(name, 2)));
      return "added";
    });
    atEnd();
    await tasks.idle();
    return [seen, await call("after", 1)];
  },
  "telemetry that nobody waits for": async (atEnd) => {
    const result = await frame("tells", async () => {
      void call("telemetry", 3);
      return call("answer", 1);
    });
    atEnd();
    await turns(12);
    return [result, await call("after", 1)];
  },
  "a batch for two frames": async (atEnd) => {
    const load = loader();
    const loading: Promise<string>[] = [];
    await frame("one", () => void loading.push(load("k1")));
    await frame("two", () => void loading.push(load("k2")));
    atEnd();
    return [await Promise.all(loading), await call("after", 1)];
  },
  "a frame in a frame": async (atEnd) => {
    let left: Promise<string> | undefined;
    await frame("outer", async () => {
      await frame("inner", () => void (left = call("left", 6)));
      await call("outer's own", 1);
    });
    atEnd();
    return [await left, await call("after", 1)];
  },
  "an agent's own prompt": async (atEnd) => {
    const left: Promise<unknown>[] = [];
    const result = await background({ left });
    atEnd();
    return [result, await Promise.all(left), await call("after", 1)];
  },
  "calls that begin late": async (atEnd) => {
    let left: Promise<unknown> | undefined;
    await frame("leaves", () => {
      left = (async () => {
        await turns(3);
        return withCustomSpan("later", async () => [await call("first", 2), await callTool(shout, {})]);
      })();
    });
    atEnd();
    return [await left, await call("after", 1)];
  },
};

const roundTrip = (snapshot: AgentSnapshot): AgentSnapshot => parseSnapshot(stringifySnapshot(snapshot));

describe.each(Object.entries(programs))("%s", (_name, program) => {
  const run = (): Promise<unknown> => program(() => {});

  it("is recorded, replayed and not executed again", async () => {
    made = [];
    const { value, snapshots } = await recorded(run);
    const all = [...made];
    for (const snapshot of snapshots) {
      expect(snapshot.warnings ?? []).toEqual([]);
      made = [];
      let report: ReplayReport | undefined;
      expect(await replay(run, { snapshot, onReport: (given) => (report = given) })).toEqual(value);
      expect(made).toEqual([]);
      expect(report).toMatchObject({ live: 0, missed: 0 });
      expect(report?.frames.filter(({ unused }) => unused !== undefined && unused.calls + unused.frames > 0)).toEqual(
        [],
      );
      const again = await recorded(run, undefined, snapshot);
      expect(again.value).toEqual(value);
      for (const chained of again.snapshots) expect(await replay(run, { snapshot: chained })).toEqual(value);
      expect(made).toEqual([]);
    }
    expect(all.length).toBeGreaterThan(0);
  });

  it("is in the trace as in the dump", async () => {
    const { snapshots } = await recorded(run);
    const [dump, , restored] = snapshots as [AgentSnapshot, AgentSnapshot, AgentSnapshot];
    expect(factsOf(restored.root)).toEqual(factsOf(dump.root));
    expect(orderOf(restored.root)).toEqual(orderOf(dump.root));
  });

  it("is in flight in a dump before, and is carried over by a dump of a resumed run", async () => {
    const dumps: AgentSnapshot[] = [];
    const dumping = (): Promise<unknown> => program(() => void dumps.push(roundTrip(dumpSnapshot())));
    made = [];
    const { value, snapshots } = await recorded(dumping);
    const all = [...made];
    const early = dumps.pop() as AgentSnapshot;
    // Only the calls that were in flight are executed.
    made = [];
    await resume(run, { snapshot: early });
    expect(made.length).toBeGreaterThan(0);
    expect(made.length).toBeLessThanOrEqual(all.length);
    for (const snapshot of snapshots) {
      made = [];
      expect(await resume(dumping, { snapshot })).toEqual(value);
      const carried = dumps.pop() as AgentSnapshot;
      expect(await replay(run, { snapshot: carried })).toEqual(value);
      expect(made).toEqual([]);
    }
  });
});

describe("what is not recorded", () => {
  const callsOf = (root: AgentFrameSnapshot): [string, boolean][] =>
    Object.values(root.children).flatMap((child) => [
      ...[...(child.generations ?? []).flatMap(({ calls }) => calls), ...(child.calls ?? [])].map(
        ({ callId, endOrder }): [string, boolean] => [callId, endOrder !== undefined],
      ),
      ...callsOf(child),
    ]);

  it("is a call in a frame that the end of a frame above cut off, or in one below that", async () => {
    const program = async (): Promise<string> => {
      await frame("hasty", async () => {
        void frame("slow", async () => {
          await frame("ended", () => void call("of the ended", 5));
          await call("of the slow", 5);
        }).catch(() => {});
        await turns(2);
      });
      await turns(15);
      return call("after", 1);
    };
    const { snapshots } = await recorded(program);
    for (const { root } of snapshots) {
      expect(callsOf(root)).toEqual([
        ["root/agent:hasty:0/agent:slow:0/work:of the slow:0", false],
        ["root/agent:hasty:0/agent:slow:0/agent:ended:0/work:of the ended:0", false],
      ]);
    }
  });

  it("is a call that begins in an earlier generation; one that ends in it is recorded", async () => {
    const outcomes: unknown[] = [];
    const program = async (): Promise<string> => {
      await runFrame({ id: "twice", input: 1 }, async (round) => {
        if (round === 2) return turns(20).then(() => "done");
        void call("of the first life", 5).then(() =>
          call("stale", 1).catch((error: Error) => outcomes.push(error.name)),
        );
        return reborn(2);
      });
      return call("after", 1);
    };
    const { snapshots } = await recorded(program);
    expect(outcomes).toEqual(["AbortError"]);
    for (const { root } of snapshots)
      expect(callsOf(root)).toEqual([["root/agent:twice:0/work:of the first life:0", true]]);
  });

  it("is a failure of left work as the reason why its frame failed", async () => {
    const program = async (): Promise<unknown> => {
      const failing = (name: string, length: number): Promise<string> =>
        journalCall({ kind: "work", name, request: { name } }, async () => {
          made.push(name);
          await turns(length);
          throw new Error("busy");
        });
      const failed = await frame("fails", () => Promise.race([failing("first", 1), failing("second", 6)])).catch(
        (error: Error) => error,
      );
      await turns(15);
      await call("after", 1);
      throw failed;
    };
    made = [];
    const dumps: AgentSnapshot[] = [];
    const watched = async (): Promise<string> =>
      program().catch((error: Error) => {
        dumps.push(dumpSnapshot());
        return error.message;
      }) as Promise<string>;
    const { snapshots } = await recorded(watched);
    const stopped = (snapshot: AgentSnapshot | undefined): string[] =>
      (snapshot?.root.children["root/agent:fails:0"]?.calls ?? []).flatMap((each) => (each.stopped ? each.callId : []));
    for (const snapshot of [...snapshots, ...dumps])
      expect(stopped(snapshot)).toEqual(["root/agent:fails:0/work:first:0"]);
  });
});
