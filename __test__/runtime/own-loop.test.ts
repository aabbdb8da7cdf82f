import {
  callTool,
  createAgent,
  getContext,
  isContextNotFoundError,
  journalCall,
  runFrame,
  runWith,
  type AgentFrameSnapshot,
  type AgentSnapshot,
} from "agent-rewind";
import { contentHash, dumpSnapshot, parseSnapshot, restoreSnapshot, stringifySnapshot } from "agent-rewind/debugger";
import { describe, expect, it, vi } from "vitest";
import { z } from "zod";

import { recorder } from "../support/recorder.js";

const unreached = (): never => {
  throw new Error("executed again");
};

/**
 * Runs a program. Returns its result and its snapshots: the dump, the dump after a round trip, and the one restored
 * from the trace.
 */
async function recording<R>(
  program: () => Promise<R>,
): Promise<{ value: R; snapshots: AgentSnapshot[]; root: AgentFrameSnapshot }> {
  const bus = recorder();
  const { value, dump } = await runWith(async () => ({ value: await program(), dump: dumpSnapshot() }), {
    eventBus: bus,
  });
  const text = stringifySnapshot(dump);
  const restored = restoreSnapshot(JSON.parse(JSON.stringify(bus.events)) as typeof bus.events);
  return { value, snapshots: [dump, parseSnapshot(text), restored], root: (JSON.parse(text) as AgentSnapshot).root };
}

describe("a custom agent loop", () => {
  /** A client like those of the vendors. */
  function clientOf(answers: string[]) {
    const create = vi.fn(
      async (request: { messages: { role: string; content: string }[] }, _options: { signal: AbortSignal }) => ({
        choices: [{ message: { role: "assistant", content: answers[request.messages.length - 1] ?? "end" } }],
      }),
    );
    return { chat: { completions: { create } }, create };
  }

  /** The loop of the README, extended: asks until the answer is "end", and looks up a value in between. */
  const research =
    (client: ReturnType<typeof clientOf>, lookUp: (text: string) => string) =>
    ({ topic }: { topic: string }) =>
      runFrame({ id: "researcher", input: { topic } }, async (input) => {
        const messages = [{ role: "user", content: input.topic }];
        for (;;) {
          const request = { model: "some-model", messages: [...messages] };
          const { choices } = await journalCall({ kind: "chat", name: "some-model", request }, ({ signal }) =>
            client.chat.completions.create(request, { signal }),
          );
          const message = choices[0]?.message ?? { role: "assistant", content: "end" };
          messages.push(message);
          if (message.content === "end") return messages.map(({ content }) => content);
          messages.push({
            role: "user",
            content: await journalCall({ kind: "look-up", name: "index", request: message.content }, () =>
              lookUp(message.content),
            ),
          });
        }
      });

  it("is replayed call by call and continues where its recording ends", async () => {
    const client = clientOf(["first", "?", "second"]);
    const lookUp = vi.fn((text: string) => `found ${text}`);
    const run = research(client, lookUp);
    const { value, snapshots, root } = await recording(() => run({ topic: "t" }));
    expect(value).toEqual(["t", "first", "found first", "second", "found second", "end"]);
    const frame = root.children["root/agent:researcher:0"];
    expect(
      frame?.calls?.map(({ kind, callId }) => `${kind} ${callId.slice("root/agent:researcher:0".length)}`),
    ).toEqual([
      "chat /chat:some-model:0",
      "look-up /look-up:index:0",
      "chat /chat:some-model:1",
      "look-up /look-up:index:1",
      "chat /chat:some-model:2",
    ]);
    for (const snapshot of snapshots) {
      client.create.mockClear();
      lookUp.mockClear();
      expect(await runWith(() => run({ topic: "t" }), { snapshot })).toEqual(value);
      expect([client.create.mock.calls, lookUp.mock.calls]).toEqual([[], []]);
      await runWith(() => run({ topic: "other" }), { snapshot });
      expect(client.create).toHaveBeenCalledTimes(3);
    }
  });

  it("resumes at the call that failed", async () => {
    const client = clientOf(["first"]);
    const failing = research(client, () => {
      throw new Error("index down");
    });
    const { snapshots } = await recording(() => failing({ topic: "t" }).catch(() => "failed"));
    for (const snapshot of snapshots) {
      client.create.mockClear();
      const fixed = vi.fn((text: string) => `found ${text}`);
      expect(await runWith(() => research(client, fixed)({ topic: "t" }), { snapshot })).toEqual([
        "t",
        "first",
        "found first",
        "end",
      ]);
      expect(client.create).toHaveBeenCalledTimes(1);
      expect(fixed.mock.calls).toEqual([["first"]]);
    }
  });
});

describe("journalCall", () => {
  it("records each kind separately in the documented form", async () => {
    const request = { messages: [{ role: "user", content: "q" }], model: { id: "m" } };
    const message = { role: "assistant", content: "a" };
    const { root } = await recording(async () => {
      await journalCall({ kind: "prompt", name: "m", request }, () => message);
      await journalCall({ kind: "tool", name: "t", request: { q: 1 } }, () => "out");
      await journalCall({ kind: "embedding", name: "e", request: ["x"] }, () => [0.5]);
      await journalCall({ kind: "__proto__", name: "odd/name:0", request: null }, () => 1);
    });
    const promptHash = contentHash(JSON.stringify(request));
    const toolHash = contentHash(JSON.stringify({ input: { q: 1 }, name: "t" }));
    const embeddingHash = contentHash(JSON.stringify({ input: ["x"], name: "e" }));
    expect(root.journal.prompt).toEqual({ [promptHash]: { output: message, contentHash: promptHash } });
    expect(root.journal.tool).toEqual({ [toolHash]: { output: "out", contentHash: toolHash } });
    expect(root.journal.other?.["embedding"]).toEqual({
      [embeddingHash]: { output: [0.5], contentHash: embeddingHash },
    });
    expect(Object.keys(root.journal.other ?? {})).toEqual(["embedding", "__proto__"]);
    expect(root.calls?.map(({ callId }) => callId)).toEqual([
      "root/prompt:m:0",
      "root/tool:t:0",
      "root/embedding:e:0",
      "root/__proto__:odd/name:0:0",
    ]);
  });

  it('with the kind "tool" shares its recordings with callTool', async () => {
    const execute = vi.fn(() => "out");
    const tool = { name: "t", description: "", parameters: z.object({ q: z.number() }), handler: execute };
    const byTool = () => callTool(tool, { q: 1 });
    const byHand = () => journalCall({ kind: "tool", name: "t", request: { q: 1 } }, execute);
    for (const [first, second] of [
      [byTool, byHand],
      [byHand, byTool],
    ] as const) {
      const { snapshots } = await recording(first);
      execute.mockClear();
      for (const snapshot of snapshots) expect(await runWith(second, { snapshot })).toBe("out");
      expect(execute).not.toHaveBeenCalled();
    }
  });

  it("passes the call's description to the function and runs it in the context", async () => {
    const request = { b: 1, a: "ü" };
    await runWith(async () => {
      await journalCall({ kind: "k", name: "n", request }, (info) => {
        expect(info).toEqual({
          callId: "root/k:n:0",
          contentHash: contentHash('{"name":"n","input":{"a":"ü","b":1}}'),
          idempotencyKey: expect.stringMatching(/^[\da-f]{64}$/) as unknown,
          signal: getContext()?.signal,
        });
        expect(info.signal).toBe(getContext()?.signal);
        expect(getContext()?.callId).toBe("root");
      });
      await journalCall({ kind: "k", name: "n", request }, ({ callId }) => expect(callId).toBe("root/k:n:1"));
    });
  });

  it("distinguishes requests by everything they contain, JSON or not", async () => {
    class Point {
      constructor(readonly x: number) {}
    }
    const requests: unknown[] = [
      {},
      null,
      [],
      "",
      0,
      false,
      "null",
      { a: undefined },
      { a: null },
      new Date(0),
      "1970-01-01T00:00:00.000Z",
      1n,
      "1",
      1,
      Number.NaN,
      new Map([["a", 1]]),
      [["a", 1]],
      new Set([1]),
      { a: () => {} },
      new Point(1),
      { x: 1 },
      ["\ud83d"],
    ];
    // Its hash covers the type, but not the content, so a replay does not answer it.
    const isInexact = (request: unknown): boolean => typeof (request as { a?: unknown } | null)?.a === "function";
    const ask = (request: unknown, make: () => unknown): Promise<unknown> =>
      journalCall({ kind: "k", name: "n", request }, make);
    const { snapshots, root } = await recording(() =>
      Promise.all(requests.map((request, at) => ask(request, () => at))),
    );
    expect(new Set(root.calls?.map(({ contentHash: hash }) => hash)).size).toBe(requests.length);
    for (const snapshot of snapshots) {
      const shuffled = requests.map((request, at) => ({ request, at })).toReversed();
      const asked = (): Promise<unknown[]> =>
        Promise.all(shuffled.map(({ request }) => ask(request, isInexact(request) ? () => "again" : unreached)));
      const again = await runWith(asked, { snapshot });
      expect(again).toEqual(shuffled.map(({ request, at }) => (isInexact(request) ? "again" : at)));
    }
    // A missing request is the same as an empty one.
    await runWith(async () => expect(await ask(undefined, unreached)).toBe(0), {
      snapshot: snapshots[0] as AgentSnapshot,
    });
  });

  it("hashes the request as it is at the call", async () => {
    const request = { list: [1] };
    const { root } = await recording(() =>
      journalCall({ kind: "k", name: "n", request }, () => {
        request.list.push(2);
      }),
    );
    expect(root.calls?.[0]?.contentHash).toBe(contentHash(JSON.stringify({ input: { list: [1] }, name: "n" })));
  });

  it("passes failures through and replays handled ones", async () => {
    const errors = [new TypeError("async"), Object.assign(new Error("sync"), { code: 7 }), "a text", undefined];
    const fail = (at: number, make: () => unknown) =>
      journalCall({ kind: "k", name: "n", request: at }, make).then(
        () => "nothing",
        (error: unknown) => error,
      );
    const program = (make: (at: number) => unknown) => async () => {
      const caught: unknown[] = [];
      for (const at of errors.keys()) caught.push(await fail(at, () => make(at)));
      await journalCall({ kind: "k", name: "n", request: "after" }, () => 1);
      return caught;
    };
    const live = (at: number): unknown => {
      if (at === 0) return Promise.reject(errors[0]);
      throw errors[at];
    };
    const { value, snapshots, root } = await recording(program(live));
    for (const [at, error] of errors.entries()) expect(value[at]).toBe(error);
    expect(Object.keys(root.journal.other?.["k"] ?? {})).toHaveLength(1);
    for (const snapshot of snapshots) {
      const [first, second, third, fourth] = await runWith(program(unreached), { snapshot });
      expect(first).toBeInstanceOf(TypeError);
      expect(first).toMatchObject({ message: "async" });
      expect(second).toMatchObject({ message: "sync", code: 7 });
      expect([third, fourth]).toEqual(["a text", undefined]);
    }
  });

  it("retries only the failure that ended the run, even if others threw the same value", async () => {
    for (const [thrown, again] of [
      ["a text", "a text"],
      [new Error("one"), new Error("one")],
    ]) {
      const liveCalls: unknown[] = [];
      const fail = (name: string, error: unknown, broken: boolean) =>
        journalCall({ kind: "k", name, request: name }, () => {
          liveCalls.push(name);
          if (broken) throw error;
          return "fixed";
        });
      const program = (broken: boolean) => async () => {
        await fail("handled", thrown, true).catch(() => {});
        return runFrame({ id: "f", input: 1 }, async () => {
          await fail("handled inside", thrown, true).catch(() => {});
          return fail("last", again, broken);
        });
      };
      const snapshot = await runWith(async () => {
        await program(true)().catch(() => {});
        return dumpSnapshot();
      });
      liveCalls.length = 0;
      expect(await runWith(program(false), { snapshot })).toBe("fixed");
      expect(liveCalls).toEqual(["last"]);
    }
  });

  it("executes again a call whose result could not be recorded; its tombstone names the path and the reason", async () => {
    let liveCalls = 0;
    const program = () =>
      journalCall({ kind: "k", name: "n", request: 1 }, () => ({ n: (liveCalls += 1), deep: [{ close: () => {} }] }));
    const { root, snapshots } = await recording(program);
    const [row] = Object.values(root.journal.other?.["k"] ?? {});
    expect(row).toEqual({
      output: null,
      contentHash: root.calls?.[0]?.contentHash,
      error: expect.stringMatching(/^\/deep\/0\/close: function/) as unknown,
    });
    for (const snapshot of snapshots) {
      liveCalls = 0;
      expect(await runWith(program, { snapshot })).toMatchObject({ n: 1 });
    }
  });

  it.each([
    [{ name: "n" }, "call.kind"],
    [{ kind: "", name: "n" }, "call.kind"],
    [{ kind: "k" }, "call.name"],
    [{ kind: "k", name: 7 }, "call.name"],
  ])("rejects %o and names the field", async (wrong, field) => {
    await runWith(async () => {
      const call = journalCall({ request: 1, ...wrong } as never, unreached);
      await expect(call).rejects.toThrow(TypeError);
      await expect(call).rejects.toThrow(field);
    });
  });

  it("requires a context", async () => {
    const error = await journalCall({ kind: "k", name: "n", request: 1 }, unreached).catch((thrown: unknown) => thrown);
    expect(isContextNotFoundError(error)).toBe(true);
    expect(error).toMatchObject({ apiName: "journalCall" });
  });
});

describe("runFrame", () => {
  it("is an agent like any other: callId, memory, events, result, error", async () => {
    const agent = createAgent<{ n: number }, unknown>({ id: "inner", handler: () => getContext()?.callId });
    const { value, root } = await recording(() =>
      runFrame({ id: "outer", input: { n: 1 } }, ({ n }) => agent({ n: n + 1 })),
    );
    expect(value).toBe("root/agent:outer:0/agent:inner:0");
    const outer = root.children["root/agent:outer:0"];
    expect(outer).toMatchObject({
      agentId: "outer",
      state: { status: "completed", output: value },
      generation: { id: 0, props: { n: 1 } },
    });
    const error = new Error("e");
    await expect(runWith(() => runFrame({ id: "f", input: 1 }, () => Promise.reject(error)))).rejects.toBe(error);
    expect(await runFrame({ id: "alone", input: 1 }, () => getContext()?.callId)).toBe("root/agent:alone:0");
  });

  it("rejects an invalid id", async () => {
    for (const id of [undefined, "", 1, null]) {
      for (const run of [
        () => runFrame({ id: id as never, input: 1 }, unreached),
        () => runWith(() => runFrame({ id: id as never, input: 1 }, unreached)),
      ]) {
        await expect(run()).rejects.toThrow(/^runFrame: frame\.id/);
      }
    }
  });

  it("is the same frame as an agent with its id and input", async () => {
    const step = (make: () => unknown) => journalCall({ kind: "k", name: "n", request: 1 }, make);
    const { snapshots } = await recording(() => runFrame({ id: "f", input: undefined }, () => step(() => "done")));
    for (const snapshot of snapshots) {
      expect(await runWith(() => createAgent({ id: "f", handler: () => step(unreached) })(), { snapshot })).toBe(
        "done",
      );
      // No input is the same as an empty one.
      expect(await runWith(() => runFrame({ id: "f", input: {} }, () => step(unreached)), { snapshot })).toBe("done");
    }
  });
});
