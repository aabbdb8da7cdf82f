// A callback only observes. Whatever it does, the run is the same as without it.
import { runWith, createAgent, equipInstruction, promptAgent } from "agent-rewind";
import { ContextManager, type BoundaryCapture } from "agent-rewind/context";
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

/** Runs an agent of one call with a callback. Returns the request and the answer of the model. */
async function run(manager: ContextManager): Promise<{ asked: unknown; answer: string }> {
  const model = scriptedModel("m", () => result("fine"));
  const { result: answer } = await runWith(() => agent({ question: "why?" }), { model });
  await manager.close();
  return { asked: model.calls, answer };
}

const FAULTS: Record<string, (data: BoundaryCapture) => unknown> = {
  throws: () => {
    throw new Error("broken callback");
  },
  rejects: () => Promise.reject(new Error("broken callback")),
  mutates: ({ messages }) => {
    (messages[0] as { content: string }).content = "changed";
  },
};

describe("a capture callback that fails", () => {
  it.each(Object.entries(FAULTS))(
    "does not change the run and sends its error to onError: %s",
    async (_how, callback) => {
      const plain = await run(new ContextManager());
      const onError = vi.fn<(error: unknown, data: unknown) => void>();
      const manager = new ContextManager({ onError });
      const seen = vi.fn<(data: BoundaryCapture) => void>();
      manager.registerCaptureCallback(callback);
      manager.registerCaptureCallback(seen);
      expect(JSON.stringify(await run(manager))).toBe(JSON.stringify(plain));
      expect(onError).toHaveBeenCalledTimes(1);
      expect(onError.mock.calls[0]?.[1]).toBe(seen.mock.calls[0]?.[0]);
      expect(seen).toHaveBeenCalledTimes(1);
    },
  );

  it("is reported once by console.warn", async () => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
    const manager = new ContextManager();
    for (let index = 0; index < 2; index++) {
      manager.registerCaptureCallback(() => {
        throw new Error(`broken ${index}`);
      });
    }
    for (let index = 0; index < 3; index++) manager.captureLlmBoundary([]);
    expect(warn.mock.calls.map(([, error]) => (error as Error).message)).toEqual(["broken 0", "broken 1"]);
  });
});

describe("a slow capture callback", () => {
  it("does not delay the run and receives the snapshots in order", async () => {
    const manager = new ContextManager();
    const gate = deferred();
    const received: unknown[] = [];
    manager.registerCaptureCallback(async ({ messages }) => {
      await gate.promise;
      received.push(messages[0]);
    });
    for (let index = 0; index < 10; index++) manager.captureLlmBoundary([index]);
    expect(received).toEqual([]);
    expect(await manager.flush({ timeout: 1 })).toBe(false);
    gate.resolve();
    expect(await manager.flush()).toBe(true);
    expect(received).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it("fills a bounded queue if it never returns, and is reported once", async () => {
    const onError = vi.fn<(error: unknown) => void>();
    const manager = new ContextManager({ onError, historyLimit: 0 });
    const hanging = vi.fn<() => Promise<never>>(() => new Promise(() => {}));
    manager.registerCaptureCallback(hanging);
    for (let index = 0; index < 1_500; index++) manager.captureLlmBoundary([index]);
    expect(hanging).toHaveBeenCalledTimes(1);
    expect(onError).toHaveBeenCalledTimes(1);
    expect(String(onError.mock.calls[0]?.[0])).toContain("1000 captures wait");
    const { answer } = await runWith(() => agent({ question: "why?" }), {
      model: scriptedModel("m", () => result("fine")),
    }).then(({ result: text }) => ({ answer: text }));
    expect(answer).toBe("fine");
  });
});

describe("registering a capture callback", () => {
  it("returns the function that removes it", () => {
    const manager = new ContextManager();
    const seen = vi.fn<() => void>();
    const unregister = manager.registerCaptureCallback(seen);
    manager.captureLlmBoundary([]);
    unregister();
    unregister();
    manager.captureLlmBoundary([]);
    expect(seen).toHaveBeenCalledTimes(1);
    expect(() => manager.registerCaptureCallback("no" as unknown as () => void)).toThrow(TypeError);
  });

  it("takes effect at the next boundary when a callback registers another one", () => {
    const manager = new ContextManager();
    const later = vi.fn<() => void>();
    const unregister = manager.registerCaptureCallback(() => {
      manager.registerCaptureCallback(later);
      unregister();
    });
    manager.captureLlmBoundary([]);
    expect(later).not.toHaveBeenCalled();
    manager.captureLlmBoundary([]);
    expect(later).toHaveBeenCalledTimes(1);
  });

  it("does not deliver to a callback the captures that the callback makes itself, not even later", async () => {
    const manager = new ContextManager();
    const other = vi.fn<() => void>();
    const own = vi.fn<() => Promise<void>>(async () => {
      manager.captureLlmBoundary(["at once"]);
      await new Promise((resolve) => setImmediate(resolve));
      manager.captureLlmBoundary(["later"]);
    });
    manager.registerCaptureCallback(own);
    manager.registerCaptureCallback(other);
    manager.captureLlmBoundary(["first"]);
    await manager.flush();
    expect(own).toHaveBeenCalledTimes(1);
    expect(other).toHaveBeenCalledTimes(3);
  });
});

describe("a blocking capture callback", () => {
  it("stops the call by throwing: nothing is sent and no other callback runs", async () => {
    const model = scriptedModel("m", () => result("fine"));
    const manager = new ContextManager();
    const seen = vi.fn<() => void>();
    manager.registerCaptureCallback(seen);
    manager.registerCaptureCallback(
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

  it("stops a manual capture", () => {
    const manager = new ContextManager();
    manager.registerCaptureCallback(
      () => {
        throw new RangeError("not this");
      },
      { blocking: true },
    );
    expect(() => manager.captureLlmBoundary([])).toThrow(RangeError);
  });
});
