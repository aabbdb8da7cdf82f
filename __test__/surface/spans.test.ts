import { createAgent, getContext, journalCall, runWith, withCustomSpan } from "agent-rewind";
import { describe, expect, it } from "vitest";

import { recorder, spanTree } from "../support/recorder.js";

describe("withCustomSpan", () => {
  const child = createAgent({ id: "child", handler: () => "done" });

  it("puts events inside the function under its own span", async () => {
    const sink = recorder();
    const agent = createAgent({
      id: "a",
      handler: async () => {
        const given = await withCustomSpan("outer", async () => {
          await child();
          await withCustomSpan("inner", () => journalCall({ kind: "step", name: "s", request: 1 }, () => 1));
          return "given";
        });
        await child();
        return given;
      },
    });
    expect(await runWith(() => agent(), { eventBus: sink })).toBe("given");
    expect(spanTree(sink.events.filter(({ agentId }) => agentId !== ""))).toEqual([
      "agent a",
      "  generation",
      "    custom:span",
      "      agent child",
      "        generation",
      "      custom:span",
      "        call step s",
      "    agent child",
      "      generation",
    ]);
    expect(sink.of("custom:span:start").map(({ name }) => name)).toEqual(["outer", "inner"]);
    expect(sink.of("custom:span:end")).toMatchObject([
      { name: "inner", success: true, duration: expect.any(Number) as number, agentId: "a" },
      { name: "outer", success: true },
    ]);
  });

  it("adds its attributes to its two events, next to those of the trace", async () => {
    const sink = recorder();
    await runWith(() => withCustomSpan("s", () => child(), { step: 3, tenant: "own" }), {
      eventBus: sink,
      trace: { attributes: { tenant: "t", region: "eu" } },
    });
    const own = { step: 3, tenant: "own", region: "eu" };
    expect(sink.of("custom:span:start")[0]?.trace.attributes).toEqual(own);
    expect(sink.of("custom:span:end")[0]?.trace.attributes).toEqual(own);
    expect(sink.of("agent:start")[0]?.trace.attributes).toEqual({ tenant: "t", region: "eu" });
  });

  it.each([
    ["rejects", () => Promise.reject(new RangeError("broken"))],
    [
      "throws",
      (): never => {
        throw new RangeError("broken");
      },
    ],
  ])("ends with the error when its function %s", async (_how, fn) => {
    const sink = recorder();
    await expect(runWith(() => withCustomSpan("s", fn), { eventBus: sink })).rejects.toThrow(RangeError);
    expect(sink.of("custom:span:end")).toMatchObject([
      { success: false, error: { name: "RangeError", message: "broken" } },
    ]);
  });

  it("does not affect the frame: same agent, same journal, same numbers of calls", async () => {
    await runWith(async () => {
      const context = getContext();
      await withCustomSpan("s", async () => {
        expect(getContext()).toMatchObject({
          callId: context?.callId,
          agentId: context?.agentId,
          depth: context?.depth,
        });
        expect(getContext()?.trace.traceId).toBe(context?.trace.traceId);
        expect(getContext()?.trace.spanId).not.toBe(context?.trace.spanId);
        await journalCall({ kind: "step", name: "s", request: 1 }, ({ callId }) =>
          expect(callId).toBe("root/step:s:0"),
        );
      });
      await journalCall({ kind: "step", name: "s", request: 2 }, ({ callId }) => expect(callId).toBe("root/step:s:1"));
    });
  });

  it("requires a run or an agent", async () => {
    await expect(withCustomSpan("s", () => 1)).rejects.toMatchObject({
      name: "ContextNotFoundError",
      apiName: "withCustomSpan",
    });
  });
});
