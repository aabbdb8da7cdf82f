// npm run test:newest [-- NODE_MAJOR]: tests the packed package on a newer Node.js with the newest vitest and clients
// on npm, which are installed into .nodes/newest/ each time.
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { fetchNode } from "./lib/node-versions.mjs";
import { at, command } from "./lib/paths.mjs";
import { runNode, runNpm } from "./lib/run.mjs";
import { main, step } from "./lib/steps.mjs";

const FOLDER = ".nodes/newest";
const NEWEST = ["vitest", "ai", "openai", "@anthropic-ai/sdk", "@google/genai", "@modelcontextprotocol/sdk", "zod"];

await main(async () => {
  const [major = "24"] = process.argv.slice(2);
  if (!/^\d+$/.test(major)) throw new Error(`"${major}" is not a major version of Node.js, such as 24`);
  await runNode("scripts/pack.mjs");
  const node = await fetchNode(major);
  rmSync(at(FOLDER), { recursive: true, force: true });
  mkdirSync(at(FOLDER), { recursive: true });
  writeFileSync(at(FOLDER, "package.json"), "{}");
  const tarballs = readdirSync(at("npm")).filter((name) => name.endsWith(".tgz"));
  // All at once, so that npm rejects versions outside the peer ranges of the package.
  const names = [...tarballs.map((name) => at("npm", name)), ...NEWEST.map((name) => `${name}@latest`)];
  const flags = ["--prefix", at(FOLDER), "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  await step("install the newest clients", () => runNpm(["install", ...flags, ...names]));
  const env = { ...process.env, NEWEST_FOLDER: at(FOLDER), NEWEST_NODE: node };
  await step(`test the packed package on Node.js ${major}`, () =>
    runNode(command("vitest"), ["run", "--project=newest"], { env }),
  );
});
