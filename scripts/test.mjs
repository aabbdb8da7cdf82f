// npm test [-- VITEST ARGS]: all tests, Rust then TypeScript, also from a fresh clone. The files `*.node22.test.ts` run on
// a newer Node.js, which is fetched if necessary.
// npm run test:rust, npm run test:js [-- VITEST ARGS]: one half.
// npm run test:fast [-- VITEST ARGS]: TypeScript without the slow files.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { environmentOf, fetchNode, runsNode22Tests } from "./lib/node-versions.mjs";
import { command } from "./lib/paths.mjs";
import { prepare } from "./lib/prepare.mjs";
import { ChildFailed, run } from "./lib/run.mjs";
import { main, step } from "./lib/steps.mjs";

const [first, ...rest] = process.argv.slice(2);
const part = ["--rust", "--js", "--fast"].includes(first) ? first : undefined;
const vitestArgs = part === undefined ? process.argv.slice(2) : rest;
const projects = part === "--fast" ? ["fast"] : ["fast", "slow"];
const projectArg = (name) => `--project=${name}`;

await main(async () => {
  const counts = [];
  const failures = [];
  // Failed tests of one half do not prevent the other half from running. Other failures do.
  const test = async (name, action) => {
    const { failure, ...count } = await step(name, action);
    counts.push(count);
    if (failure !== undefined) failures.push(failure);
  };
  if (part === undefined || part === "--rust") await test("test Rust", testRust);
  if (part !== "--rust") {
    await prepare();
    await test("test TypeScript", () => testTypeScript(process.execPath, projects.map(projectArg)));
    if (part !== "--fast") await testNode22(test);
  }
  const total = (key) => counts.reduce((sum, count) => sum + count[key], 0);
  console.log(`${total("passed")} passed, ${total("failed")} failed, ${total("skipped")} skipped`);
  if (failures.length > 0) throw failures[0];
});

/** Runs all tests of the core and counts them. */
async function testRust() {
  let output = "";
  const args = ["test", "--workspace", "--no-fail-fast"];
  if (process.env.CI) args.push("--locked");
  const failure = await failureOf(run("cargo", args, { onOutput: (text) => (output += text) }));
  const count = { passed: 0, failed: 0, skipped: 0 };
  for (const [, passed, failed, skipped] of output.matchAll(
    /^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored/gm,
  )) {
    count.passed += Number(passed);
    count.failed += Number(failed);
    count.skipped += Number(skipped);
  }
  if (failure !== undefined && count.failed === 0) throw failure;
  return { ...count, failure };
}

/** Runs the tests that need a newer Node.js. */
async function testNode22(test) {
  const fetched = runsNode22Tests() ? process.execPath : await fetchNode("24").catch((error) => error);
  const newest = [projectArg("node22"), "--passWithNoTests"];
  if (typeof fetched === "string") await test("test on a newer Node.js", () => testTypeScript(fetched, newest));
  else console.log(`skipped: *.node22.test.ts, because Node.js 24 could not be fetched (${fetched.message})`);
}

/** Runs tests of the built package and counts them. */
async function testTypeScript(node, own) {
  const folder = mkdtempSync(join(tmpdir(), "agent-rewind-test-"));
  const report = join(folder, "report.json");
  try {
    const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
    const args = ["run", ...own, ...reporters, ...vitestArgs];
    const failure = await failureOf(run(node, [command("vitest"), ...args], { env: environmentOf(node) }));
    if (failure !== undefined && !existsSync(report)) throw failure;
    const result = JSON.parse(readFileSync(report, "utf8"));
    return {
      passed: result.numPassedTests,
      failed: result.numFailedTests,
      skipped: result.numPendingTests + result.numTodoTests,
      failure,
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The failure of a child that exited by itself. */
async function failureOf(child) {
  try {
    await child;
    return undefined;
  } catch (error) {
    if (error instanceof ChildFailed && !error.signal) return error;
    throw error;
  }
}
