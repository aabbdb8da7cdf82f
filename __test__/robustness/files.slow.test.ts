// Files as editors and other programs leave them.
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { journalCall, runWith, type AgentSnapshot } from "agent-rewind";
import {
  createTraceWriter,
  dumpSnapshot,
  exportTrace,
  parseSnapshot,
  readSnapshot,
  readTrace,
  restoreSnapshotFromFile,
  stringifySnapshot,
  writeSnapshot,
} from "agent-rewind/debugger";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const folder = mkdtempSync(join(tmpdir(), "rewind-files-"));
const at = (name: string): string => join(folder, name);
const program = (): Promise<number> => journalCall({ kind: "work", name: "w", request: {} }, () => 7);
let snapshot: AgentSnapshot;

beforeAll(async () => {
  const trace = createTraceWriter(at("run.jsonl"));
  snapshot = await runWith(
    async () => {
      await program();
      return dumpSnapshot();
    },
    { eventBus: trace },
  );
  await trace.close();
});
afterAll(() => rmSync(folder, { recursive: true }));

it("reads a snapshot with a byte order mark", async () => {
  const text = `\ufeff${stringifySnapshot(snapshot)}`;
  writeFileSync(at("marked.json"), text);
  for (const read of [parseSnapshot(text), parseSnapshot(Buffer.from(text)), await readSnapshot(at("marked.json"))]) {
    expect(await runWith(program, { snapshot: read, mode: "replay" })).toBe(7);
  }
});

it("reads a trace with a byte order mark and Windows line ends", async () => {
  const text = readFileSync(at("run.jsonl"), "utf8");
  writeFileSync(at("marked.jsonl"), `\ufeff${text.replaceAll("\n", "\r\n")}`);
  let events = 0;
  for await (const event of readTrace(at("marked.jsonl"))) events += event.type.length > 0 ? 1 : 0;
  expect(events).toBe(text.trim().split("\n").length);
  const restored = await restoreSnapshotFromFile(at("marked.jsonl"));
  expect(await runWith(program, { snapshot: restored, mode: "replay" })).toBe(7);
});

it("accepts file URLs for every file that is read or written", async () => {
  const url = pathToFileURL(at("by url.json"));
  await writeSnapshot(url, snapshot);
  expect(stringifySnapshot(await readSnapshot(url))).toBe(stringifySnapshot(snapshot));
  const restored = await restoreSnapshotFromFile(pathToFileURL(at("run.jsonl")));
  expect(await runWith(program, { snapshot: restored, mode: "replay" })).toBe(7);
});

it.skipIf(process.platform === "win32")("keeps a symbolic link when it writes a snapshot through it", async () => {
  writeFileSync(at("target.json"), "old");
  symlinkSync("target.json", at("link.json"));
  await writeSnapshot(at("link.json"), snapshot);
  expect(readlinkSync(at("link.json"))).toBe("target.json");
  expect(readFileSync(at("target.json"), "utf8").trim()).toBe(stringifySnapshot(snapshot).trim());
});

describe.skipIf(process.platform === "win32")("permissions and links of files", () => {
  const modeOf = (name: string): number => statSync(at(name)).mode & 0o777;

  it.each([0o600, 0o640, 0o644, 0o666])("keeps the mode %o of a snapshot file", async (mode) => {
    writeFileSync(at("kept.json"), "old");
    chmodSync(at("kept.json"), mode);
    await writeSnapshot(at("kept.json"), snapshot);
    expect(modeOf("kept.json")).toBe(mode);
  });

  it("creates snapshots and traces that only their owner can read", async () => {
    await writeSnapshot(at("private.json"), snapshot);
    expect(modeOf("private.json")).toBe(0o600);
    expect(modeOf("run.jsonl")).toBe(0o600);
  });

  it.each([0o600, 0o640, 0o644])("keeps the mode %o of an exported trace, and a link to it", async (mode) => {
    writeFileSync(at("exported.jsonl"), "old");
    chmodSync(at("exported.jsonl"), mode);
    symlinkSync("exported.jsonl", at(`export link ${mode}`));
    await exportTrace(at("run.jsonl"), at(`export link ${mode}`));
    expect(readlinkSync(at(`export link ${mode}`))).toBe("exported.jsonl");
    expect(modeOf("exported.jsonl")).toBe(mode);
    expect(readFileSync(at("exported.jsonl"), "utf8")).not.toBe("old");
  });

  it("exports a trace to a file that only its owner can read, also over a dangling link, and to a pipe", async () => {
    symlinkSync("not there yet.jsonl", at("dangling"));
    await exportTrace(at("run.jsonl"), at("dangling"));
    expect(lstatSync(at("dangling")).isSymbolicLink()).toBe(true);
    expect(modeOf("not there yet.jsonl")).toBe(0o600);
    expect(spawnSync("mkfifo", [at("export pipe")]).status).toBe(0);
    const reader = readFile(at("export pipe"), "utf8");
    await exportTrace(at("run.jsonl"), at("export pipe"));
    expect(lstatSync(at("export pipe")).isFIFO()).toBe(true);
    expect(await reader).toBe(readFileSync(at("not there yet.jsonl"), "utf8"));
  });

  it("creates the file that a link leads to, over several links and folders", async () => {
    mkdirSync(at("real"), { recursive: true });
    symlinkSync(join("real", "second.json"), at("first.json"));
    symlinkSync("third.json", at(join("real", "second.json")));
    await writeSnapshot(at("first.json"), snapshot);
    expect(lstatSync(at("first.json")).isSymbolicLink()).toBe(true);
    expect(lstatSync(at("real/second.json")).isSymbolicLink()).toBe(true);
    expect(readFileSync(at("real/third.json"), "utf8")).toBe(stringifySnapshot(snapshot));
  });
});

it.skipIf(process.platform === "win32")("writes to a pipe instead of replacing it", async () => {
  const pipe = at("pipe");
  expect(spawnSync("mkfifo", [pipe]).status).toBe(0);
  const reader = readFile(pipe, "utf8");
  await writeSnapshot(pipe, snapshot);
  expect(lstatSync(pipe).isFIFO()).toBe(true);
  expect(await reader).toBe(stringifySnapshot(snapshot));
});

it("reports a file that is not JSON once", () => {
  expect(() => parseSnapshot("{")).toThrow(/^Invalid Snapshot format: not JSON, [^:]*$/);
});
