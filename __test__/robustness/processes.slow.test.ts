// The package in worker threads, in both module formats, and in the pools of a test runner.
import { execFile } from "node:child_process";
import { cpSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it, onTestFinished } from "vitest";
import { temporaryFolder } from "../support/process.js";

const root = fileURLToPath(new URL("../../", import.meta.url));
const programs = fileURLToPath(new URL("programs", import.meta.url));

/** The JSON output of a program. A crash or failure is an error. */
async function run(script: string, ...args: string[]): Promise<unknown> {
  // Without this, a vitest inside vitest would take itself for a worker of the outer one.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("VITEST")));
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [script, ...args], { cwd: root, env });
    return JSON.parse(stdout);
  } catch (cause) {
    const { stdout, stderr } = cause as { stdout?: string; stderr?: string };
    throw new Error(`${script} ${args.join(" ")} failed:\n${stdout}\n${stderr}`, { cause });
  }
}

function folder(): string {
  const path = temporaryFolder();
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

it("workers have separate runs", async () => {
  expect(await run(join(programs, "many-workers.mjs"))).toEqual(Array.from({ length: 8 }, () => 20));
}, 60_000);

it("workers terminated during runs, reads and restores harm no one", async () => {
  const codes = await run(join(programs, "terminated-workers.mjs"), folder());
  expect(codes).toEqual(Array.from({ length: 24 }, () => 1));
}, 120_000);

it("the ESM and the CommonJS copy see each other's runs", async () => {
  const seen = { value: 1, made: 1, guards: [true, true], nested: "NestedRunError" };
  expect(await run(join(programs, "both-formats.mjs"))).toEqual({ copies: true, import: seen, require: seen });
}, 60_000);

it.each(["threads", "forks", "vmThreads", "vmForks"])(
  "vitest runs the package in its pool %s",
  async (pool) => {
    const project = folder();
    cpSync(join(programs, "runs.mjs"), join(project, "runs.mjs"));
    writeFileSync(join(project, "vitest.config.mjs"), `export default { test: { pool: ${JSON.stringify(pool)} } };\n`);
    for (const name of ["one", "two"]) {
      writeFileSync(join(project, `${name}.test.mjs`), TEST);
    }
    const report = await run("node_modules/vitest/vitest.mjs", "run", "--root", project, "--reporter=json");
    expect(report).toMatchObject({ success: true, numPassedTests: 4, numTotalTests: 4 });
  },
  60_000,
);

const TEST = `
import { expect, it } from "vitest";
import { isInvalidSnapshotError, runWith } from "agent-rewind";
import { dumpSnapshot, parseSnapshot } from "agent-rewind/debugger";
import { runOnce } from "./runs.mjs";

it("runs, dumps and replays", async () => {
  for (let n = 0; n < 5; n++) await runOnce(n);
  const snapshot = await runWith(() => dumpSnapshot(), { enableSnapshot: true });
  expect(snapshot.root).toMatchObject({ callId: "root", state: { status: "running" } });
});

it("has typed errors", () => {
  const failure = (() => {
    try {
      return parseSnapshot('{"version":1}');
    } catch (error) {
      return error;
    }
  })();
  expect(isInvalidSnapshotError(failure)).toBe(true);
  expect(failure.faults.length).toBeGreaterThan(3);
});
`;
