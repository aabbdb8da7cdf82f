// npm run test:nodes -- 22 24 26 [--fast] [--only VITEST_FILTER]…: runs the TypeScript tests on
// other versions of Node.js, with --fast only the slow files that depend on the version. Their binaries are installed
// from npm into .nodes/ and stay there.
import { parseArgs } from "node:util";
import { environmentOf, fetchNode, runsNode22Tests } from "./lib/node-versions.mjs";
import { command } from "./lib/paths.mjs";
import { prepare } from "./lib/prepare.mjs";
import { ChildFailed, run } from "./lib/run.mjs";
import { main, step } from "./lib/steps.mjs";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { fast: { type: "boolean", default: false }, only: { type: "string", multiple: true, default: [] } },
});

/** Suites of fetch, errors, streams and vitest, which depend on the version of Node.js: their slow files always run. */
const OF_NODE = ["__test__/fetch/", "__test__/errors/", "__test__/vitest/", "returned-streams"];

await main(async () => {
  const majors = positionals.length > 0 ? positionals : ["22", "24", "26"];
  const wrong = majors.find((major) => !/^\d+$/.test(major));
  if (wrong !== undefined) throw new Error(`"${wrong}" is not a major version of Node.js, such as 22`);
  await prepare();
  const failed = [];
  for (const major of majors) {
    const node = await fetchNode(major);
    await run(node, ["--version"]);
    await step(`test on Node.js ${major}`, () => test(node, Number(major))).catch((error) => {
      if (!(error instanceof ChildFailed) || error.signal) throw error;
      failed.push(major);
    });
  }
  if (failed.length > 0) throw new Error(`failed on Node.js ${failed.join(", ")}`);
});

async function test(node, major) {
  const env = environmentOf(node);
  const vitest = (...args) => run(node, [command("vitest"), "run", ...args], { env });
  const projects = ["--project=fast", ...(runsNode22Tests(`${major}.99`) ? ["--project=node22"] : [])];
  if (!values.fast) return vitest(...projects, "--project=slow", ...values.only);
  await vitest(...projects, ...values.only);
  if (values.only.length === 0) await vitest("--project=slow", ...OF_NODE);
}
