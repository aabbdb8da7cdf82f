import {
  callTool,
  createAgent,
  equipInstruction,
  equipMemory,
  getContext,
  isMaxRebornsExceededError,
  isRebornSignal,
  journalCall,
  promptAgent,
  reborn,
  runFrame,
  runWith,
  type Tool,
} from "agent-rewind";
import { dumpSnapshot } from "agent-rewind/debugger";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { result, scriptedModel, textOf } from "../support/scripted-model.js";

const Result = z.object({ result: z.string() });
const echo: Tool = {
  name: "echo",
  description: "",
  parameters: z.object({ n: z.number() }),
  handler: ({ n }: { n: number }) => n,
};
const child = createAgent<{ n: number }, string>({ id: "child", handler: () => getContext()?.callId ?? "" });

describe("an agent that is reborn", () => {
  it.each([
    ["at once", (signal: unknown) => signal],
    ["later", async (signal: unknown) => signal],
  ])("starts again with the new props and its memory when its handler returns reborn() %s", async (_when, give) => {
    const seen: unknown[] = [];
    const agent = createAgent<{ n: number }, string>({
      id: "phoenix",
      handler: ({ n }) => {
        const [log, setLog] = equipMemory<number[]>("log", []);
        setLog([...log, n]);
        seen.push([n, log]);
        return give(n < 2 ? reborn({ n: n + 1 }) : "done") as never;
      },
    });
    expect(await runWith(() => agent({ n: 0 }))).toBe("done");
    expect(seen).toEqual([
      [0, []],
      [1, [0]],
      [2, [0, 1]],
    ]);
  });

  it("keeps its props if no new ones are given", async () => {
    const seen: unknown[] = [];
    const agent = createAgent<{ n: number }, string>({
      id: "phoenix",
      handler: (props) => {
        seen.push(props);
        return seen.length < 3 ? reborn(seen.length === 2 ? { n: 9 } : undefined) : "done";
      },
    });
    expect(await agent({ n: 1 })).toBe("done");
    expect(seen).toEqual([{ n: 1 }, { n: 1 }, { n: 9 }]);
  });

  it("has an empty prompt and counts its calls from 0 in each generation", async () => {
    const model = scriptedModel("m", (messages) => result(messages.map(textOf).join("|")));
    const callIds: string[] = [];
    const agent = createAgent<{ n: number }, unknown>({
      id: "phoenix",
      handler: async ({ n }) => {
        await callTool(echo, { n });
        callIds.push(await child({ n }));
        await journalCall({ kind: "step", name: "s", request: n }, ({ callId }) => callIds.push(callId));
        equipInstruction(`generation ${n}`);
        const answer = (await promptAgent(Result)).result;
        if (n === 0) return reborn({ n: 1 });
        return { answer, frame: dumpSnapshot().root.children["root/agent:phoenix:0"] };
      },
    });
    const { answer, frame } = (await runWith(() => agent({ n: 0 }), { model })) as {
      answer: string;
      frame: import("agent-rewind").AgentFrameSnapshot;
    };
    expect(answer).toBe("generation 1");
    expect(callIds).toEqual(
      [0, 1].flatMap(() => ["root/agent:phoenix:0/agent:child:0", "root/agent:phoenix:0/step:s:0"]),
    );
    const ids = (calls: { callId: string }[] | undefined): unknown =>
      calls?.map(({ callId }) => callId.replace("root/agent:phoenix:0", ""));
    expect(ids(frame.calls)).toEqual(["/tool:echo:0", "/step:s:0", "/prompt:m:0"]);
    expect(Object.keys(frame.children)).toEqual(["root/agent:phoenix:0/agent:child:0"]);
    expect(frame.generation).toEqual({ id: 1, props: { n: 1 }, memory: {} });
    const [earlier] = frame.generations ?? [];
    expect(earlier).toMatchObject({ id: 0, props: { n: 0 }, memory: {} });
    expect(ids(earlier?.calls)).toEqual(["/tool:echo:0", "/step:s:0", "/prompt:m:0"]);
    expect(Object.keys(earlier?.children ?? {})).toEqual(["root/agent:phoenix:0/agent:child:0"]);
  });

  it("fails if it is reborn more than maxReborns times", async () => {
    let generations = 0;
    const forever = createAgent({
      id: "forever",
      maxReborns: 2,
      handler: () => {
        generations += 1;
        return reborn();
      },
    });
    const error = await forever().catch((thrown: unknown) => thrown);
    expect(isMaxRebornsExceededError(error)).toBe(true);
    expect(error).toMatchObject({ agentId: "forever", maxReborns: 2 });
    expect(generations).toBe(3);
    const never = forever.fork({ maxReborns: 0 });
    await expect(never()).rejects.toSatisfy(isMaxRebornsExceededError);
    expect(generations).toBe(4);
  });

  it("can be reborn 100 times by default", async () => {
    const agent = createAgent<{ left: number }, string>({
      id: "often",
      handler: ({ left }) => (left === 0 ? "done" : reborn({ left: left - 1 })),
    });
    expect(await agent({ left: 100 })).toBe("done");
    await expect(agent({ left: 101 })).rejects.toSatisfy(isMaxRebornsExceededError);
  });

  it("keeps its generation when it is resumed from a snapshot", async () => {
    let liveCalls = 0;
    const agent = createAgent({
      id: "counted",
      maxReborns: 3,
      handler: async () => {
        const [n, set] = equipMemory("n", 0);
        await journalCall({ kind: "step", name: "s", request: n }, () => (liveCalls += 1));
        set(n + 1);
        return reborn();
      },
    });
    const snapshot = await runWith(async () => {
      await agent().catch(() => {});
      return dumpSnapshot();
    });
    expect(liveCalls).toBe(4);
    await expect(runWith(() => agent(), { snapshot, failures: "replay" })).rejects.toSatisfy(isMaxRebornsExceededError);
    expect(liveCalls).toBe(4);
  });

  it("is distinguished from any other result", async () => {
    expect(isRebornSignal(reborn())).toBe(true);
    for (const other of [undefined, null, {}, { newProps: 1 }, "reborn"]) expect(isRebornSignal(other)).toBe(false);
    const agent = createAgent({ id: "a", handler: () => ({ newProps: 1 }) });
    expect(await agent()).toEqual({ newProps: 1 });
  });

  it("can be a frame of a custom agent loop, or be reborn by a middleware", async () => {
    const loop = (n: number): Promise<string> =>
      runFrame({ id: "loop", input: n }, (given) => (given < 3 ? reborn(given + 1) : `at ${given}`));
    expect(await loop(0)).toBe("at 3");
    expect(await runWith(() => loop(1))).toBe("at 3");
    let handled = 0;
    const agent = createAgent<number, string>({
      id: "layered",
      middlewares: [
        {
          name: "again",
          handler: async ({ props }, next) => ((props as number) < 2 ? reborn((props as number) + 1) : next()),
        },
      ],
      handler: (n) => {
        handled += 1;
        return `at ${n}`;
      },
    });
    expect(await agent(0)).toBe("at 2");
    expect(handled).toBe(1);
  });
});
