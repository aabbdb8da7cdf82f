// A file or value of another kind: the error says what it is, and which function reads it.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import {
  isInvalidSnapshotError,
  isRestoreError,
  journalCall,
  replay,
  resume,
  runWith,
  type AgentSnapshot,
} from "agent-rewind";
import { openAuditLog, verifyLog } from "agent-rewind/audit";
import {
  createTraceWriter,
  dumpSnapshot,
  forkSnapshot,
  parseSnapshot,
  readSnapshot,
  readTrace,
  restoreSnapshot,
  restoreSnapshotFromFile,
  stringifySnapshot,
  writeSnapshot,
} from "agent-rewind/debugger";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const folder = mkdtempSync(join(tmpdir(), "rewind-kinds-"));
const at = (name: string): string => join(folder, name);
const text = (name: string): string => readFileSync(at(name), "utf8");
const RECORDING =
  '{"format":"agent-rewind recording","version":1,"test":"t"}\n{"frame":"root","call":"k:n:0","hash":"00"}\n';

beforeAll(async () => {
  const trace = createTraceWriter(at("trace"));
  const program = async (): Promise<AgentSnapshot> => {
    await journalCall({ kind: "k", name: "n", request: {} }, () => 1);
    return dumpSnapshot();
  };
  await writeSnapshot(at("snapshot"), await runWith(program, { eventBus: trace }));
  await trace.close();
  const log = openAuditLog(at("audit log"));
  log.append({ a: 1 });
  log.close();
  writeFileSync(at("recording"), RECORDING);
  writeFileSync(at("indented snapshot"), JSON.stringify(JSON.parse(text("snapshot")), null, 2));
  writeFileSync(
    at("list of events"),
    JSON.stringify(
      text("trace")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as object),
    ),
  );
});
afterAll(() => rmSync(folder, { recursive: true }));

const READ = {
  snapshot: /this is a snapshot, not .*: readSnapshot\(path\) or parseSnapshot\(text\) reads it/,
  trace: /this is a trace, not .*: restoreSnapshotFromFile\(path\) or restoreSnapshot\(events\) makes a snapshot of it/,
  recording: /this is the recording of a vitest test, not .*: only its test replays it/,
  "audit log": /this is an audit log, not .*: verifyLog\(path\) of agent-rewind\/audit checks it/,
};
type Kind = keyof typeof READ;

const thrownBy = async (call: () => unknown): Promise<Error> => {
  try {
    await call();
  } catch (error) {
    return error as Error;
  }
  throw new Error("nothing was thrown");
};

describe.each<[string, Kind]>([
  ["trace", "trace"],
  ["list of events", "trace"],
  ["recording", "recording"],
  ["audit log", "audit log"],
])("for a snapshot, the %s", (file, kind) => {
  it("is refused by all functions that read or replay one", async () => {
    const parsed = (): AgentSnapshot => {
      const lines = text(file).trim().split("\n");
      return (
        lines.length === 1 ? JSON.parse(lines[0] as string) : lines.map((line) => JSON.parse(line) as object)
      ) as never;
    };
    for (const call of [
      () => readSnapshot(at(file)),
      () => parseSnapshot(text(file)),
      () => parseSnapshot(readFileSync(at(file))),
      () => replay(() => 1, { snapshot: parsed() }),
      () => resume(() => 1, { snapshot: JSON.parse(text(file).trim().split("\n")[0] as string) as AgentSnapshot }),
      () => runWith(() => 1, { snapshot: parsed() }),
      () => forkSnapshot(parsed(), []),
      () => stringifySnapshot(parsed()),
      () => writeSnapshot(at("never"), parsed()),
    ]) {
      const error = await thrownBy(call);
      expect(error).toSatisfy(isInvalidSnapshotError);
      expect(error.message).toMatch(READ[kind]);
    }
  });
});

describe.each<[string, Kind]>([
  ["snapshot", "snapshot"],
  ["indented snapshot", "snapshot"],
  ["recording", "recording"],
  ["audit log", "audit log"],
])("for a trace, the %s", (file, kind) => {
  it("is refused by all functions that restore one", async () => {
    for (const call of [
      () => restoreSnapshotFromFile(at(file)),
      () => restoreSnapshot(text(file)),
      () => restoreSnapshot(readFileSync(at(file))),
      () =>
        restoreSnapshot(
          (kind === "snapshot" ? JSON.parse(text(file)) : [JSON.parse(text(file).split("\n")[0] as string)]) as never,
        ),
    ]) {
      const error = await thrownBy(call);
      expect(error).toSatisfy(isRestoreError);
      expect(error.message).toMatch(READ[kind]);
    }
  });

  it.skipIf(file === "indented snapshot")("is refused by readTrace with the number of the line", async () => {
    const reading = readTrace(at(file))[Symbol.asyncIterator]();
    const error = await thrownBy(() => reading.next());
    expect(error).toMatchObject({ name: "TraceReadError", line: 1 });
    expect(error.message).toMatch(READ[kind]);
  });
});

it.each<Kind>(["snapshot", "trace", "recording"])("for an audit log, the %s is named in the problem", async (kind) => {
  const { ok, problem } = await verifyLog(at(kind));
  expect({ ok, kind: problem?.kind, line: problem?.line }).toEqual({ ok: false, kind: "unreadable", line: 1 });
  expect(problem?.message).toMatch(READ[kind]);
});

it("says nothing about kinds where the file is of the right kind but damaged", async () => {
  const damaged = text("snapshot").replace('"version":', '"no version":');
  expect((await thrownBy(() => parseSnapshot(damaged))).message).not.toContain("this is");
  expect((await thrownBy(() => parseSnapshot(text("snapshot").slice(0, -9)))).message).not.toContain("this is");
  writeFileSync(at("cut.jsonl"), text("trace").slice(0, 20));
  expect((await thrownBy(() => restoreSnapshotFromFile(at("cut.jsonl")))).message).not.toContain("this is");
});
