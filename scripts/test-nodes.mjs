// npm run test:nodes -- 22 24 26 [--only VITEST_FILTER]…: the TypeScript tests on other versions of Node.js.
// Their binaries come from npm, into .nodes/, and stay there.
import { existsSync, mkdirSync } from "node:fs";
import { delimiter, dirname } from "node:path";
import { parseArgs } from "node:util";
import { at, command } from "./lib/paths.mjs";
import { prepare } from "./lib/prepare.mjs";
import { ChildFailed, run, runNpm } from "./lib/run.mjs";
import { main, step } from "./lib/steps.mjs";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { only: { type: "string", multiple: true, default: [] } },
});

await main(async () => {
  const majors = positionals.length > 0 ? positionals : ["22", "24", "26"];
  const wrong = majors.find((major) => !/^\d+$/.test(major));
  if (wrong !== undefined) throw new Error(`"${wrong}" is not a major version of Node.js, such as 22`);
  await prepare();
  const failed = [];
  for (const major of majors) {
    const node = await fetchNode(major);
    await run(node, ["--version"]);
    await step(`test on Node.js ${major}`, () => test(node)).catch((error) => {
      if (!(error instanceof ChildFailed) || error.signal) throw error;
      failed.push(major);
    });
  }
  if (failed.length > 0) throw new Error(`failed on Node.js ${failed.join(", ")}`);
});

/** The newest binary of a major version that npm has; the one that was fetched before, if there is one. */
async function fetchNode(major) {
  const { platform, arch } = process;
  const name = `node-${platform === "win32" ? "win" : platform}-${arch}`;
  const folder = `.nodes/${major}`;
  const binary = at(folder, "node_modules", name, "bin", platform === "win32" ? "node.exe" : "node");
  if (!existsSync(binary)) {
    mkdirSync(at(folder), { recursive: true });
    const flags = ["--prefix", at(folder), "--no-save", "--ignore-scripts", "--no-audit", "--no-fund"];
    await step(`fetch Node.js ${major}`, () => runNpm(["install", ...flags, `${name}@${major}`]));
  }
  return binary;
}

function test(node) {
  // Child processes that call for "node" get this one too.
  const env = { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env.PATH}` };
  return run(node, [command("vitest"), "run", "--project=unit", ...values.only], { env });
}
