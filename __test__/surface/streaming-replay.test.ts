import {
  createAgent,
  equipInstruction,
  equipTool,
  promptAgent,
  runWith,
  type AgentSnapshot,
  type ModelAdapter,
  type StreamConsumer,
  type Tool,
} from "agent-rewind";
import { dumpSnapshot, parseSnapshot, restoreSnapshot, stringifySnapshot } from "agent-rewind/debugger";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { recorder } from "../support/recorder.js";
import { answer, asking, assembled, consumer, double, streamingModel, usage } from "../support/streaming.js";

const Result = z.object({ result: z.string() });

/** Records a run of an agent with a consumer. Returns its snapshot as a handle and as data. */
async function recorded(model: ModelAdapter, tools: readonly Tool[] = []) {
  const live = consumer();
  const program = (onStream: StreamConsumer) => async (): Promise<AgentSnapshot> => {
    const agent = createAgent({
      id: "a",
      model,
      handler: () => {
        for (const tool of tools) equipTool(tool);
        return promptAgent(Result, { onStream });
      },
    });
    await agent();
    return dumpSnapshot();
  };
  const sink = recorder();
  const snapshot = await runWith(program(live), { eventBus: sink });
  const data = JSON.parse(stringifySnapshot(snapshot)) as AgentSnapshot;
  return {
    live,
    program,
    events: sink.events,
    snapshots: [snapshot, parseSnapshot(stringifySnapshot(snapshot)), data],
  };
}

describe("a consumer of a replayed stream", () => {
  it("receives text, reasoning, tool calls, usage and finish reason as live, without a model call", async () => {
    const model = streamingModel(asking, answer);
    const { live, program, snapshots } = await recorded(model, [double]);
    for (const snapshot of snapshots) {
      const replayed = consumer();
      await runWith(program(replayed), { snapshot });
      expect(model.calls).toBe(2);
      expect(assembled(replayed.events)).toEqual(assembled(live.events));
      expect(replayed.infos.map(({ replayed: was }) => was)).toEqual(replayed.events.map(() => true));
      expect(new Set(replayed.infos.map(({ callId }) => callId))).toEqual(
        new Set(live.infos.map(({ callId }) => callId)),
      );
      const types = replayed.events.map(({ type }) => type).join(" ");
      expect(types).toBe("tool_call tool_call finish reasoning text extra usage finish");
    }
  });

  it("receives no usage and no finish reason if there were none", async () => {
    const model = streamingModel([{ type: "text", content: '{"result":"ok"}' }]);
    const { program, snapshots } = await recorded(model);
    const replayed = consumer();
    await runWith(program(replayed), { snapshot: snapshots[0] as AgentSnapshot });
    expect(replayed.events).toEqual([{ type: "text", content: '{"result":"ok"}' }]);
  });

  it("receives the same from a replay of a replay", async () => {
    const { live, program, snapshots } = await recorded(streamingModel(answer));
    const again = await runWith(program(consumer()), { snapshot: snapshots[0] as AgentSnapshot });
    const replayed = consumer();
    await runWith(program(replayed), { snapshot: parseSnapshot(stringifySnapshot(again)) });
    expect(assembled(replayed.events)).toEqual(assembled(live.events));
  });

  it("receives the same from a snapshot restored from events, in memory or as text", async () => {
    const model = streamingModel(asking, answer);
    const { live, program, events } = await recorded(model, [double]);
    const lines = events.map((event) => JSON.stringify(event)).join("\n");
    for (const snapshot of [restoreSnapshot(events), restoreSnapshot(lines)]) {
      const replayed = consumer();
      await runWith(program(replayed), { snapshot });
      expect(model.calls).toBe(2);
      expect(assembled(replayed.events)).toEqual(assembled(live.events));
    }
  });

  it("receives the recorded answers first and then the live stream", async () => {
    const model = streamingModel(answer);
    const ask = (text: string, onStream: StreamConsumer) =>
      createAgent({
        id: text,
        model,
        handler: () => {
          equipInstruction(text);
          return promptAgent(Result, { onStream });
        },
      })();
    const snapshot = await runWith(async () => {
      await ask("first", consumer());
      return dumpSnapshot();
    });
    const seen = consumer();
    await runWith(
      async () => {
        await ask("first", seen);
        await ask("second", seen);
      },
      { snapshot },
    );
    const lengths = [true, false].map((was) => seen.infos.filter(({ replayed }) => replayed === was).length);
    expect(lengths).toEqual([5, answer.length]);
  });

  it("receives only the message from a recording without stream fields", async () => {
    const { program, snapshots } = await recorded(streamingModel(answer));
    const old = structuredClone(snapshots[2]) as AgentSnapshot;
    delete old.root.children["root/agent:a:0"]?.calls;
    const replayed = consumer();
    await runWith(program(replayed), { snapshot: old });
    expect(replayed.events.map(({ type }) => type)).toEqual(["reasoning", "text", "extra"]);
  });
});

describe("the recording of a stream", () => {
  it("is stored next to the documented journal rows, which do not change, and in the turn's event", async () => {
    const { snapshots } = await recorded(streamingModel(answer));
    const frame = (snapshots[2] as AgentSnapshot).root.children["root/agent:a:0"];
    const [row] = Object.values(frame?.journal.prompt ?? {});
    expect(Object.keys(row ?? {})).toEqual(["output", "contentHash"]);
    expect(row?.output).toEqual({
      role: "assistant",
      content: '{"result":"ok"}',
      reasoning_content: "Let me think.",
      extra: { signature: "s" },
    });
    expect(frame?.calls).toMatchObject([
      { row: true, meta: { usage, finishReason: "stop", durationMs: expect.any(Number) as number } },
    ]);
  });

  it("omits a usage that JSON cannot hold and keeps the answer", async () => {
    const odd = { ...usage, details: { bytes: 10n, self: {} as unknown } };
    odd.details.self = odd.details;
    const model = streamingModel([
      { type: "text", content: '{"result":"ok"}' },
      { type: "finish", finishReason: "stop", usage: odd },
    ]);
    const { program, snapshots } = await recorded(model);
    const replayed = consumer();
    await runWith(program(replayed), { snapshot: snapshots[0] as AgentSnapshot });
    expect(replayed.events.at(-1)).toEqual({ type: "finish", finishReason: "stop" });
    expect(model.calls).toBe(1);
  });
});
