// The memory that runs and snapshots leave behind.
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

async function run(script: string, ...args: string[]): Promise<string> {
  const path = fileURLToPath(new URL(script, import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [path, ...args]);
  return stdout;
}

it("V8 knows the memory behind snapshots and frees unreferenced ones", async () => {
  // 1.2 GB, one after the other.
  expect(Number(await run("programs/dropped-snapshots.mjs", "300"))).toBeLessThan(400);
}, 60_000);

it("three times as many runs and replays leave no more memory behind", async () => {
  expect(await run("../../proof/memory.mjs", "5000", "15000")).toMatch(/^heap: .*\nrss: .*\n$/);
}, 180_000);
