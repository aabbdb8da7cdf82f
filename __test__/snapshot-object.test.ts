import { inspect } from "node:util";

import { callTool, createAgent, equipMemory, journalCall, runWith, type AgentSnapshot, type Tool } from "agent-rewind";
import { dumpSnapshot, parseSnapshot, stringifySnapshot } from "agent-rewind/debugger";
import { describe, expect, it } from "vitest";
import { z } from "zod";

interface Note {
  text: string;
}

/** An agent that makes the same tool call twice and counts in its memory. */
function noteTaker(log: string[] = []): { run(): Promise<unknown>; log: string[] } {
  const read: Tool = {
    name: "read",
    description: "reads a note",
    parameters: z.object({ id: z.string() }),
    handler: ({ id }: { id: string }): Note => {
      log.push(id);
      return { text: `note ${id} #${log.length}` };
    },
  };
  const agent = createAgent<{ id: string }, unknown>({
    id: "notes",
    handler: async ({ id }) => {
      const [count, setCount] = equipMemory("count", 0);
      const first = (await callTool(read, { id })) as Note;
      const second = (await callTool(read, { id })) as Note;
      setCount(count + 1);
      return { first: first.text, second: second.text, count };
    },
  });
  return { run: () => agent({ id: "a" }), log };
}

async function dumped(metadata?: Record<string, unknown>): Promise<AgentSnapshot> {
  const notes = noteTaker();
  return runWith(async () => {
    await notes.run();
    return dumpSnapshot(metadata === undefined ? {} : { metadata });
  });
}

async function replayed(snapshot: AgentSnapshot): Promise<{ result: unknown; calls: string[] }> {
  const notes = noteTaker();
  return { result: await runWith(() => notes.run(), { snapshot }), calls: notes.log };
}

const recorded = { first: "note a #1", second: "note a #2", count: 0 };
const FIELDS = ["processId", "timestamp", "root", "provenance", "version", "recorder"];

describe("a dumped snapshot", () => {
  it("has the documented fields in order as own properties", async () => {
    const snapshot = await dumped({ reason: "test" });
    expect(Object.keys(snapshot)).toEqual([...FIELDS, "metadata"]);
    expect(snapshot.version).toBe(1);
    expect(snapshot.provenance).toMatchObject({ traceId: snapshot.processId, source: "dump" });
    expect(snapshot.metadata).toEqual({ reason: "test" });
    expect(Math.abs(Date.now() - snapshot.timestamp)).toBeLessThan(60_000);
    const frame = snapshot.root.children["root/agent:notes:0"];
    expect(frame).toMatchObject({
      agentId: "notes",
      memory: { count: 1 },
      state: { status: "completed", output: recorded },
    });
    const rows = Object.entries(frame?.journal.tool ?? {});
    expect(rows).toHaveLength(1);
    const [hash, row] = rows[0] as [string, unknown];
    expect(row).toEqual({ output: { text: "note a #2" }, contentHash: hash });
    expect(hash).toMatch(/^[0-9a-f]{64}$/);
  });

  it("looks the same to JSON, spread, structuredClone, toEqual and inspect", async () => {
    const snapshot = await dumped();
    const text = stringifySnapshot(snapshot);
    const printed = inspect(snapshot, { depth: null });
    const copy = JSON.parse(text) as AgentSnapshot;
    expect(JSON.stringify(snapshot)).toBe(text);
    expect({ ...snapshot }).toEqual(copy);
    expect(structuredClone(snapshot)).toEqual(copy);
    expect(snapshot).toEqual(copy);
    expect(printed).toBe(inspect(copy, { depth: null }));
  });

  it("looks the same when frozen", async () => {
    const snapshot = Object.freeze(await dumped());
    const copy = JSON.parse(stringifySnapshot(snapshot)) as AgentSnapshot;
    expect(JSON.parse(JSON.stringify(snapshot))).toEqual(copy);
    expect({ ...snapshot }).toEqual(copy);
    expect(structuredClone(snapshot)).toEqual(copy);
    expect(await replayed(snapshot)).toEqual({ result: recorded, calls: [] });
  });

  it("replays equally from the handle and after a JSON round trip", async () => {
    const snapshot = await dumped();
    expect(await replayed(snapshot)).toEqual({ result: recorded, calls: [] });
    const text = stringifySnapshot(snapshot);
    expect(await replayed(JSON.parse(text) as AgentSnapshot)).toEqual({ result: recorded, calls: [] });
    expect(await replayed(parseSnapshot(text))).toEqual({ result: recorded, calls: [] });
    expect(await replayed(parseSnapshot(Buffer.from(text)))).toEqual({ result: recorded, calls: [] });
    expect(stringifySnapshot(parseSnapshot(text))).toBe(text);
  });

  it("is a deep copy, independent of the run", async () => {
    await runWith(async () => {
      const [, set] = equipMemory("list", [1]);
      await journalCall({ kind: "step", name: "a", request: 1 }, () => ({ value: 1 }));
      const before = dumpSnapshot();
      const text = stringifySnapshot(before);
      set([1, 2]);
      await journalCall({ kind: "step", name: "b", request: 2 }, () => ({ value: 2 }));
      expect(stringifySnapshot(before)).toBe(text);
      before.root.memory["list"] = "changed";
      before.root.journal = { prompt: {}, tool: {} };
      const after = dumpSnapshot();
      expect(after.root.memory).toEqual({ list: [1, 2] });
      expect(Object.keys(after.root.journal.other?.["step"] ?? {})).toHaveLength(2);
    });
  });

  it("replays edits: changed outputs, changed memory and removed rows", async () => {
    const snapshot = await dumped();
    const frame = snapshot.root.children["root/agent:notes:0"];
    const row = Object.values(frame?.journal.tool ?? {})[0];
    if (frame === undefined || row === undefined) throw new Error("not recorded");
    (row.output as Note).text = "edited";
    frame.memory["count"] = 40;
    // The row contains the last answer, the list of calls the one before.
    expect(await replayed(snapshot)).toEqual({
      result: { first: "note a #1", second: "edited", count: 40 },
      calls: [],
    });

    const emptied = await dumped();
    const journal = emptied.root.children["root/agent:notes:0"]?.journal;
    if (journal === undefined) throw new Error("not recorded");
    journal.tool = {};
    const { result, calls } = await replayed(emptied);
    expect(calls).toEqual(["a"]);
    expect(result).toEqual({ first: "note a #1", second: "note a #1", count: 0 });
  });

  it("replays a replaced root instead of its own", async () => {
    const snapshot = await dumped();
    const { root } = JSON.parse(stringifySnapshot(snapshot)) as AgentSnapshot;
    root.children = {};
    snapshot.root = root;
    expect((await replayed(snapshot)).calls).toEqual(["a", "a"]);
    expect((JSON.parse(stringifySnapshot(snapshot)) as AgentSnapshot).root.children).toEqual({});
  });

  it("keeps changes of other fields without parsing its root", async () => {
    const snapshot = await dumped();
    snapshot.metadata = { note: "kept" };
    const copy = JSON.parse(stringifySnapshot(snapshot)) as AgentSnapshot;
    expect(copy.metadata).toEqual({ note: "kept" });
    (snapshot as { version: number }).version = 7;
    await expect(replayed(snapshot)).rejects.toThrow(/^Invalid Snapshot format: version: /);
  });

  it("answers any number of calls from a handmade row", async () => {
    const snapshot = await dumped();
    const frame = snapshot.root.children["root/agent:notes:0"];
    if (frame === undefined) throw new Error("not recorded");
    delete frame.calls;
    expect(await replayed(snapshot)).toEqual({
      result: { first: "note a #2", second: "note a #2", count: 0 },
      calls: [],
    });
  });

  it("rejects metadata that is not JSON", async () => {
    await runWith(() => {
      expect(() => dumpSnapshot({ metadata: { callback: () => {} } })).toThrow(TypeError);
    });
  });
});
