import {
  AbortError,
  callTool,
  createAgent,
  getAbortHandle,
  getContext,
  getContextSignal,
  isAbortError,
  journalCall,
  promptAgent,
  runFrame,
  runWith,
  type AbortHandle,
  type ModelAdapter,
  type StreamEvent,
  type Tool,
} from "agent-rewind";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { deferred, sleep } from "../support/deferred.js";
import { recorder } from "../support/recorder.js";
import { result, scriptedModel, toolCall } from "../support/scripted-model.js";

const Result = z.object({ result: z.string() });
const reason = { why: "enough" };

const thrownBy = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => "nothing",
    (error: unknown) => error,
  );

/** A signal that is already aborted. */
const aborted = AbortSignal.abort(reason);

function signalHere(): AbortSignal {
  const signal = getContext()?.signal;
  if (signal === undefined) throw new Error("no context");
  return signal;
}

describe("AbortError", () => {
  it("contains the reason of the abort in its message", () => {
    expect(new AbortError()).toMatchObject({ name: "AbortError", message: "Operation aborted", reason: undefined });
    expect(new AbortError("late")).toMatchObject({ message: "Operation aborted: late", reason: "late" });
    const cause = new RangeError("no time");
    const error = new AbortError(cause);
    expect(error).toMatchObject({ message: "Operation aborted: no time", reason: cause, cause });
    expect(isAbortError(error)).toBe(true);
  });
});

describe("an agent whose signal is already aborted", () => {
  it("does not run and rejects with the given reason", async () => {
    let ran = false;
    const agent = createAgent({ id: "a", handler: () => (ran = true) });
    const error = await thrownBy(runWith(() => agent(), { signal: aborted }));
    expect(ran).toBe(false);
    expect(isAbortError(error)).toBe(true);
    expect((error as AbortError).reason).toBe(reason);
  });

  it("rejects although its handler returned", async () => {
    const controller = new AbortController();
    const agent = createAgent({
      id: "a",
      handler: () => {
        controller.abort("stop");
        return "a result";
      },
    });
    const bus = recorder();
    const error = await thrownBy(runWith(() => agent(), { signal: controller.signal, eventBus: bus }));
    expect(error).toMatchObject({ name: "AbortError", message: "Operation aborted: stop", reason: "stop" });
    expect(bus.of("agent:end")).toMatchObject([{ success: false, error: { name: "AbortError" } }]);
    expect(bus.of("generation:end")).toMatchObject([
      { success: false, endReason: "error", error: { name: "AbortError" } },
    ]);
  });
});

describe("runWith with a signal that is already aborted", () => {
  it("does not reject when the function returns", async () => {
    expect(await runWith(() => "fine", { signal: aborted })).toBe("fine");
    const controller = new AbortController();
    const run = runWith(
      async () => {
        controller.abort();
        await sleep(1);
        return "fine";
      },
      { signal: controller.signal },
    );
    expect(await run).toBe("fine");
  });

  it("makes no call", async () => {
    const model = scriptedModel("m", () => result("ok"));
    const tool: Tool = { name: "t", description: "", parameters: z.object({}), handler: () => expect.unreachable() };
    await runWith(
      async () => {
        for (const call of [
          () => promptAgent(Result),
          () => callTool(tool, {}),
          () => journalCall({ kind: "k", name: "n", request: 1 }, () => expect.unreachable()),
        ]) {
          expect(await thrownBy(call())).toMatchObject({ name: "AbortError", reason });
        }
      },
      { signal: aborted, model },
    );
    expect(model.calls).toEqual([]);
  });
});

describe("the signal of a frame", () => {
  it("has exactly the given reason", async () => {
    for (const given of [reason, new Error("e"), "text", 0, null]) {
      const controller = new AbortController();
      await runWith(
        () => {
          controller.abort(given);
          expect(signalHere().reason).toBe(given);
        },
        { signal: controller.signal },
      );
    }
  });

  it("belongs to one agent: aborting it aborts its sub-agents and no other agent", async () => {
    const signals: Record<string, AbortSignal> = {};
    const both = deferred();
    const leaf = createAgent<{ name: string }, unknown>({
      id: "leaf",
      handler: async ({ name }) => {
        signals[name] = signalHere();
        await both.promise;
      },
    });
    const branch = createAgent<{ name: string }, unknown>({
      id: "branch",
      handler: async ({ name }) => {
        signals[name] = signalHere();
        const waiting = leaf({ name: `leaf of ${name}` }).catch(() => {});
        if (name === "first") getAbortHandle().abort("first only");
        await both.promise;
        await waiting;
      },
    });
    await runWith(async () => {
      signals["run"] = signalHere();
      const branches = Promise.allSettled([branch({ name: "first" }), branch({ name: "second" })]);
      await sleep(1);
      expect(new Set(Object.values(signals)).size).toBe(5);
      const stopped = Object.entries(signals).filter(([, signal]) => signal.aborted);
      expect(stopped.map(([name, signal]) => [name, signal.reason])).toEqual([
        ["first", "first only"],
        ["leaf of first", "first only"],
      ]);
      both.resolve();
      expect((await branches).map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
    });
  });

  it("does not change after its agent has ended", async () => {
    const controller = new AbortController();
    const ended: AbortSignal[] = [];
    const agent = createAgent({ id: "a", handler: () => void ended.push(signalHere()) });
    const failing = createAgent({
      id: "f",
      handler: () => (ended.push(signalHere()), getAbortHandle().abort("own reason")),
    });
    await runWith(
      async () => {
        await agent();
        await failing().catch(() => {});
        controller.abort("later");
        ended.push(signalHere());
      },
      { signal: controller.signal },
    );
    expect(ended.map((signal) => signal.reason as unknown)).toEqual([undefined, "own reason", "later"]);
  });

  it.each(["abort(reason)", "abort.abort(reason)"])(
    "is aborted by %s, also from outside of the agent",
    async (form) => {
      let abort: AbortHandle | undefined;
      const agent = createAgent({
        id: "a",
        handler: async () => {
          abort = getAbortHandle();
          expect(abort.signal).toBe(getContextSignal());
          await new Promise((_resolve, reject) => {
            abort?.signal.addEventListener("abort", () => reject(new Error("stopped")));
          });
        },
      });
      await runWith(async () => {
        const ending = thrownBy(agent());
        await sleep(1);
        if (form === "abort(reason)") abort?.("own reason");
        else abort?.abort("own reason");
        await ending;
        expect(abort?.signal.reason).toBe("own reason");
        expect(getContext()?.signal.aborted).toBe(false);
      });
      abort?.("too late");
      expect(abort?.signal.reason).toBe("own reason");
    },
  );

  it("of a frame of one's own aborts that frame", async () => {
    const controller = new AbortController();
    await runWith(async () => {
      const frame = runFrame({ id: "f", input: 1, signal: controller.signal }, async () => {
        controller.abort("by hand");
        expect(signalHere().reason).toBe("by hand");
      });
      expect(await thrownBy(frame)).toMatchObject({ name: "AbortError", reason: "by hand" });
      expect(signalHere().aborted).toBe(false);
    });
    expect(await thrownBy(runFrame({ id: "f", input: 1, signal: aborted }, () => expect.unreachable()))).toMatchObject({
      reason,
    });
  });

  it("passed to runFrame does not replace the signal of the run", async () => {
    const controller = new AbortController();
    const own = new AbortController();
    await runWith(
      async () => {
        const frame = runFrame({ id: "f", input: 1, signal: own.signal }, async () => {
          controller.abort("the run's");
          expect(signalHere().reason).toBe("the run's");
        });
        expect(await thrownBy(frame)).toMatchObject({ name: "AbortError", reason: "the run's" });
      },
      { signal: controller.signal },
    );
  });
});

describe("outside of runs and agents", () => {
  it("getContextSignal returns undefined and aborting has no effect", () => {
    expect(getContextSignal()).toBeUndefined();
    const abort = getAbortHandle();
    abort("nobody");
    abort.abort("nobody");
    expect(abort.signal.aborted).toBe(false);
  });
});

describe("a model with an abort signal", () => {
  const asker = createAgent({ id: "asker", handler: () => promptAgent(Result) });

  /** A model that aborts the run in the middle of its answer and then does the given thing. */
  function abortingModel(controller: AbortController, then: (signal: AbortSignal) => StreamEvent): ModelAdapter {
    return {
      id: "m",
      async *stream(_messages, options) {
        controller.abort(reason);
        yield then(options?.signal as AbortSignal);
      },
    };
  }

  it("is not called after the abort", async () => {
    const controller = new AbortController();
    const model = scriptedModel("m", () => result("ok"));
    const bus = { emit: (event: { type: string }) => event.type === "model:call:start" && controller.abort(reason) };
    expect(await thrownBy(runWith(() => asker(), { model, signal: controller.signal, eventBus: bus }))).toMatchObject({
      name: "AbortError",
      reason,
    });
    expect(model.calls).toEqual([]);
  });

  it.each([
    ["throws an error of its own", () => Promise.reject(new Error("socket closed"))],
    ["throws the AbortError of the platform", (signal: AbortSignal) => fetch("data:,", { signal })],
    ["throws the signal's reason", (signal: AbortSignal) => Promise.reject(signal.reason as Error)],
    ["answers nevertheless", () => ({ type: "text", content: '{"result":"ok"}' })],
  ])("makes the prompt fail with an AbortError when it %s", async (_how, then) => {
    const controller = new AbortController();
    const model = abortingModel(controller, then as never);
    const error = await thrownBy(runWith(() => asker(), { model, signal: controller.signal }));
    expect(error).toMatchObject({ name: "AbortError", code: "ERR_REWIND_ABORTED", reason });
  });

  it("that throws an AbortError itself is not wrapped in a model error", async () => {
    const own = new AbortError("no patience");
    const model: ModelAdapter = {
      id: "m",
      stream: () => {
        throw own;
      },
    };
    expect(await thrownBy(runWith(() => asker(), { model }))).toBe(own);
  });

  it("ends the prompt, not only the tool, when the abort happens during a tool call", async () => {
    const controller = new AbortController();
    const tool: Tool = {
      name: "t",
      description: "",
      parameters: z.object({}),
      handler: (_input, { signal }) => {
        controller.abort(reason);
        signal.throwIfAborted();
      },
    };
    const model = scriptedModel("m", (messages) => (messages.length > 0 ? result("ok") : toolCall("c", "t", {})));
    const agent = createAgent({
      id: "a",
      handler: async () => {
        const { equipTool } = await import("agent-rewind");
        equipTool(tool);
        return promptAgent(Result);
      },
    });
    const error = await thrownBy(runWith(() => agent(), { model, signal: controller.signal }));
    expect(error).toMatchObject({ name: "AbortError", reason });
    expect(model.calls).toHaveLength(1);
  });
});
