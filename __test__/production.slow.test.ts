import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";

import { RestoreError, type AgentSnapshot } from "agent-rewind";
import { restoreSnapshotFromFile } from "agent-rewind/debugger";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { callsOfTheLongRun, longRun } from "./support/long-run.js";
import { bundleProgram, temporaryFolder } from "./support/process.js";

describe("in production, with snapshots off and a trace file", () => {
  let folder: string;
  let program: string;
  let expected: unknown;

  beforeAll(async () => {
    folder = temporaryFolder();
    program = await bundleProgram("support/long-run.ts", folder);
    const liveCalls: string[] = [];
    expected = await longRun({ onCall: (name) => liveCalls.push(name) });
    expect(liveCalls).toHaveLength(callsOfTheLongRun);
  });

  afterAll(() => rm(folder, { recursive: true, force: true }));

  /** Runs the program in a separate process. `killAfter` kills it after that many calls. */
  async function run(name: string, sync: string, killAfter?: number): Promise<{ trace: string; log: string[] }> {
    const trace = join(folder, `${name}.jsonl`);
    const log = join(folder, `${name}.log`);
    const child = spawn(process.execPath, [program, trace, log, sync], {
      env: { ...process.env, NODE_ENV: "production" },
      stdio: ["ignore", "ignore", "inherit"],
    });
    const exit = once(child, "exit");
    if (killAfter !== undefined) {
      while (child.exitCode === null && linesOf(log).length < killAfter)
        await new Promise((resolve) => setTimeout(resolve, 1));
      child.kill("SIGKILL");
    }
    const [code] = (await exit) as [number | null];
    if (killAfter === undefined) expect(code).toBe(0);
    return { trace, log: linesOf(log) };
  }

  async function resume(snapshot: AgentSnapshot | undefined): Promise<{ liveCalls: string[]; result: unknown }> {
    const liveCalls: string[] = [];
    const result = await longRun({
      onCall: (name) => liveCalls.push(name),
      ...(snapshot === undefined ? {} : { snapshot }),
    });
    return { liveCalls, result };
  }

  it("a finished run is restored and replayed elsewhere without a live call", async () => {
    const { trace, log } = await run("whole", "batch");
    expect(log).toHaveLength(callsOfTheLongRun);
    expect(await resume(await restoreSnapshotFromFile(trace))).toEqual({ liveCalls: [], result: expected });
  });

  it("a run killed at any point resumes and repeats no call whose end was written", { timeout: 120_000 }, async () => {
    const points = pseudoRandom(20_261_129);
    let restored = 0;
    let replayed = 0;
    for (let round = 0; round < 50; round += 1) {
      const killAfter = 1 + Math.floor(points() * (callsOfTheLongRun - 1));
      const { trace } = await run(`killed-${round}`, round % 2 === 0 ? "each" : "batch", killAfter);
      const ended = endedCalls(trace);
      const snapshot = await restoreSnapshotFromFile(trace).catch((error: unknown) => {
        // The process was killed before it wrote anything, so there is nothing to resume from.
        expect(error).toBeInstanceOf(RestoreError);
        expect(ended).toEqual([]);
        return undefined;
      });
      if (snapshot !== undefined) restored += 1;
      const { liveCalls, result } = await resume(snapshot);
      expect(result).toEqual(expected);
      expect(liveCalls.filter((name) => ended.includes(name))).toEqual([]);
      expect([...liveCalls, ...ended]).toHaveLength(callsOfTheLongRun);
      replayed += ended.length;
    }
    expect(restored).toBeGreaterThan(40);
    expect(replayed).toBeGreaterThan(500);
  });
});

function linesOf(path: string): string[] {
  try {
    return readFileSync(path, "utf8").split("\n").slice(0, -1);
  } catch {
    return [];
  }
}

/** The names of the calls whose complete end event is in the trace. */
function endedCalls(trace: string): string[] {
  return linesOf(trace).flatMap((line) => {
    const event = JSON.parse(line) as {
      type: string;
      input?: { key: string };
      messages?: { content: { text: string }[] }[];
    };
    if (event.type === "tool:call:end") return [`tool ${event.input?.key}`];
    if (event.type === "turn:end") return [`prompt ${event.messages?.[0]?.content[0]?.text}`];
    return [];
  });
}

/** The same points in every run of the test. */
function pseudoRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
