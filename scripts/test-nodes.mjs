// npm run test:nodes -- 22 24 26 [--fast] [--only VITEST_FILTER]…: runs the TypeScript tests on
// other versions of Node.js. Their binaries are installed from npm into .nodes/ and stay there.
import { delimiter, dirname } from "node:path";
import { parseArgs } from "node:util";
import { fetchNode } from "./lib/node-versions.mjs";
import { command } from "./lib/paths.mjs";
import { prepare } from "./lib/prepare.mjs";
import { ChildFailed, run } from "./lib/run.mjs";
import { main, step } from "./lib/steps.mjs";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { fast: { type: "boolean", default: false }, only: { type: "string", multiple: true, default: [] } },
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

function test(node) {
  // Child processes that run "node" get this version too.
  const env = { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env.PATH}` };
  const projects = values.fast ? ["fast"] : ["fast", "slow"];
  const flags = projects.map((name) => `--project=${name}`);
  return run(node, [command("vitest"), "run", ...flags, ...values.only], { env });
}
