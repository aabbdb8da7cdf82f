import { callTool, runWith, type ToolMiddleware } from "agent-rewind";
import { dumpSnapshot } from "agent-rewind/debugger";
import { describe, expect, it, vi } from "vitest";

import { recorder } from "../support/recorder.js";
import { failed, toolMessages, toolOf } from "../support/tools.js";

describe("the middlewares of a tool", () => {
  const log: unknown[] = [];
  const layer = (name: string, change: (value: unknown) => unknown): ToolMiddleware => ({
    name,
    handler: async ({ toolName, input }, next) => {
      log.push([name, toolName, input]);
      return `${name}(${String(await next(change(input)))})`;
    },
  });
  const execute = vi.fn((input: unknown) => `made ${JSON.stringify(input)}`);
  const tool = toolOf("t", execute, {
    middlewares: [
      layer("outer", (input) => ({ ...(input as object), outer: 1 })),
      layer("inner", (input) => ({ ...(input as object), inner: 2 })),
    ],
  });
  const text = 'outer(inner(made {"n":0,"outer":1,"inner":2}))';

  it("wrap it, the first outermost, and can change input and output", async () => {
    log.length = 0;
    expect(await toolMessages([tool], ["t", { n: 0 }])).toEqual([text]);
    expect(log).toEqual([
      ["outer", "t", { n: 0 }],
      ["inner", "t", { n: 0, outer: 1 }],
    ]);
  });

  it("are outside of the journal: it records the handler's input and output", async () => {
    execute.mockClear();
    const bus = recorder();
    const call = async () => ({ text: await callTool(tool, { n: 0 }), dump: dumpSnapshot() });
    const { dump } = await runWith(call, { eventBus: bus });
    const rows = Object.values(dump.root.journal.tool);
    expect(rows.map(({ output }) => output)).toEqual(['made {"n":0,"outer":1,"inner":2}']);
    expect(bus.of("tool:call:end")).toMatchObject([
      { input: { n: 0, outer: 1, inner: 2 }, contentHash: rows[0]?.contentHash },
    ]);
    log.length = 0;
    expect((await runWith(call, { snapshot: dump })).text).toBe(text);
    expect(log).toHaveLength(2);
    expect(execute).toHaveBeenCalledTimes(1);
  });

  it("can answer themselves, pass the input on unchanged, or fail the call", async () => {
    const cut: ToolMiddleware = { name: "cut", handler: async () => ({ instead: true }) };
    const pass: ToolMiddleware = { name: "pass", handler: (_, next) => next() };
    const fail: ToolMiddleware = {
      name: "fail",
      handler: () => {
        throw new TypeError("not allowed");
      },
    };
    execute.mockClear();
    expect(await toolMessages([toolOf("t", execute, { middlewares: [pass, cut] })], ["t", { n: 0 }])).toEqual([
      '{"instead":true}',
    ]);
    expect(await toolMessages([toolOf("t", execute, { middlewares: [fail] })], ["t", { n: 0 }])).toEqual([
      failed("t", "TypeError: not allowed"),
    ]);
    expect(execute).not.toHaveBeenCalled();
    expect(await toolMessages([toolOf("t", execute, { middlewares: [pass, pass] })], ["t", { n: 0 }])).toEqual([
      'made {"n":0}',
    ]);
  });

  it("can change the output in place: the model receives the change, the journal does not", async () => {
    const stamp: ToolMiddleware = {
      name: "stamp",
      handler: async (_, next) => Object.assign((await next()) as object, { stamped: true }),
    };
    const plain = toolOf("t", () => ({ n: 1 }), { middlewares: [stamp] });
    expect(await toolMessages([plain], ["t", {}])).toEqual(['{"n":1,"stamped":true}']);
    const call = async () => ({ value: await callTool(plain, {}), dump: dumpSnapshot() });
    const { dump } = await runWith(call);
    expect(Object.values(dump.root.journal.tool)[0]?.output).toEqual({ n: 1 });
    expect((await runWith(call, { snapshot: dump })).value).toEqual({ n: 1, stamped: true });
  });

  it("can retry the handler: each try is a call", async () => {
    let tries = 0;
    const flaky = toolOf(
      "flaky",
      () => {
        tries += 1;
        if (tries === 1) throw new Error("once");
        return "then";
      },
      { middlewares: [{ name: "retry", handler: (_, next) => next().catch(() => next()) }] },
    );
    const call = async () => ({ value: await callTool(flaky, {}), dump: dumpSnapshot() });
    const { dump } = await runWith(call);
    expect(dump.root.calls?.map(({ callId, error }) => [callId, error?.message])).toEqual([
      ["root/tool:flaky:0", "once"],
      ["root/tool:flaky:1", undefined],
    ]);
    expect((await runWith(call, { snapshot: dump })).value).toBe("then");
    expect(tries).toBe(2);
  });
});
