// Automatic capture of the model calls in runs.
import { createAgent, equipInstruction, equipTool, journalCall, promptAgent, runWith } from "agent-rewind";
import { ContextManager, detectDrift, requestOf, verifyCapture, type BoundaryCapture } from "agent-rewind/context";
import { contentHash, dumpSnapshot } from "agent-rewind/debugger";
import { describe, expect, it, vi } from "vitest";
import { z } from "zod";

import { recorder } from "../support/recorder.js";
import { result, scriptedModel, toolCall } from "../support/scripted-model.js";

const schema = z.object({ result: z.string() });
const lookUp = {
  name: "look_up",
  description: "Looks something up",
  parameters: z.object({ word: z.string() }),
  handler: async ({ word }: { word: string }) => word.toUpperCase(),
};
const agent = createAgent({
  id: "asker",
  handler: async ({ question }: { question: string }) => {
    equipInstruction(question);
    equipTool(lookUp);
    return promptAgent(schema, { modelOptions: { temperature: 0 } });
  },
});
const model = () =>
  scriptedModel("gpt-4o", (messages) =>
    messages.some(({ role }) => role === "tool") ? result("fine") : toolCall("c1", "look_up", { word: "why" }),
  );

function watching(options: ConstructorParameters<typeof ContextManager>[0] = {}) {
  const manager = new ContextManager(options);
  const captured: BoundaryCapture[] = [];
  manager.registerCaptureCallback((data) => captured.push(data));
  return { manager, captured };
}

describe("automatic capture of model calls", () => {
  it("captures each model call of an agent once, before it is executed, with the ids that link it to the run", async () => {
    const { manager, captured } = watching();
    const bus = recorder();
    const scripted = model();
    const liveCalls: number[] = [];
    manager.registerCaptureCallback(() => liveCalls.push(scripted.calls.length));
    await runWith(() => agent({ question: "why?" }), { model: scripted, eventBus: bus });
    expect(captured).toHaveLength(2);
    expect(liveCalls).toEqual([0, 1]);
    const starts = bus.events.filter(({ type }) => type === "turn:start") as unknown as {
      callId: string;
      contentHash: string;
      trace: { traceId: string; spanId: string };
      messages: unknown[];
    }[];
    for (const [index, data] of captured.entries()) {
      const start = starts[index];
      expect(data).toMatchObject({ source: "model", agentName: "asker", model: "gpt-4o", attempt: 1, replayed: false });
      expect([data.callId, data.contentHash, data.traceId, data.spanId]).toEqual([
        start?.callId,
        start?.contentHash,
        start?.trace.traceId,
        start?.trace.spanId,
      ]);
      expect(data.messages).toEqual(JSON.parse(JSON.stringify(start?.messages)));
      expect(contentHash(requestOf(data).body)).toBe(data.contentHash);
      expect(verifyCapture(JSON.parse(JSON.stringify(data)) as BoundaryCapture).valid).toBe(true);
      expect(JSON.parse(requestOf(data).body)).toMatchObject({ model: { id: "gpt-4o" }, options: { temperature: 0 } });
    }
    expect(detectDrift(captured[0]!, captured[1]!).cache).toMatchObject({ broken: false });
    expect(captured[1]?.ledger.toolCallCount).toBe(1);
    await manager.close();
  });

  it("captures replayed calls too, marked, with the same hashes", async () => {
    const { manager, captured } = watching();
    const scripted = model();
    const program = async () => {
      await agent({ question: "why?" });
      return dumpSnapshot();
    };
    const dump = await runWith(program, { model: scripted });
    const live = captured.splice(0);
    const again = model();
    await runWith(program, { model: again, snapshot: dump });
    expect(again.calls).toHaveLength(0);
    expect(captured.map(({ replayed }) => replayed)).toEqual([true, true]);
    expect(captured.map(({ contentHash: hash, callId }) => [hash, callId])).toEqual(
      live.map(({ contentHash: hash, callId }) => [hash, callId]),
    );
    expect(captured.map(({ messageHash }) => messageHash)).toEqual(live.map(({ messageHash }) => messageHash));
    await manager.close();
  });

  it("lets a blocking callback stop a replayed call, which then fails with the callback's error", async () => {
    const scripted = model();
    const program = async () => {
      await agent({ question: "why?" });
      return dumpSnapshot();
    };
    const dump = await runWith(program, { model: scripted });
    for (const refuse of [
      () => {
        throw new RangeError("not this");
      },
      () => Promise.reject(new RangeError("not this")),
    ]) {
      const manager = new ContextManager();
      manager.registerCaptureCallback(refuse, { blocking: true });
      await expect(runWith(program, { model: scripted, snapshot: dump })).rejects.toThrow("not this");
      await manager.close();
    }
    expect(scripted.calls).toHaveLength(2);
  });

  it("captures only journaled calls that contain a conversation", async () => {
    const { manager, captured } = watching();
    const request = { model: "m-1", messages: [{ role: "user", content: "hi" }], temperature: 1 };
    await runWith(async () => {
      await journalCall({ kind: "chat", name: "chat", request }, () => "fine");
      await journalCall({ kind: "embedding", name: "e", request: { input: "x", model: "m" } }, () => [1]);
      await journalCall({ kind: "tool", name: "t", request: { messages: [] } }, () => 1);
    });
    expect(captured.map(({ model: name, callId }) => [name, callId])).toEqual([["m-1", "root/chat:chat:0"]]);
    expect(JSON.parse(requestOf(captured[0]!).body)).toEqual(request);
    expect(verifyCapture(captured[0]!).valid).toBe(true);
    await manager.close();
  });

  it("keeps parallel agents apart, each with its own ledger", async () => {
    const { manager, captured } = watching();
    const scripted = scriptedModel("m", () => result("fine"), { latency: (messages) => messages.length });
    const agents = Array.from({ length: 5 }, (_, index) =>
      createAgent({
        id: `agent ${index}`,
        handler: async () => {
          equipInstruction("x".repeat(400 * (index + 1)));
          return promptAgent(schema);
        },
      }),
    );
    await runWith(() => Promise.all(agents.map((one) => one())), { model: scripted });
    expect(captured.map(({ agentName }) => agentName).sort()).toEqual(agents.map((_, index) => `agent ${index}`));
    const totals = agents.map((_, index) => manager.getLedger(`agent ${index}`)?.total ?? 0);
    expect(totals.map((total, index) => total - (totals[0] ?? 0) - 100 * index)).toEqual([0, 0, 0, 0, 0]);
    await manager.close();
  });

  it("ends with close or with the last callback, and can be turned off", async () => {
    const closed = watching();
    await closed.manager.close();
    const off = watching({ automatic: false });
    const undone = new ContextManager();
    const seen = vi.fn<() => void>();
    undone.registerCaptureCallback(seen)();
    await runWith(() => agent({ question: "why?" }), { model: model() });
    expect([closed.captured, off.captured]).toEqual([[], []]);
    expect(seen).not.toHaveBeenCalled();
  });
});
