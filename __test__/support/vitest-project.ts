import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import type { RecordingReport } from "agent-rewind/vitest";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

import { temporaryFolder } from "./process.js";

export interface TestRun {
  readonly code: number | null;
  /** The complete output without colors. */
  readonly text: string;
  /** The full names of tests with their status. */
  readonly results: Record<string, string>;
  /** Their `meta`. */
  readonly meta: Record<string, { agentRewind?: RecordingReport }>;
}

export interface VitestProject extends Disposable {
  readonly folder: string;
  write(file: string, text: string): void;
  /** Runs `vitest run`. */
  run(options?: { args?: string[]; env?: Record<string, string> }): Promise<TestRun>;
  /** The files under the folder __recordings__, by path. */
  recordings(): Record<string, string>;
}

const VITEST = fileURLToPath(new URL("../../node_modules/vitest/vitest.mjs", import.meta.url));

/** The vitest that runs the tests, and its Node.js. */
export interface Runner {
  readonly node: string;
  readonly vitest: string;
}

const OWN: Runner = { node: process.execPath, vitest: VITEST };

const CONFIG = `export default {
  // Not in node_modules, as it is for others.
  // A timeout is for tests that hang, not for slow machines.
  test: { server: { deps: { external: [/\\/dist\\//, /\\/native\\//] } }, maxWorkers: 2, testTimeout: 60_000 },
};
`;

/** A project with its own tests, in a folder inside the package. */
export function vitestProject(files: Record<string, string>, folder = temporaryFolder(), runner = OWN): VitestProject {
  const write = (file: string, text: string): void => {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  };
  write("vitest.config.mjs", CONFIG);
  // Drafts are written below it.
  mkdirSync(join(folder, "node_modules"), { recursive: true });
  for (const [file, text] of Object.entries(files)) write(file, text);
  return {
    folder,
    write,
    run: ({ args = [], env = {} } = {}) => runVitest(runner, folder, args, env),
    recordings: () => recordingsUnder(folder),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

async function runVitest(
  { node, vitest }: Runner,
  folder: string,
  args: string[],
  env: Record<string, string>,
): Promise<TestRun> {
  const report = join(folder, "report.json");
  rmSync(report, { force: true });
  const { PATH = "", HOME = "" } = process.env;
  const flags = ["run", "--root", folder, "--reporter=default", "--reporter=json", `--outputFile=${report}`];
  const child = spawn(node, [vitest, ...flags, ...args], {
    cwd: folder,
    // Excludes CI and the variables of the vitest that runs this test.
    env: { PATH, HOME, NO_COLOR: "1", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  child.stdout.on("data", (chunk) => (text += String(chunk)));
  child.stderr.on("data", (chunk) => (text += String(chunk)));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
  if (!existsSync(report)) throw new Error(`vitest gave no report:\n${text}`);
  const { testResults } = JSON.parse(readFileSync(report, "utf8")) as {
    testResults: { assertionResults: { fullName: string; status: string; meta: object }[] }[];
  };
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults);
  return {
    code,
    text,
    results: Object.fromEntries(tests.map(({ fullName, status }) => [fullName, status])),
    meta: Object.fromEntries(tests.map(({ fullName, meta }) => [fullName, meta])),
  };
}

function recordingsUnder(folder: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const path of readdirSync(folder, { recursive: true, encoding: "utf8" }).toSorted()) {
    const full = join(folder, path);
    if (!path.startsWith("__recordings__") || !statSync(full).isFile()) continue;
    found[relative(folder, full)] = readFileSync(full, "utf8");
  }
  return found;
}

/** Throws an error with the complete output if a test failed. */
export function expectPassed({ code, text }: TestRun): void {
  if (code !== 0) throw new Error(`vitest ended with ${code}:\n${text}`);
}
