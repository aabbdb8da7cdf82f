import {
  augmentTool,
  callTool,
  createAgent,
  equipTool,
  promptAgent,
  runWith,
  type Tool,
  type ToolMiddleware,
} from "agent-rewind";
import { dumpSnapshot } from "agent-rewind/debugger";
import { describe, expect, it, vi } from "vitest";
import { z } from "zod";

import { recorder } from "../support/recorder.js";
import { result, scriptedModel, toolCall } from "../support/scripted-model.js";

const Result = z.object({ result: z.string() });

function doubler(): Tool<{ n: number }, number> & { liveCalls: number[] } {
  const liveCalls: number[] = [];
  return {
    name: "double",
    description: "Doubles a number.",
    parameters: z.object({ n: z.number() }),
    handler: ({ n }) => {
      liveCalls.push(n);
      return 2 * n;
    },
    liveCalls,
  };
}

function layer(name: string, log: string[]): ToolMiddleware {
  return {
    name,
    handler: async ({ toolName, input }, next) => {
      log.push(`${name}> ${toolName} ${JSON.stringify(input)}`);
      const output = await next();
      log.push(`<${name} ${JSON.stringify(output)}`);
      return output;
    },
  };
}

describe("a tool's middlewares", () => {
  it("wrap the handler, the first outermost, those of equipTool inside", async () => {
    const log: string[] = [];
    const tool = { ...doubler(), middlewares: [layer("a", log), layer("b", log)] };
    const model = scriptedModel("m", (messages) =>
      messages.length > 0 ? result("ok") : toolCall("c", "double", { n: 4 }),
    );
    const agent = createAgent({
      id: "agent",
      model,
      handler: () => {
        equipTool(tool, { middleware: layer("c", log) });
        return promptAgent(Result);
      },
    });
    await agent();
    const input = 'double {"n":4}';
    expect(log).toEqual([`a> ${input}`, `b> ${input}`, `c> ${input}`, "<c 8", "<b 8", "<a 8"]);
  });

  it("also run for recorded results, without a call of the tool", async () => {
    const log: string[] = [];
    const tool = { ...doubler(), middlewares: [layer("a", log)] };
    const program = async () => [await callTool(tool, { n: 1 }), dumpSnapshot()] as const;
    const [, snapshot] = await runWith(program);
    const live = log.splice(0);
    const [output] = await runWith(program, { snapshot });
    expect(output).toBe(2);
    expect(log).toEqual(live);
    expect(tool.liveCalls).toEqual([1]);
  });

  it("can change the input, and the recording contains the changed input", async () => {
    const capped: ToolMiddleware = {
      name: "cap",
      handler: ({ input }, next) => next({ n: Math.min(10, (input as { n: number }).n) }),
    };
    const tool = { ...doubler(), middlewares: [capped] };
    const sink = recorder();
    const snapshot = await runWith(
      async () => {
        expect(await callTool(tool, { n: 50 })).toBe(20);
        return dumpSnapshot();
      },
      { eventBus: sink },
    );
    expect(sink.of("tool:call:start")).toMatchObject([{ input: { n: 10 } }]);
    expect(sink.of("tools:execute:end")[0]?.toolResults).toMatchObject([{ input: { n: 10 }, output: 20 }]);
    await runWith(
      async () => {
        // The middleware turns this input into the recorded one, so the recording answers.
        expect(await callTool(tool, { n: 99 })).toBe(20);
        expect(await callTool(tool, { n: 9 })).toBe(18);
      },
      { snapshot },
    );
    expect(tool.liveCalls).toEqual([10, 9]);
  });

  it("can change the output, which the model receives, but not the recording", async () => {
    const rounding: ToolMiddleware = { name: "wrap", handler: async (_context, next) => ({ rounded: await next() }) };
    const tool = { ...doubler(), middlewares: [rounding] };
    const snapshot = await runWith(async () => {
      expect(await callTool(tool, { n: 1 })).toEqual({ rounded: 2 });
      return dumpSnapshot();
    });
    expect(Object.values(snapshot.root.journal.tool)).toMatchObject([{ output: 2 }]);
  });

  it("can answer without the tool or retry it: each try is a separate call", async () => {
    const tool = doubler();
    const denied: ToolMiddleware = { name: "deny", handler: async () => "denied" };
    expect(await runWith(() => callTool({ ...tool, middlewares: [denied] } as Tool, { n: 1 }))).toBe("denied");
    expect(tool.liveCalls).toEqual([]);

    const failing = vi.fn(tool.handler).mockImplementationOnce(() => {
      throw new Error("busy");
    });
    const again: ToolMiddleware = { name: "again", handler: (_context, next) => next().catch(() => next()) };
    const retried = { ...tool, handler: failing, middlewares: [again] };
    const program = async () => [await callTool(retried, { n: 3 }), dumpSnapshot()] as const;
    const [output, snapshot] = await runWith(program);
    expect(output).toBe(6);
    expect(snapshot.root.calls?.map(({ callId }) => callId)).toEqual(["root/tool:double:0", "root/tool:double:1"]);
    expect((await runWith(program, { snapshot }))[0]).toBe(6);
    expect(failing).toHaveBeenCalledTimes(2);
  });

  it("can fail the call", async () => {
    const refuse: ToolMiddleware = { name: "refuse", handler: () => Promise.reject(new Error("not allowed")) };
    await runWith(async () => {
      await expect(callTool({ ...doubler(), middlewares: [refuse] }, { n: 1 })).rejects.toThrow("not allowed");
    });
  });
});

describe("augmentTool", () => {
  const tool = doubler();

  it("creates a new tool with other fields and does not change the old one", async () => {
    const before = { ...tool };
    const other = augmentTool(tool, { description: "Doubles.", handler: ({ n }) => n + n + 1 });
    expect(other).toMatchObject({ name: "double", description: "Doubles.", parameters: tool.parameters });
    expect(await runWith(() => callTool(other, { n: 1 }))).toBe(3);
    expect(tool).toEqual(before);
  });

  it("adds middlewares inside those of the tool", async () => {
    const log: string[] = [];
    const once = augmentTool(tool, { middlewares: [layer("a", log)] });
    const twice = augmentTool(once, { middlewares: [layer("b", log)] });
    expect(await runWith(() => callTool(twice, { n: 1 }))).toBe(2);
    expect(log).toEqual(['a> double {"n":1}', 'b> double {"n":1}', "<b 2", "<a 2"]);
    expect(once.middlewares).toHaveLength(1);
  });

  it("accepts a function of the tool, which can wrap the handler and reorder the middlewares", async () => {
    const log: string[] = [];
    const inner = augmentTool(tool, { middlewares: [layer("inner", log)] });
    const outer = augmentTool(inner, ({ handler, middlewares = [] }) => ({
      handler: async (input, context) => (await handler(input, context)) + 1,
      middlewares: [layer("outer", log), ...middlewares],
    }));
    expect(await runWith(() => callTool(outer, { n: 1 }))).toBe(3);
    expect(log.map((line) => line.split(" ")[0])).toEqual(["outer>", "inner>", "<inner", "<outer"]);
  });
});
