// npm test [-- VITEST ARGS]: all tests, Rust then TypeScript, from a fresh clone too.
// npm run test:rust, npm run test:js [-- VITEST ARGS]: one half.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { command } from "./lib/paths.mjs";
import { prepare } from "./lib/prepare.mjs";
import { run, runNode } from "./lib/run.mjs";
import { main, step } from "./lib/steps.mjs";

const [first, ...rest] = process.argv.slice(2);
const half = first === "--rust" || first === "--js" ? first : undefined;
const vitestArgs = half === undefined ? process.argv.slice(2) : rest;

await main(async () => {
  const results = [];
  if (half !== "--js") results.push(await step("test Rust", testRust));
  if (half !== "--rust") {
    await prepare();
    results.push(await step("test TypeScript", testTypeScript));
  }
  const total = (key) => results.reduce((sum, result) => sum + result[key], 0);
  console.log(`${total("passed")} passed, ${total("failed")} failed, ${total("skipped")} skipped`);
});

/** A failure has ended the script before its numbers are needed. */
async function testRust() {
  const result = { passed: 0, failed: 0, skipped: 0 };
  let output = "";
  const args = ["test", "--workspace"];
  if (process.env.CI) args.push("--locked");
  await run("cargo", args, { onOutput: (text) => (output += text) });
  const line = /^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored/gm;
  for (const [, passed, failed, skipped] of output.matchAll(line)) {
    result.passed += Number(passed);
    result.failed += Number(failed);
    result.skipped += Number(skipped);
  }
  return result;
}

async function testTypeScript() {
  const folder = mkdtempSync(join(tmpdir(), "agent-rewind-test-"));
  const report = join(folder, "report.json");
  try {
    const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
    await runNode(command("vitest"), ["run", "--project=unit", ...reporters, ...vitestArgs]);
    const { numPassedTests, numFailedTests, numPendingTests, numTodoTests } = JSON.parse(readFileSync(report, "utf8"));
    return {
      passed: numPassedTests,
      failed: numFailedTests,
      skipped: numPendingTests + numTodoTests,
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
