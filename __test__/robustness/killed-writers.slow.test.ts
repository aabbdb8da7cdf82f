// Files stay complete even if their writers are killed at any moment.
import { spawn, spawnSync } from "node:child_process";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { readSnapshot, restoreSnapshotFromFile } from "agent-rewind/debugger";
import { expect, it, onTestFinished } from "vitest";

import { temporaryFolder } from "../support/process.js";

const program = fileURLToPath(new URL("programs/endless-writer.mjs", import.meta.url));
const ROUNDS = 40;

it.each([
  ["snapshot", readSnapshot],
  ["export", restoreSnapshotFromFile],
] as const)(
  "a killed writer (%s) leaves a complete file, and the next writer removes its temporary file",
  async (kind, read) => {
    const folder = temporaryFolder();
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const left = (): string[] => readdirSync(folder).filter((name) => name.endsWith(".tmp"));
    for (let round = 0; round < ROUNDS && left().length === 0; round++) {
      const child = spawn(process.execPath, [program, kind, folder, "1000000"], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      await new Promise((resolve) => child.stdout.once("data", resolve));
      await new Promise((resolve) => setTimeout(resolve, round * 2));
      const closed = new Promise((resolve) => child.once("close", resolve));
      child.kill("SIGKILL");
      await closed;
    }
    expect(left()).toHaveLength(1);
    const { root } = await read(join(folder, "out"));
    expect(root.calls).toHaveLength(2000);
    expect(spawnSync(process.execPath, [program, kind, folder, "1"]).status).toBe(0);
    expect(left()).toEqual([]);
    expect((await read(join(folder, "out"))).root.calls).toHaveLength(2000);
  },
  120_000,
);
