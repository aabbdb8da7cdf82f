// Snapshots as values in recordings: they are not recorded themselves.
import {
  callTool,
  createAgent,
  isInvalidToolOutputError,
  journalCall,
  runWith,
  type AgentSnapshot,
  type TraceEvent,
} from "agent-rewind";
import { dumpSnapshot, parseSnapshot, restoreSnapshot, stringifySnapshot } from "agent-rewind/debugger";
import { describe, expect, it } from "vitest";
import { z } from "zod";

const PART = "x".repeat(1_000);
const work = (): Promise<string> => journalCall({ kind: "work", name: "w", request: {} }, () => PART);

async function traced<T>(fn: () => Promise<T>): Promise<{ result: T; text: string; events: TraceEvent[] }> {
  const events: TraceEvent[] = [];
  const result = await runWith(fn, { eventBus: { emit: (event) => void events.push(event) } });
  return {
    result,
    events,
    text: JSON.stringify(events.filter(({ type }) => /end$/i.test(type) && type !== "call:end")),
  };
}

describe("a snapshot that is returned", () => {
  it("by the run is not written into its end event", async () => {
    const { result, text } = await traced(async () => {
      await work();
      return dumpSnapshot();
    });
    expect(text).toContain('"result":"[a snapshot]"');
    expect(text).not.toContain(PART);
    expect(await runWith(work, { snapshot: result, mode: "replay" })).toBe(PART);
  });

  it("next to other values does not change those", async () => {
    const { events } = await traced(async () => ({ answer: await work(), at: new Date(0), snapshot: dumpSnapshot() }));
    const end = events.find(({ type }) => type === "runWith:end") as unknown as { result: unknown };
    expect(end.result).toEqual({ answer: PART, at: "1970-01-01T00:00:00.000Z", snapshot: "[a snapshot]" });
  });

  it("by an agent is not in later snapshots, and the agent's calls are replayed", async () => {
    const agent = createAgent({
      id: "dumper",
      handler: async () => {
        await work();
        return dumpSnapshot();
      },
    });
    const later = await runWith(async () => {
      for (let count = 0; count < 5; count++) await agent();
      return dumpSnapshot();
    });
    expect(stringifySnapshot(later).split(PART)).toHaveLength(6);
    const again = (await runWith(() => agent(), { snapshot: later, mode: "replay" })) as AgentSnapshot;
    expect(again.root.children["root/agent:dumper:0"]?.state.status).toBe("running");
  });

  it("by a journaled call is its value, which cannot be replayed; a tool must not return it", async () => {
    const call = (): Promise<AgentSnapshot> =>
      journalCall({ kind: "dump", name: "d", request: {} }, () => dumpSnapshot());
    const snapshot = await runWith(async () => {
      expect((await call()).version).toBe(1);
      return dumpSnapshot();
    });
    expect(snapshot.root.calls?.[0]).toMatchObject({ tombstone: "the value: a snapshot" });
    const tool = { name: "dump", description: "", parameters: z.object({}), handler: () => dumpSnapshot() };
    const error: unknown = await runWith(() => callTool(tool, {})).catch((cause: unknown) => cause);
    expect(isInvalidToolOutputError(error)).toBe(true);
  });

  it("is written by JSON.stringify without being parsed", async () => {
    const { result } = await traced(async () => {
      await work();
      return dumpSnapshot({ metadata: { why: "test" } });
    });
    const text = stringifySnapshot(result);
    expect(JSON.stringify(result)).toBe(text);
    expect(JSON.stringify({ in: [result] })).toBe(`{"in":[${text}]}`);
    expect(stringifySnapshot(parseSnapshot(text))).toBe(text);
    result.root.agentId = "edited";
    expect((JSON.parse(JSON.stringify(result)) as AgentSnapshot).root.agentId).toBe("edited");
  });
});

describe("an agent's result that could not be recorded", () => {
  class Handle {
    readonly open = true;
  }

  it.each(["dump", "trace"])(
    'is produced again with completedFrames: "reuse", not replaced by null: %s',
    async (source) => {
      let runs = 0;
      const agent = createAgent({
        id: "opener",
        handler: async () => {
          runs += 1;
          await work();
          return new Handle();
        },
      });
      const { result, events } = await traced(async () => {
        await agent();
        return dumpSnapshot();
      });
      const snapshot = source === "dump" ? result : restoreSnapshot(events);
      const texts = parseSnapshot(stringifySnapshot(snapshot));
      for (const from of [snapshot, texts]) {
        expect(await runWith(() => agent(), { snapshot: from, completedFrames: "reuse" })).toBeInstanceOf(Handle);
      }
      expect(runs).toBe(3);
    },
  );
});
