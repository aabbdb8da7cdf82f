import { callTool, createAgent, getContext, isInvalidToolOutputError, runWith, type AgentSnapshot } from "agent-rewind";
import { dumpSnapshot } from "agent-rewind/debugger";
import { describe, expect, it, vi } from "vitest";
import { z } from "zod";

import { deferred, sleep } from "../support/deferred.js";
import { recorder } from "../support/recorder.js";
import { agentWith, asking, failed, toolMessages, toolOf, type Call } from "../support/tools.js";

describe("the tool calls of a turn", () => {
  it("run in parallel and are answered in their own order", async () => {
    const started: number[] = [];
    const all = deferred();
    const meet = toolOf<{ at: number }>("meet", async ({ at }) => {
      started.push(at);
      // None ends before all have started.
      if (started.length === 3) all.resolve();
      await all.promise;
      await sleep(3 * (3 - at));
      return `met at ${at}`;
    });
    expect(await toolMessages([meet], ["meet", { at: 0 }], ["meet", { at: 1 }], ["meet", { at: 2 }])).toEqual([
      "met at 0",
      "met at 1",
      "met at 2",
    ]);
    expect(started).toEqual([0, 1, 2]);
  });

  it.each<[string, unknown, string]>([
    ["a text as it is", "plain", "plain"],
    [
      "a text that looks like JSON as it is",
      '{"a": 1.0, "big": 12345678901234567890}',
      '{"a": 1.0, "big": 12345678901234567890}',
    ],
    ["an empty text as it is", "", ""],
    ["an object", { b: 1, a: [null, "x"] }, '{"b":1,"a":[null,"x"]}'],
    ["a number", 42, "42"],
    ["null", null, "null"],
    ["nothing", undefined, "null"],
    ["a date", new Date(0), '"1970-01-01T00:00:00.000Z"'],
    ["a map", new Map([["k", 1n]]), '[["k","1"]]'],
    ["a lone surrogate", ["\ud83d"], '["\\ud83d"]'],
  ])("send the model %s", async (_what, output, text) => {
    expect(await toolMessages([toolOf("t", () => output)], ["t", {}])).toEqual([text]);
    expect(await toolMessages([toolOf("t", async () => output)], ["t", {}])).toEqual([text]);
  });

  it("report their failures to the model and do not affect the others", async () => {
    const tools = [
      toolOf("broken", () => {
        throw new RangeError("upstream 503");
      }),
      toolOf("odd", () => Promise.reject("just a text")),
      toolOf("strict", () => "unreached", { parameters: z.object({ n: z.number() }) }),
      toolOf("fine", () => "fine"),
    ];
    const [broken, odd, unknown, invalid, notJson, fine] = await toolMessages(
      tools,
      ["broken", {}],
      ["odd", {}],
      ["missing", {}],
      ["strict", { n: "one" }],
      ["fine", "{n: 1"],
      ["fine", {}],
    );
    expect(broken).toBe(failed("broken", "RangeError: upstream 503"));
    expect(odd).toBe(failed("odd", "just a text"));
    expect(unknown).toBe(failed("missing", 'ReferenceError: there is no tool named "missing"'));
    expect(JSON.parse(invalid as string)).toMatchObject({
      error: true,
      message: expect.stringMatching(/^Tool "strict" execution failed: .*n: /) as unknown,
    });
    expect(JSON.parse(notJson as string)).toMatchObject({
      error: true,
      message: expect.stringMatching(/^Tool "fine" execution failed: .*not JSON: \{n: 1/) as unknown,
    });
    expect(fine).toBe("fine");
  });

  it("receive the input as parsed by their schema, and undefined for no arguments", async () => {
    const inputs: unknown[] = [];
    const tool = toolOf("t", (input) => inputs.push(input), {
      parameters: z.object({ n: z.coerce.number().default(7) }),
    });
    await toolMessages([tool], ["t", { n: "3", more: 1 }], ["t", ""], ["t", " "]);
    expect(inputs).toEqual([{ n: 3 }, { n: 7 }, { n: 7 }]);
  });

  it("with the same input twice are two occurrences, each with its own answer on replay", async () => {
    let count = 0;
    const counter = toolOf("count", () => ++count);
    const calls: Call[] = [
      ["count", {}],
      ["count", {}],
    ];
    const run = async (snapshot?: AgentSnapshot): Promise<unknown[]> => {
      const model = asking(...calls);
      const dump = await runWith(() => agentWith([counter])(), {
        model,
        ...(snapshot === undefined ? {} : { snapshot }),
      });
      return [dump, model.calls.length];
    };
    const [snapshot] = (await run()) as [AgentSnapshot];
    expect(await run(snapshot)).toMatchObject([{}, 0]);
    expect(count).toBe(2);
    const frame = snapshot.root.children["root/agent:a:0"];
    expect(frame?.calls?.filter(({ kind }) => kind === "tool").map(({ callId }) => callId)).toEqual(
      [0, 1].map((seq) => `root/agent:a:0/tool:count:${seq}`),
    );
  });

  it("receive the agent's signal and their position in the run", async () => {
    const seen: unknown[] = [];
    const tool = toolOf("t", (_input, { signal, callId }) => {
      const context = getContext();
      seen.push([signal === context?.signal, callId, context?.callId, context?.depth]);
    });
    await toolMessages([tool], ["t", {}], ["t", {}]);
    expect(seen).toEqual([0, 1].map((seq) => [true, `root/agent:a:0/tool:t:${seq}`, "root/agent:a:0", 1]));
  });

  it("can call sub-agents, which are sub-agents of the tool's agent", async () => {
    const execute = vi.fn((n: number) => `sub ${n}`);
    const sub = createAgent<{ n: number }, string>({
      id: "sub",
      handler: ({ n }) => callTool(toolOf<number>("inner", execute), n) as Promise<string>,
    });
    const outer = toolOf<{ n: number }>("outer", ({ n }) => sub({ n }));
    const model = asking(["outer", { n: 1 }], ["outer", { n: 2 }]);
    const agent = agentWith([outer]);
    const snapshot = (await runWith(() => agent(), { model })) as AgentSnapshot;
    const frame = snapshot.root.children["root/agent:a:0"];
    expect(
      Object.entries(frame?.children ?? {}).map(([callId, { agentId, state }]) => [callId, agentId, state.output]),
    ).toEqual([
      ["root/agent:a:0/agent:sub:0", "sub", "sub 1"],
      ["root/agent:a:0/agent:sub:1", "sub", "sub 2"],
    ]);
    expect(model.calls[1]?.messages.slice(1).map(({ content }) => content)).toEqual(["sub 1", "sub 2"]);
    expect(execute).toHaveBeenCalledTimes(2);
    const idle = asking();
    await runWith(() => agent(), { model: idle, snapshot });
    expect(execute).toHaveBeenCalledTimes(2);
    expect(idle.calls).toEqual([]);
  });
});

describe("a tool output that cannot be recorded", () => {
  const open = toolOf("open", () => ({ list: [{ handle: () => {} }] }));

  it("is reported to the model as a failure and thrown by callTool", async () => {
    const [content] = await toolMessages([open], ["open", {}]);
    expect(JSON.parse(content as string)).toMatchObject({
      error: true,
      message: expect.stringMatching(/^Tool "open" execution failed: InvalidToolOutputError: /) as unknown,
    });
    const error = await runWith(() => callTool(open, {}).catch((thrown: unknown) => thrown));
    expect(isInvalidToolOutputError(error)).toBe(true);
    expect(error).toMatchObject({ toolName: "open", path: "/list/0/handle", reason: "function" });
    expect((error as Error).message).toContain("/list/0/handle");
  });

  it.each<[string, () => unknown]>([
    [
      "a class instance",
      () =>
        new (class Handle {
          open = true;
        })(),
    ],
    ["a symbol", () => Symbol("s")],
    [
      "a cycle",
      () => {
        const loop: unknown[] = [];
        loop.push(loop);
        return loop;
      },
    ],
  ])("can be %s and does not spoil the dump", async (_what, handler) => {
    await runWith(async () => {
      await expect(callTool(toolOf("t", handler), {})).rejects.toSatisfy(isInvalidToolOutputError);
      expect(
        await callTool(
          toolOf("u", () => 1),
          {},
        ),
      ).toBe(1);
      expect(dumpSnapshot().root.calls).toMatchObject([{ error: { name: "InvalidToolOutputError" } }, { row: true }]);
    });
  });
});

describe("callTool", () => {
  const strict = toolOf<{ n: number }>("strict", ({ n }) => ({ n }), { parameters: z.object({ n: z.number() }) });

  it("returns the tool's output and throws exactly the tool's error", async () => {
    const error = new RangeError("no");
    await runWith(async () => {
      const output = { n: 1 };
      expect(
        await callTool(
          toolOf("t", () => output),
          {},
        ),
      ).toBe(output);
      await expect(
        callTool(
          toolOf("t", () => Promise.reject(error)),
          {},
        ),
      ).rejects.toBe(error);
      await expect(callTool(strict, { n: "1" })).rejects.toThrow(/n: /);
    });
  });

  it("restores recorded outputs exactly, including values that JSON lacks", async () => {
    const outputs = {
      undefined: undefined,
      date: new Date(1e12),
      map: new Map<unknown, unknown>([["k", new Set([1, 2n])]]),
      bigint: 2n ** 70n,
      nan: Number.NaN,
      bytes: new Uint8Array([0, 255]),
      url: new URL("https://example.test/"),
      nested: { when: new Date(0), missing: undefined, list: [-0, Infinity] },
      text: '{"a": 1}',
    };
    const execute = vi.fn((key: keyof typeof outputs) => outputs[key]);
    const tool = toolOf("t", execute);
    const program = async () => {
      const values = await Promise.all(Object.keys(outputs).map(async (key) => [key, await callTool(tool, key)]));
      return { values: Object.fromEntries(values) as unknown, dump: dumpSnapshot() };
    };
    const { dump } = await runWith(program);
    execute.mockClear();
    for (const snapshot of [dump, JSON.parse(JSON.stringify(dump)) as AgentSnapshot]) {
      expect((await runWith(program, { snapshot })).values).toStrictEqual(outputs);
    }
    expect(execute).not.toHaveBeenCalled();
  });

  it("replays a failure as recorded", async () => {
    const error = Object.assign(new RangeError("no", { cause: new TypeError("inner") }), { code: "E_NO" });
    const failing = vi.fn(() => Promise.reject(error));
    const program = async () => ({
      caught: await callTool(toolOf("t", failing), {}).catch((thrown: unknown) => thrown),
      next: await callTool(strict, { n: 1 }),
      dump: dumpSnapshot(),
    });
    const { dump } = await runWith(program);
    const { caught } = await runWith(program, { snapshot: dump });
    expect(failing).toHaveBeenCalledTimes(1);
    expect(caught).toBeInstanceOf(RangeError);
    expect(caught).toMatchObject({ message: "no", code: "E_NO", cause: expect.any(TypeError) as unknown });
  });
});

describe("the recording of a tool call", () => {
  it("does not depend on later changes of its input or output", async () => {
    const given = { list: [1] };
    const output = { list: [1] };
    const tool = toolOf<{ list: number[] }>("t", (input) => {
      input.list.push(2);
      return output;
    });
    const bus = recorder();
    const dump = await runWith(
      async () => {
        const back = (await callTool(tool, given)) as typeof output;
        back.list.push(3);
        return dumpSnapshot();
      },
      { eventBus: bus },
    );
    expect(Object.values(dump.root.journal.tool)[0]?.output).toEqual({ list: [1] });
    for (const type of ["tool:call:start", "tool:call:end"] as const)
      expect(bus.of(type)).toMatchObject([{ input: { list: [1] } }]);
    expect(bus.of("tools:execute:end")[0]?.toolResults).toMatchObject([
      { input: { list: [1] }, output: { list: [1] } },
    ]);
  });
});
