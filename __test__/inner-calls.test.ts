// Calls inside a call belong to it. They are used up with its answer, and answer only a new execution of it.
import {
  callTool,
  createAgent,
  equipInstruction,
  equipTool,
  journalCall,
  promptAgent,
  reborn,
  replay,
  resume,
  runFrame,
  runWith,
  withCustomSpan,
  type AgentFrameSnapshot,
  type AgentSnapshot,
  type ReplayReport,
  type Tool,
  type TraceEvent,
} from "agent-rewind";
import { dumpSnapshot, forkSnapshot, parseSnapshot, restoreSnapshot, stringifySnapshot } from "agent-rewind/debugger";
import { rewindFetch } from "agent-rewind/fetch";
import OpenAI from "openai";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";

import { RecordingSession } from "../ts/runtime/run/recording-session.js";
import { sleep } from "./support/deferred.js";
import { chatCompletion, json, modelServer } from "./support/model-server.js";
import { scriptedModel } from "./support/scripted-model.js";

// Resumed runs warn of the calls that were in flight.
beforeEach(() => void vi.spyOn(console, "warn").mockImplementation(() => {}));

/** The calls that were executed, in order. Each gives another answer. */
let executed: string[] = [];
let answers = 0;

/** The same request each time, and an answer that never comes twice. */
const ask = (q = "next number?"): Promise<string> =>
  journalCall({ kind: "chat", name: "m", request: { q } }, async () => {
    executed.push(q);
    const answer = `${q} ${(answers += 1)}`;
    await sleep(1);
    return answer;
  });

const step = <T>(name: string, make: () => T | Promise<T>): Promise<T> =>
  journalCall({ kind: "step", name, request: name }, () => {
    executed.push(name);
    return make();
  });

const tool = (name: string, handler: () => unknown): Tool => ({
  name,
  description: name,
  parameters: z.object({}),
  handler: () => {
    executed.push(name);
    return handler();
  },
});

const counter = (): Promise<string> => runFrame({ id: "counter", input: {} }, () => ask());

const expert = createAgent<{ topic: string }, string>({
  id: "expert",
  handler: async ({ topic }) => {
    equipInstruction(`explain ${topic}`);
    return `${await promptAgent(z.string())}, ${await ask()}`;
  },
});
const leader = createAgent<object, unknown>({
  id: "leader",
  handler: async () => {
    equipInstruction("lead");
    equipTool(tool("ask_expert", () => expert({ topic: "rain" })));
    const led = await promptAgent(z.string());
    return [led, await ask()];
  },
});
const model = scriptedModel("m", (messages) => {
  const asked = JSON.stringify(messages);
  if (asked.includes("lead") && !messages.some(({ role }) => role === "tool"))
    return { tool_calls: [{ id: "1", name: "ask_expert", arguments: "{}" }] };
  executed.push("prompt");
  return { content: JSON.stringify(`prompted ${(answers += 1)}`) };
});

const PROGRAMS: Record<string, () => Promise<unknown>> = {
  "a call in a tool, then an equal one": async () => [
    await callTool(
      tool("t", () => ask()),
      {},
    ),
    await ask(),
  ],
  "a call in a journaled call, then an equal one": async () => [await step("s", () => ask()), await ask()],
  "a frame in a tool, then an equal one": async () => [await callTool(tool("t", counter), {}), await counter()],
  "an agent as a tool, then the same agent": async () => [await leader({}), await expert({ topic: "rain" })],
  "calls in calls, three deep": async () => [
    await step("a", async () => [
      await step("b", async () => [await ask(), await step("c", () => ask())]),
      await ask(),
    ]),
    await ask(),
  ],
  "frames in calls in frames in calls": async () => {
    const deep = (level: number): Promise<unknown> =>
      step(`level ${level}`, () =>
        runFrame({ id: "deep", input: { level } }, async () => [
          await ask(),
          level === 0 ? "end" : await deep(level - 1),
          await ask(),
        ]),
      );
    return [await deep(2), await ask()];
  },
  "parallel calls that ask the same at other times, beside one that asks it outside": async () =>
    Promise.all([
      step("slow", async () => (await sleep(6), [await ask(), await ask()])),
      step("fast", async () => [await ask(), await ask()]),
      step("timer", () => sleep(3)).then(() => ask()),
      callTool(
        tool("last", async () => (await sleep(9), ask())),
        {},
      ),
    ]),
  "a failed call that was handled, with a failure inside": async () => {
    const fails = (name: string): Promise<never> => step(name, () => Promise.reject(new RangeError(name)));
    const inside = async (): Promise<unknown> => [await ask(), await fails("inner").catch(() => "caught"), await ask()];
    const outer = step("outer", async () => {
      await inside();
      throw new TypeError("outer");
    });
    return [await outer.catch((error: Error) => error.message), await ask(), await step("other", inside), await ask()];
  },
  "a call in a span in a call of an agent that starts over": async () =>
    createAgent<{ round: number }, unknown>({
      id: "twice",
      handler: async ({ round }) => {
        const inside = await step("s", () => withCustomSpan("span", () => ask()));
        return round === 0 ? reborn({ round: 1 }) : [inside, await ask()];
      },
    })({ round: 0 }),
};

interface Recorded {
  readonly value: unknown;
  readonly dump: AgentSnapshot;
  readonly events: TraceEvent[];
  /** A dump, the length of the trace, and the calls that had ended, at the end of each call. */
  readonly moments: { dump: AgentSnapshot; events: number; executed: number }[];
}

const ENDS = new Set(["call:end", "tool:call:end", "turn:end"]);

async function record(program: () => Promise<unknown>): Promise<Recorded> {
  const events: TraceEvent[] = [];
  const moments: Recorded["moments"] = [];
  const emit = (event: TraceEvent): void => {
    events.push(event);
    if (ENDS.has(event.type)) moments.push({ dump: dumpSnapshot(), events: events.length, executed: executed.length });
  };
  executed = [];
  const run = async (): Promise<Pick<Recorded, "value" | "dump">> => ({ value: await program(), dump: dumpSnapshot() });
  return { ...(await runWith(run, { model, eventBus: { emit } })), events, moments };
}

/** Everything that a replay depends on, in a form that can be compared. */
const textOf = (snapshot: AgentSnapshot): unknown => JSON.parse(stringifySnapshot(snapshot)).root as unknown;

function all(frame: AgentFrameSnapshot): { callId: string; within?: string; carriedOver?: true }[] {
  const bodies = [...(frame.generations ?? []), frame];
  const own = bodies.flatMap(({ calls = [], children }) => [...calls, ...Object.values(children).flatMap(all)]);
  return [frame, ...own];
}

describe.each(Object.entries(PROGRAMS))("%s", (_name, program) => {
  it("replays as it ran, by dump and trace, and its dump is that of the run", async () => {
    const { value, dump, events } = await record(program);
    for (const snapshot of [dump, parseSnapshot(stringifySnapshot(dump)), restoreSnapshot(events)]) {
      let report!: ReplayReport;
      executed = [];
      const again = async (): Promise<unknown> => {
        expect(await program()).toEqual(value);
        return textOf(dumpSnapshot());
      };
      const root = await replay(again, { snapshot, model, onReport: (given) => (report = given) });
      expect(executed).toEqual([]);
      const unused = report.frames
        .map((frame) => frame.unused)
        .filter((each) => (each?.calls ?? 0) + (each?.frames ?? 0));
      expect([report.live, report.missed, report.overtaken, unused]).toEqual([0, 0, 0, []]);
      if (snapshot.provenance.source === "dump") expect(root).toEqual(textOf(dump));
    }
    const has = (snapshot: AgentSnapshot): unknown => all(snapshot.root).map(({ callId, within }) => [callId, within]);
    // The root of a restored snapshot is the only agent of the run, if there is one.
    const restored = restoreSnapshot(events);
    expect(has(dump)).toEqual(expect.arrayContaining(has(restored) as unknown[]));
    expect(has(restored)).toEqual(
      expect.arrayContaining((has(dump) as unknown[]).slice(restored.root.agentId === "" ? 0 : 1)),
    );
  });

  it("resumes from the end of each call without executing again what had ended", async () => {
    const { value, events, moments } = await record(program);
    for (const moment of moments) {
      for (const snapshot of [moment.dump, restoreSnapshot(events.slice(0, moment.events))]) {
        const ended = new Set(
          all(snapshot.root).flatMap((entry) => ("endOrder" in entry ? [JSON.stringify(entry)] : [])),
        );
        const resumed = async (): Promise<[unknown, AgentSnapshot]> => [await program(), dumpSnapshot()];
        const [again, dump] = await resume(resumed, { snapshot, model });
        // Answers never come twice, so each that was kept comes from the recording.
        const kept = (JSON.stringify(value).match(/(?:number\?|prompted) \d+/g) ?? []).filter((answer) =>
          [...ended].some((entry) => entry.includes(`${answer}"`) || entry.includes(`${answer}\\"`)),
        );
        for (const answer of kept) expect(JSON.stringify(again)).toContain(answer);
        expect(JSON.stringify(await replay(program, { snapshot: dump, model }))).toBe(JSON.stringify(again));
        expect(all(dump.root).filter(({ carriedOver }) => carriedOver)).toEqual([]);
      }
    }
  });
});

describe("a call that is executed again", () => {
  it("gets its recorded inside after a kill, and the same callIds", async () => {
    const handled: string[] = [];
    const program = async (): Promise<unknown> =>
      callTool(
        {
          ...tool("t", () => {}),
          handler: async (_input, { callId }) => {
            handled.push(callId);
            const found = [
              await ask("a"),
              await counter(),
              await callTool(
                tool("inner", () => ask("b")),
                {},
              ),
            ];
            return [...found, await step("last", () => killed() ?? "done")];
          },
        },
        {},
      ).then(async (inside) => [
        inside,
        await callTool(
          tool("inner", () => ask("c")),
          {},
        ),
      ]);
    let killed: () => Promise<unknown> | undefined = () => new Promise(() => {});
    let snapshot!: AgentSnapshot;
    const events: TraceEvent[] = [];
    const killing = runWith(() => Promise.race([program(), sleep(40).then(() => void (snapshot = dumpSnapshot()))]), {
      eventBus: { emit: (event) => void (snapshot === undefined && events.push(event)) },
    });
    await killing;
    killed = () => undefined;
    for (const from of [snapshot, restoreSnapshot(events)]) {
      executed = [];
      const [value, dump] = await resume(async () => [await program(), dumpSnapshot()] as const, { snapshot: from });
      expect(executed).toEqual(["last", "inner", "c"]);
      // The calls that come after it have the names that they would have had.
      const names = dump.root.calls?.map(({ callId, within }) => [callId, within]);
      expect(names).toEqual([
        ["root/tool:t:0", undefined],
        ["root/chat:m:0", "root/tool:t:0"],
        ["root/tool:inner:0", "root/tool:t:0"],
        ["root/chat:m:1", "root/tool:inner:0"],
        ["root/step:last:0", "root/tool:t:0"],
        ["root/tool:inner:1", undefined],
        ["root/chat:m:2", "root/tool:inner:1"],
      ]);
      expect(await replay(program, { snapshot: dump })).toEqual(value);
    }
    expect(new Set(handled)).toEqual(new Set(["root/tool:t:0"]));
  });

  it("gets it when its failure is retried", async () => {
    let broken = true;
    const program = (): Promise<unknown> =>
      step("outer", async () => [
        await ask(),
        await counter(),
        await step("breaks", () => broken && Promise.reject(new Error("x"))),
      ]);
    let snapshot!: AgentSnapshot;
    const failing = runWith(() => program().finally(() => (snapshot = dumpSnapshot())));
    await expect(failing).rejects.toThrow("x");
    broken = false;
    executed = [];
    await resume(program, { snapshot });
    expect(executed).toEqual(["outer", "breaks"]);
  });

  it("keeps what it has not asked yet when it is killed again", async () => {
    const held: (() => void)[] = [];
    const hold = (): Promise<void> => new Promise((resolve) => held.push(resolve));
    let after = async (): Promise<unknown> => hold();
    let before = async (): Promise<unknown> => undefined;
    const program = (): Promise<unknown> =>
      step("outer", async () => {
        await before();
        return [await ask("a"), await counter(), await after()];
      });
    const kill = async (snapshot?: AgentSnapshot): Promise<AgentSnapshot> => {
      const killed = async (): Promise<AgentSnapshot> => {
        const count = held.length;
        void program();
        await vi.waitUntil(() => held.length > count, { interval: 1, timeout: 10_000 });
        return dumpSnapshot();
      };
      return runWith(killed, snapshot === undefined ? {} : { snapshot });
    };
    const first = await kill();
    [before, after] = [hold, async () => "done"];
    const second = await kill(first);
    expect(all(second.root).filter(({ carriedOver }) => carriedOver)).toHaveLength(2);
    before = async () => undefined;
    executed = [];
    await resume(program, { snapshot: second });
    expect(executed).toEqual(["outer"]);
  });
});

describe("a client that awaits before it calls its fetch", () => {
  it("is recorded in a tool's handler, and not in a model call or a leaf", async () => {
    let count = 0;
    await using server = await modelServer(() => json(chatCompletion(`answer ${(count += 1)}`)));
    const client = new OpenAI({ apiKey: "k", baseURL: `${server.url}/v1`, fetch: rewindFetch() });
    const chat = async (): Promise<unknown> => {
      const messages = [{ role: "user" as const, content: "hello" }];
      return (await client.chat.completions.create({ model: "gpt-4o", messages })).choices[0]?.message.content;
    };
    const leaf = { kind: "chat", name: "leaf", request: {}, leaf: true };
    const program = async (): Promise<unknown> => [
      await callTool(
        tool("t", () => Promise.all([chat(), runFrame({ id: "f", input: {} }, chat)])),
        {},
      ),
      await chat(),
      await journalCall(leaf, () => chat()),
    ];
    const { value, dump, events } = await record(program);
    expect(all(dump.root).map(({ callId, within }) => [callId.replace(/127.*?\d:/, ""), within])).toEqual([
      ["root", undefined],
      ["root/tool:t:0", undefined],
      [expect.stringMatching(/^root\/fetch:/), "root/tool:t:0"],
      [expect.stringMatching(/^root\/fetch:/), undefined],
      ["root/chat:leaf:0", undefined],
      ["root/agent:f:0", "root/tool:t:0"],
      [expect.stringMatching(/^root\/agent:f:0\/fetch:/), undefined],
    ]);
    const before = count;
    for (const snapshot of [dump, restoreSnapshot(events)]) expect(await replay(program, { snapshot })).toEqual(value);
    expect(count).toBe(before);
  });
});

describe("forks", () => {
  const program = PROGRAMS["a frame in a tool, then an equal one"] as () => Promise<unknown[]>;

  it("drop the inside with the call", async () => {
    const { dump, value } = await record(program);
    executed = [];
    const fork = forkSnapshot(dump, { at: "root/tool:t:0", drop: true });
    const again = await resume(program, { snapshot: fork });
    expect(executed).toEqual(["t", "next number?", "next number?"]);
    expect(again[0]).not.toEqual((value as unknown[])[0]);
  });

  it("keep it included when the call is edited, and execute the call again when its inside is", async () => {
    const { dump, value } = await record(program);
    executed = [];
    const edited = forkSnapshot(dump, { at: "root/tool:t:0", output: "edited" });
    expect(await replay(program, { snapshot: edited })).toEqual(["edited", (value as unknown[])[1]]);
    const inside = forkSnapshot(dump, { at: "root/agent:counter:0/chat:m:0", output: "inside" });
    expect((await resume(program, { snapshot: inside }))[0]).toBe("inside");
    expect(executed).toEqual(["t"]);
  });
});

describe("a run with its own snapshot in a recorded test", () => {
  it("finds inside its calls what the test recorded inside them", async () => {
    const program = async (): Promise<unknown> => [await step("s", counter), await counter(), await step("s", ask)];
    const { dump } = await record(async () => 1);
    const inTest = async (recording?: AgentSnapshot): Promise<[unknown, AgentSnapshot]> => {
      const session = new RecordingSession({ snapshot: recording, mode: recording === undefined ? "live" : "replay" });
      try {
        const value = await session.context.run(() => runWith(program, { snapshot: dump }));
        return [value, await session.finish()];
      } finally {
        session.close();
      }
    };
    const [value, recording] = await inTest();
    executed = [];
    const [again, replayed] = await inTest(parseSnapshot(stringifySnapshot(recording)));
    expect(again).toEqual(value);
    expect(executed).toEqual([]);
    expect(textOf(replayed)).toEqual(textOf(recording));
  });
});

describe("a recorded test", () => {
  it("sees the same calls when it is replayed", async () => {
    const program = async (): Promise<unknown> => {
      const fails = (): Promise<string> =>
        step("fails", () => Promise.reject<string>(new RangeError("no"))).catch(() => "caught");
      return [await leader({}), await step("s", async () => [await counter(), await fails()])];
    };
    const seen = async (snapshot?: AgentSnapshot): Promise<[unknown, AgentSnapshot]> => {
      const session = new RecordingSession({ snapshot, mode: snapshot === undefined ? "live" : "replay" });
      try {
        await session.context.run(() => runWith(program, { model }));
        const calls = session.calls.map(({ kind, name, callId, request, ended }) => {
          const end = ended !== undefined && "error" in ended ? String(ended.error) : ended?.output();
          return [kind, name, callId, JSON.parse(request()), end];
        });
        return [calls, await session.finish()];
      } finally {
        session.close();
      }
    };
    const [calls, recording] = await seen();
    expect((calls as unknown[]).length).toBeGreaterThan(8);
    expect((await seen(parseSnapshot(stringifySnapshot(recording))))[0]).toEqual(calls);
  });
});

describe("the id of a call", () => {
  it("is the same when the call is executed again, and different inside and outside of a call", async () => {
    const keys: string[] = [];
    let killed = true;
    const keyed = (): Promise<unknown> =>
      journalCall({ kind: "pay", name: "p", request: {} }, ({ idempotencyKey }) => {
        keys.push(idempotencyKey);
        return killed && keys.length === 3 ? new Promise(() => {}) : "paid";
      });
    const program = async (): Promise<unknown> => [
      await step("s", keyed),
      await step("s", () => keyed()),
      await keyed(),
    ];
    const snapshot = await runWith(() => Promise.race([program(), sleep(20)]).then(() => dumpSnapshot()));
    expect(new Set(keys).size).toBe(3);
    killed = false;
    let report!: ReplayReport;
    await resume(program, { snapshot, onReport: (given) => (report = given) });
    expect(keys[3]).toBe(keys[2]);
    expect(report.inFlight.map(({ idempotencyKey }) => idempotencyKey)).toEqual([keys[2]]);
  });
});
