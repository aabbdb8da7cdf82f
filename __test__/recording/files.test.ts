// The files of a recording contain everything that a replay needs.
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { replay, runWith, type AgentSnapshot } from "agent-rewind";
import { dumpSnapshot } from "agent-rewind/debugger";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";

import { putBack, takeOut, type Blobs } from "../../ts/recording/blobs.js";
import { readRecording, recordingText, writeRecording } from "../../ts/recording/files.js";
import type { CallLine } from "../../ts/recording/lines.js";
import { temporaryFolder } from "../support/process.js";
import { richResult, richRun } from "../support/rich-run.js";

const folders: string[] = [];
afterEach(() => folders.splice(0).forEach((folder) => rmSync(folder, { recursive: true })));

function pathsIn() {
  const folder = temporaryFolder();
  folders.push(folder);
  return { main: join(folder, "a.jsonl"), timing: join(folder, "a.timing.jsonl"), blobs: join(folder, "files") };
}

async function recordRich(): Promise<AgentSnapshot> {
  const { run, model } = richRun();
  return runWith(
    async () => {
      expect(await run()).toEqual(richResult);
      return dumpSnapshot();
    },
    { model, enableSnapshot: true },
  );
}

describe("the recording of a run with all features", () => {
  it.each(["with its timing", "without"])("replays %s", async (timing) => {
    const paths = pathsIn();
    writeRecording(paths, recordingText(await recordRich(), "rich", []));
    if (timing === "without") rmSync(paths.timing);
    const snapshot = readRecording(paths);
    const { run, model, liveCalls } = richRun();
    const result = await replay(run, { snapshot: snapshot as AgentSnapshot, model });
    expect(result).toEqual(richResult);
    expect([liveCalls, model.calls]).toEqual([[], []]);
  });

  it("is written identically each time except for its timing", async () => {
    const [first, second] = [await recordRich(), await recordRich()].map((snapshot) =>
      recordingText(snapshot, "rich", []),
    );
    expect(first?.main).toBe(second?.main);
    expect(first?.timing).not.toBe(second?.timing);
  });

  it("is written identically after it was read", async () => {
    const paths = pathsIn();
    const text = recordingText(await recordRich(), "rich", []);
    writeRecording(paths, text);
    const again = recordingText(readRecording(paths) as AgentSnapshot, "rich", []);
    expect(again.main).toBe(text.main);
    expect(again.timing).toBe(text.timing);
  });

  it("is read if it has the older name of carriedOver", () => {
    const paths = pathsIn();
    const lines = [
      { format: "agent-rewind recording", version: 1, test: "older" },
      { frame: "root", call: "step:work:0", hash: "0".repeat(64), output: 1, unreached: true },
      { frame: "root/agent:worker:0", agent: "worker" },
      { end: "root/agent:worker:0", status: "completed", unreached: true },
    ];
    writeFileSync(paths.main, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    const { root } = readRecording(paths) as AgentSnapshot;
    expect([...(root.calls ?? []), ...Object.values(root.children)]).toEqual([
      expect.objectContaining({ callId: "root/step:work:0", carriedOver: true }),
      expect.objectContaining({ callId: "root/agent:worker:0", carriedOver: true }),
    ]);
  });

  it("contains each message of a conversation once", async () => {
    const { main } = recordingText(await recordRich(), "rich", []);
    expect(main.split("You lead, after 0 rounds.")).toHaveLength(2);
    expect(main).toContain('"shared":{"/messages":{"call":"prompt:rich:0","keep":2}');
  });

  it("replays without its timing file if that belongs to another recording", async () => {
    const paths = pathsIn();
    writeRecording(paths, recordingText(await recordRich(), "rich", []));
    for (const timing of [
      "{",
      '{"frame":"root/other","start":3}\n',
      readFileSync(paths.timing, "utf8").split("\n").slice(3).join("\n"),
    ]) {
      writeFileSync(paths.timing, timing);
      const { run, model } = richRun();
      expect(await replay(run, { snapshot: readRecording(paths) as AgentSnapshot, model })).toEqual(richResult);
    }
  });
});

describe("large values in a recording", () => {
  const line = (output: unknown, types?: Record<string, string>): CallLine => ({
    frame: "root",
    call: "x:y:0",
    hash: "",
    output,
    ...(types === undefined ? {} : { types }),
  });

  it("are stored in separate files and restored, whatever their type", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.string({ unit: "binary" }), fc.string(), (value, text, key) => {
        const long = text.repeat(Math.ceil(9_000 / Math.max(text.length, 1)));
        const given = line({ value, [key]: { long }, list: [long, 1] });
        const blobs: Blobs = new Map();
        const before = JSON.stringify(given);
        const taken = JSON.stringify(takeOut(given, blobs));
        expect(JSON.stringify(given)).toBe(before);
        const back = putBack(JSON.parse(taken) as CallLine, (name) => blobs.get(name) as Uint8Array);
        expect(JSON.stringify(back)).toBe(before);
      }),
    );
  });

  it("are checked by their hash", () => {
    const blobs: Blobs = new Map();
    const bytes = Buffer.alloc(300, 1).toString("base64");
    const taken = takeOut(line({ a: bytes }, { "/a": "bytes" }), blobs);
    expect([...blobs.values()]).toEqual([Buffer.alloc(300, 1)]);
    expect(() => putBack(taken, () => new Uint8Array(300))).toThrow("does not match the hash in its name");
  });
});
