// A callback watches; whatever it does, the run is as it would be without it.
import { runWith, createAgent, equipInstruction, promptAgent } from "agent-rewind";
import { ContextManager, type SnapshotHookData } from "agent-rewind/context";
import { afterEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";

import { deferred } from "../support/deferred.js";
import { result, scriptedModel } from "../support/scripted-model.js";

afterEach(() => vi.restoreAllMocks());

const schema = z.object({ result: z.string() });
const agent = createAgent({
  id: "asker",
  handler: async ({ question }: { question: string }) => {
    equipInstruction(question);
    return promptAgent(schema);
  },
});

/** Runs an agent of one call under a callback, and gives what the model was asked and answered. */
async function run(manager: ContextManager): Promise<{ asked: unknown; answer: string }> {
  const model = scriptedModel("m", () => result("fine"));
  const { result: answer } = await runWith(() => agent({ question: "why?" }), { model });
  await manager.close();
  return { asked: model.calls, answer };
}

const FAULTS: Record<string, (data: SnapshotHookData) => unknown> = {
  throws: () => {
    throw new Error("broken callback");
  },
  rejects: () => Promise.reject(new Error("broken callback")),
  mutates: ({ messages }) => {
    (messages[0] as { content: string }).content = "changed";
  },
};

describe("a callback that fails", () => {
  it.each(Object.entries(FAULTS))("%s: its error goes to onError, the run is the same", async (_how, callback) => {
    const plain = await run(new ContextManager());
    const onError = vi.fn<(error: unknown, data: unknown) => void>();
    const manager = new ContextManager({ onError });
    const seen = vi.fn<(data: SnapshotHookData) => void>();
    manager.registerSnapshotCallback(callback);
    manager.registerSnapshotCallback(seen);
    expect(JSON.stringify(await run(manager))).toBe(JSON.stringify(plain));
    expect(onError).toHaveBeenCalledTimes(1);
    expect(onError.mock.calls[0]?.[1]).toBe(seen.mock.calls[0]?.[0]);
    expect(seen).toHaveBeenCalledTimes(1);
  });

  it("is shown once each by console.warn", async () => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
    const manager = new ContextManager();
    for (let index = 0; index < 2; index++) {
      manager.registerSnapshotCallback(() => {
        throw new Error(`broken ${index}`);
      });
    }
    for (let index = 0; index < 3; index++) manager.captureLlmBoundary([]);
    expect(warn.mock.calls.map(([, error]) => (error as Error).message)).toEqual(["broken 0", "broken 1"]);
  });
});

describe("a callback that takes its time", () => {
  it("does not hold up the run, and is told in order", async () => {
    const manager = new ContextManager();
    const gate = deferred();
    const told: unknown[] = [];
    manager.registerSnapshotCallback(async ({ messages }) => {
      await gate.promise;
      told.push(messages[0]);
    });
    for (let index = 0; index < 10; index++) manager.captureLlmBoundary([index]);
    expect(told).toEqual([]);
    expect(await manager.flush({ timeout: 1 })).toBe(false);
    gate.resolve();
    expect(await manager.flush()).toBe(true);
    expect(told).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it("that never ends fills a bounded queue, and says so once", async () => {
    const onError = vi.fn<(error: unknown) => void>();
    const manager = new ContextManager({ onError, historyLimit: 0 });
    const hanging = vi.fn<() => Promise<never>>(() => new Promise(() => {}));
    manager.registerSnapshotCallback(hanging);
    for (let index = 0; index < 1_500; index++) manager.captureLlmBoundary([index]);
    expect(hanging).toHaveBeenCalledTimes(1);
    expect(onError).toHaveBeenCalledTimes(1);
    expect(String(onError.mock.calls[0]?.[0])).toContain("1000 snapshots wait");
    const { answer } = await runWith(() => agent({ question: "why?" }), {
      model: scriptedModel("m", () => result("fine")),
    }).then(({ result: text }) => ({ answer: text }));
    expect(answer).toBe("fine");
  });
});

describe("registering", () => {
  it("gives the undoing", () => {
    const manager = new ContextManager();
    const seen = vi.fn<() => void>();
    const unregister = manager.registerSnapshotCallback(seen);
    manager.captureLlmBoundary([]);
    unregister();
    unregister();
    manager.captureLlmBoundary([]);
    expect(seen).toHaveBeenCalledTimes(1);
    expect(() => manager.registerSnapshotCallback("no" as unknown as () => void)).toThrow(TypeError);
  });

  it("inside of a callback begins with the next boundary", () => {
    const manager = new ContextManager();
    const later = vi.fn<() => void>();
    const unregister = manager.registerSnapshotCallback(() => {
      manager.registerSnapshotCallback(later);
      unregister();
    });
    manager.captureLlmBoundary([]);
    expect(later).not.toHaveBeenCalled();
    manager.captureLlmBoundary([]);
    expect(later).toHaveBeenCalledTimes(1);
  });

  it("a callback that captures is not told of what it captures itself, also later on", async () => {
    const manager = new ContextManager();
    const other = vi.fn<() => void>();
    const own = vi.fn<() => Promise<void>>(async () => {
      manager.captureLlmBoundary(["at once"]);
      await new Promise((resolve) => setImmediate(resolve));
      manager.captureLlmBoundary(["later"]);
    });
    manager.registerSnapshotCallback(own);
    manager.registerSnapshotCallback(other);
    manager.captureLlmBoundary(["first"]);
    await manager.flush();
    expect(own).toHaveBeenCalledTimes(1);
    expect(other).toHaveBeenCalledTimes(3);
  });
});

describe("a blocking callback", () => {
  it("stops the call by throwing: nothing is sent, and nobody else is told", async () => {
    const model = scriptedModel("m", () => result("fine"));
    const manager = new ContextManager();
    const seen = vi.fn<() => void>();
    manager.registerSnapshotCallback(seen);
    manager.registerSnapshotCallback(
      async ({ messages }) => {
        await Promise.resolve();
        if (JSON.stringify(messages).includes("secret")) throw new RangeError("not this");
      },
      { blocking: true },
    );
    await expect(runWith(() => agent({ question: "the secret" }), { model })).rejects.toThrow(RangeError);
    expect(model.calls).toHaveLength(0);
    expect(seen).not.toHaveBeenCalled();
    await runWith(() => agent({ question: "the weather" }), { model });
    expect(model.calls).toHaveLength(1);
    expect(seen).toHaveBeenCalledTimes(1);
    await manager.close();
  });

  it("stops what is captured by hand", () => {
    const manager = new ContextManager();
    manager.registerSnapshotCallback(
      () => {
        throw new RangeError("not this");
      },
      { blocking: true },
    );
    expect(() => manager.captureLlmBoundary([])).toThrow(RangeError);
  });
});
