import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { journalCall, runWith, type AgentSnapshot } from "agent-rewind";
import { dumpSnapshot, stringifySnapshot } from "agent-rewind/debugger";
import { afterAll, describe, expect, it } from "vitest";

import { BIN, cli } from "./support.js";

const folder = mkdtempSync(join(tmpdir(), "rewind-cli-"));
afterAll(() => rmSync(folder, { recursive: true }));
const ESCAPE = "\u001b[31m\u0007";

describe("the CLI escapes control characters from arguments and files", () => {
  it.each([[["inspect", `no${ESCAPE}file`]], [[`do${ESCAPE}`]], [["restore", "x", `--${ESCAPE}`]]])("%j", (args) => {
    const { err, out } = cli(args, { cwd: folder });
    expect(out).toBe("");
    expect(err).toContain("\\u001b[31m");
    expect(err).not.toContain("\u001b");
  });

  it("escapes file names in results", () => {
    writeFileSync(join(folder, `a${ESCAPE}.json`), "{}");
    const { code, out } = cli(["hash", `a${ESCAPE}.json`], { cwd: folder });
    expect(code).toBe(0);
    expect(out).not.toContain("\u001b");
  });
});

describe("the CLI escapes control characters of recordings", () => {
  // Escape sequences, a C1 control, an override of the text direction, a tag character beyond the BMP.
  const hostile = `${ESCAPE}\u009b31m\u202e\u{e0041}`;
  const raw = /[\p{Cc}\p{Cf}]/u;

  interface Snapshot {
    processId: string;
    warnings?: object[];
    metadata?: object;
    root: { calls: { callId: string }[] };
  }

  const recorded = async (): Promise<Snapshot> => {
    const program = async (): Promise<AgentSnapshot> => {
      await journalCall({ kind: "llm", name: "m", request: {} }, () => 1);
      return dumpSnapshot();
    };
    return JSON.parse(stringifySnapshot(await runWith(program, { enableSnapshot: true }))) as Snapshot;
  };

  it.each<[string, (snapshot: Snapshot) => void]>([
    ["processId", (snapshot) => (snapshot.processId = hostile)],
    ["the code of a warning", (snapshot) => (snapshot.warnings = [{ code: hostile, message: "m" }])],
    ["the message of a warning", (snapshot) => (snapshot.warnings = [{ code: "c", message: hostile }])],
    ["metadata", (snapshot) => (snapshot.metadata = { [hostile]: hostile })],
    [
      "the name of a call",
      ({ root: { calls } }) => ((calls[0] as { callId: string }).callId = `root/llm:${hostile}:0`),
    ],
  ])("%s", async (_place, change) => {
    const snapshot = await recorded();
    change(snapshot);
    writeFileSync(join(folder, "hostile.json"), JSON.stringify(snapshot));
    for (const flags of [[], ["--json"]]) {
      const { code, out, err } = cli(["inspect", ...flags, "hostile.json"], { cwd: folder });
      expect({ code, err }).toEqual({ code: 0, err: "" });
      expect(out.replaceAll("\n", "")).not.toMatch(raw);
      if (flags.length > 0) expect(JSON.parse(out)).toMatchObject({ kind: "snapshot" });
    }
  });
});

it.skipIf(!existsSync("/dev/full"))("exits with 3 when its output cannot be written", () => {
  writeFileSync(join(folder, "a.json"), "{}");
  const command = `"${process.execPath}" "${BIN}" hash a.json > /dev/full`;
  const { status, stderr } = spawnSync("sh", ["-c", command], { cwd: folder, encoding: "utf8" });
  expect({ status, stderr }).toEqual({
    status: 3,
    stderr: expect.stringMatching(/^agent-rewind: standard output: ENOSPC[^\n]*\n$/) as string,
  });
});
