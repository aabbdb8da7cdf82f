import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

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

it.skipIf(!existsSync("/dev/full"))("exits with 3 when its output cannot be written", () => {
  writeFileSync(join(folder, "a.json"), "{}");
  const command = `"${process.execPath}" "${BIN}" hash a.json > /dev/full`;
  const { status, stderr } = spawnSync("sh", ["-c", command], { cwd: folder, encoding: "utf8" });
  expect({ status, stderr }).toEqual({
    status: 3,
    stderr: expect.stringMatching(/^agent-rewind: standard output: ENOSPC[^\n]*\n$/) as string,
  });
});
