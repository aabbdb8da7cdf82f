// npm run test:panics: checks that a panic in any kind of export becomes a JavaScript error and the process survives.
// Builds an addon with exports that panic on purpose, in a temporary folder.
import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { at, command } from "../scripts/lib/paths.mjs";
import { runNode } from "../scripts/lib/run.mjs";
import { main, step } from "../scripts/lib/steps.mjs";

await main(async () => {
  const output = mkdtempSync(join(tmpdir(), "agent-rewind-panics-"));
  try {
    await step("build an addon that panics", () => build(output));
    const addon = join(
      output,
      readdirSync(output).find((name) => name.endsWith(".node")),
    );
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [at("proof/panics/program.mjs"), addon]);
    const { failures, works } = JSON.parse(stdout);
    for (const [kind, failure] of Object.entries(failures)) console.log(`${kind}: ${failure}`);
    const wrong = Object.entries(failures).filter(([, failure]) => !/^Error: .*on purpose/.test(failure));
    if (wrong.length > 0) throw new Error(`not the error of its panic: ${wrong.map(([kind]) => kind).join(", ")}`);
    if (works !== 1) throw new Error("the object that panicked does not work any more");
    if (!stderr.includes("agent-rewind: internal error")) throw new Error("the panics were not reported");
    console.log(`${Object.keys(failures).length} panics, and the process lived`);
  } finally {
    rmSync(output, { recursive: true, force: true });
  }
});

/**
 * Uses a separate target folder, because the types of the exports are cached next to the build and must not reach the
 * next build.
 */
function build(output) {
  const files = ["--js", "binding.cjs", "--dts", "binding.d.cts", "--output-dir", output];
  const args = ["build", "--platform", "--features", "panics", "--target-dir", at("target/panics"), ...files];
  return runNode(command("@napi-rs/cli", "napi"), args);
}
