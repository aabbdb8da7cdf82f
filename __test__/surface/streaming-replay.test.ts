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

/** Records a run of an agent with a consumer, and gives its snapshot as a handle and as data. */
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
  it("gets text, reasoning, tool calls, usage and finish reason as they came live, and the model is not called", async () => {
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

  it("gets no usage and no finish where there were none", async () => {
    const model = streamingModel([{ type: "text", content: '{"result":"ok"}' }]);
    const { program, snapshots } = await recorded(model);
    const replayed = consumer();
    await runWith(program(replayed), { snapshot: snapshots[0] as AgentSnapshot });
    expect(replayed.events).toEqual([{ type: "text", content: '{"result":"ok"}' }]);
  });

  it("gets the same from a replay of a replay", async () => {
    const { live, program, snapshots } = await recorded(streamingModel(answer));
    const again = await runWith(program(consumer()), { snapshot: snapshots[0] as AgentSnapshot });
    const replayed = consumer();
    await runWith(program(replayed), { snapshot: parseSnapshot(stringifySnapshot(again)) });
    expect(assembled(replayed.events)).toEqual(assembled(live.events));
  });

  it("gets the same from what is restored of the run's events, from memory or from a file's text", async () => {
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

  it("gets the recorded answers first and then what comes live", async () => {
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

  it("gets the message alone from a recording that has nothing beside it", async () => {
    const { program, snapshots } = await recorded(streamingModel(answer));
    const old = structuredClone(snapshots[2]) as AgentSnapshot;
    delete old.root.children["root/agent:a:0"]?.calls;
    const replayed = consumer();
    await runWith(program(replayed), { snapshot: old });
    expect(replayed.events.map(({ type }) => type)).toEqual(["reasoning", "text", "extra"]);
  });
});

describe("what is recorded of a stream", () => {
  it("stands beside the journal's rows, which stay as they are documented, and in the turn's event", async () => {
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

  it("may be a usage that JSON cannot hold: it is left out, and the answer is not lost", async () => {
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
