import { execFile } from "node:child_process";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

import { runWith, type AgentSnapshot } from "agent-rewind";
import {
  collectTrace,
  createTraceWriter,
  dumpSnapshot,
  readSnapshot,
  restoreSnapshot,
  restoreSnapshotFromFile,
  writeSnapshot,
} from "agent-rewind/debugger";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { bundleProgram, temporaryFolder } from "./support/process.js";
import { callsOfTheTree, tree } from "./support/tree.js";

// Editors start their writers in reverse order, and their ends interleave.
const startAfter = (index: number): number => 10 - 2 * index;
const latency = (text: string): number => (text.includes("topic 2") ? 12 : text.includes("topic 4") ? 3 : 7);

describe("a tree of three levels with five parallel branches", () => {
  let folder: string;
  let expected: unknown;
  let middle: AgentSnapshot;
  let end: AgentSnapshot;
  let middlePath: string;
  let tracePath: string;
  const trace = { events: [] as unknown[] };
  const finishedInTheMiddle = { model: 0, tool: 0 };

  beforeAll(async () => {
    folder = temporaryFolder();
    middlePath = join(folder, "middle.json");
    tracePath = join(folder, "trace.jsonl");
    const writer = createTraceWriter(tracePath);
    const bus = {
      emit(event: unknown): void {
        trace.events.push(event);
        writer.emit(event as never);
      },
    };
    const live = tree({
      startAfter,
      latency,
      inTheMiddle: () => {
        middle = dumpSnapshot();
        const ended = (type: string): number =>
          trace.events.filter((event) => (event as { type: string }).type === type).length;
        finishedInTheMiddle.model = ended("turn:end");
        finishedInTheMiddle.tool = ended("tool:call:end");
      },
    });
    expected = await runWith(
      async () => {
        const value = await live.run();
        end = dumpSnapshot();
        return value;
      },
      { eventBus: bus, model: live.model },
    );
    expect({ model: live.model.calls.length, tool: live.toolInputs.length }).toEqual(callsOfTheTree);
    await writer.close();
    await writeSnapshot(middlePath, middle);
  });

  afterAll(() => rm(folder, { recursive: true, force: true }));

  /** Runs the tree again and returns its live calls. */
  async function again(snapshot: AgentSnapshot): Promise<{ model: number; tool: number }> {
    const replay = tree({ startAfter: () => 0, latency: () => 1 });
    expect(await runWith(() => replay.run(), { snapshot, model: replay.model })).toEqual(expected);
    return { model: replay.model.calls.length, tool: replay.toolInputs.length };
  }

  const remaining = (): { model: number; tool: number } => ({
    model: callsOfTheTree.model - finishedInTheMiddle.model,
    tool: callsOfTheTree.tool - finishedInTheMiddle.tool,
  });

  it("replays from its end without a live call", async () => {
    expect(await again(end)).toEqual({ model: 0, tool: 0 });
  });

  it("replays from the middle with branches in flight and repeats no finished call", async () => {
    expect(finishedInTheMiddle.model).toBeGreaterThan(0);
    expect(remaining().model).toBeGreaterThan(0);
    expect(await again(middle)).toEqual(remaining());
  });

  it("contains the branches that were still running", () => {
    const director = Object.values(middle.root.children)[0];
    const editors = Object.values(director?.children ?? {});
    expect(editors).toHaveLength(5);
    expect(editors.map(({ state }) => state.status)).toContain("running");
  });

  it("replays from a file, also in another process", async () => {
    expect(await again(await readSnapshot(middlePath))).toEqual(remaining());
    const program = await bundleProgram("support/replay-tree.ts", folder);
    const { stdout } = await promisify(execFile)(process.execPath, [program, middlePath]);
    expect(JSON.parse(stdout)).toEqual({ result: expected, ...remaining() });
  });

  it("replays from its trace: from the events, from the file and from before each branch's end", async () => {
    expect(await again(restoreSnapshot(trace.events as never))).toEqual({ model: 0, tool: 0 });
    expect(await again(await restoreSnapshotFromFile(tracePath))).toEqual({ model: 0, tool: 0 });
    const events = trace.events as { type: string; trace: { spanId: string } }[];
    for (const [index, event] of events.entries()) {
      if (event.type !== "agent:end") continue;
      const kept = events.slice(0, index + 1);
      const count = (type: string): number => kept.filter((each) => each.type === type).length;
      const snapshot = restoreSnapshot(trace.events as never, { spanId: event.trace.spanId });
      expect(await again(snapshot)).toEqual({
        model: callsOfTheTree.model - count("turn:end"),
        tool: callsOfTheTree.tool - count("tool:call:end"),
      });
    }
  });

  it("is the same by dump and by restore", () => {
    const restored = restoreSnapshot(trace.events as never);
    expect(journals(restored.root)).toEqual(journals(end.root));
  });
});

/** Journals, memory and status of all frames by callId. */
function journals(root: AgentSnapshot["root"], all: Record<string, unknown> = {}): Record<string, unknown> {
  // The root differs by design: a single root agent becomes the root of the restored snapshot.
  if (root.agentId !== "") all[root.callId] = { journal: root.journal, memory: root.memory, state: root.state };
  for (const child of Object.values(root.children)) journals(child, all);
  return all;
}

describe("collectTrace", () => {
  it("collects the events of runs without their own bus", async () => {
    const collected = collectTrace();
    const live = tree();
    await runWith(() => live.run(), { model: live.model });
    const events = collected.stop();
    const replay = tree();
    await runWith(() => replay.run(), { model: replay.model, snapshot: restoreSnapshot(events) });
    expect(replay.model.calls).toHaveLength(0);
  });
});
