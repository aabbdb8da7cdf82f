// npm run proof:clients [-- NAME…]: runs real clients and frameworks against a local server on Node.js 24, and writes
// what it proves to docs/clients.md. The packages are installed into proof/clients/node_modules.
import { fork } from "node:child_process";
import { existsSync, readFileSync, symlinkSync } from "node:fs";
import { isStale } from "../scripts/lib/freshness.mjs";
import { writeGenerated } from "../scripts/lib/generated.mjs";
import { fetchNode } from "../scripts/lib/node-versions.mjs";
import { at, command, readJson } from "../scripts/lib/paths.mjs";
import { prepare } from "../scripts/lib/prepare.mjs";
import { ChildFailed, run, runNpm } from "../scripts/lib/run.mjs";
import { main, step } from "../scripts/lib/steps.mjs";
import { SUBJECTS, writePrograms } from "./clients/subjects.mjs";

const FOLDER = "proof/clients";
const PAGE = "docs/clients.md";
const COLUMNS = [
  "record → replay offline",
  "late change",
  "parallel",
  "streaming untouched",
  "failure → fix → resume",
  "trace → restore",
  "vitest in CI",
];

await main(async () => {
  const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(SUBJECTS);
  await prepare();
  const node = await fetchNode("24");
  await install();
  writePrograms();
  const results = await step("matrix", () => matrix(node, names));
  if (process.argv.length > 2) return report(results);
  await step("vitest", async () => addTests(results, await vitest(node)));
  const mcp = await step("MCP clients", () => resultsOf(node, "mcp.mjs"));
  const guard = await step("network guard", () => resultsOf(node, "guard.mjs"));
  report({ ...results, MCP: mcp, guard });
  const page = readFileSync(at(PAGE), "utf8");
  const [start, end] = ["<!-- table -->\n", "<!-- end of the table -->"];
  const before = page.slice(0, page.indexOf(start) + start.length);
  const text = `${before}\n${table(results, mcp, guard)}\n${page.slice(page.indexOf(end))}`;
  writeGenerated(PAGE, text, { check: Boolean(process.env.CI) });
});

async function install() {
  const installed = `${FOLDER}/node_modules/.package-lock.json`;
  if (isStale([installed], [`${FOLDER}/package-lock.json`])) {
    const args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error"];
    await step("install the clients", () => runNpm(args, { cwd: at(FOLDER) }));
  }
  const link = at(FOLDER, "node_modules/agent-rewind");
  if (!existsSync(link)) symlinkSync(at(), link, "junction");
}

async function matrix(node, names) {
  const results = {};
  const waiting = [...names];
  const work = async () => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift())
      results[name] = await resultsOf(node, "matrix.mjs", name);
  };
  await Promise.all([work(), work()]);
  return results;
}

/** The results that a program sends, by the title of what it proves. */
function resultsOf(node, program, ...args) {
  return new Promise((resolve) => {
    let results;
    const options = { execPath: node, cwd: at(FOLDER), env: { ...process.env, CI: "" }, silent: true };
    const child = fork(at(FOLDER, program), args, options);
    // Frameworks print the failures that the programs provoke, so the output is shown only for a broken program.
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (output += text));
    child.on("message", (given) => (results = given));
    child.on("close", () => resolve(results ?? { "the program": `ended without results:\n${output}` }));
  });
}

/** Records a test for each client, then replays them in CI. Returns the outcome of each test in CI. */
async function vitest(node) {
  const output = at(FOLDER, ".results/vitest.json");
  const args = [command("vitest"), "run", "--root", at(FOLDER), "--reporter=json", `--outputFile=${output}`];
  for (const CI of ["", "true"]) {
    const env = { ...process.env, CI, AWS_ACCESS_KEY_ID: "none", AWS_SECRET_ACCESS_KEY: "none" };
    // Recordings of an earlier run would answer this one.
    const flags = CI === "" ? ["--update"] : [];
    await run(node, [...args, ...flags], { env }).catch((error) => {
      if (!(error instanceof ChildFailed)) throw error;
    });
  }
  const { testResults } = JSON.parse(readFileSync(output, "utf8"));
  return testResults.flatMap(({ assertionResults }) => assertionResults);
}

function addTests(results, tests) {
  for (const [name, proved] of Object.entries(results)) {
    const test = tests.find(({ title }) => title === name);
    proved["vitest in CI"] = test?.status === "passed" ? "ok" : (test?.failureMessages.join("\n") ?? "no such test");
  }
}

function report(results) {
  const all = Object.entries(results).flatMap(([name, proved]) =>
    Object.entries(proved).map(([title, outcome]) => ({ title: `${name}: ${title}`, outcome })),
  );
  const failed = all.filter(({ outcome }) => outcome !== "ok");
  for (const { title, outcome } of failed) console.error(`${title}\n${outcome}\n`);
  console.log(`${all.length - failed.length} of ${all.length} proved`);
  if (failed.length > 0) throw new Error(`not proved: ${failed.map(({ title }) => title).join("; ")}`);
}

function table(results, mcp, guard) {
  const { dependencies } = readJson(FOLDER, "package.json");
  const packages = (list) => list.map((name) => `${name} ${dependencies[name]}`).join(", ");
  const row = (cells) => `| ${cells.join(" | ")} |\n`;
  const rows = Object.entries(SUBJECTS).map(([name, { title, page, packages: list }]) => {
    const linked = page === undefined ? title : `[${title}](${page})`;
    return row([linked, packages(list), ...COLUMNS.map((column) => (results[name][column] === "ok" ? "✓" : "–"))]);
  });
  const head = ["client", "tried with", ...COLUMNS];
  const list = (proved) => Object.keys(proved).map((title) => `- ${title}\n`);
  return [
    row(head),
    row(head.map(() => "---")),
    ...rows,
    "\nMCP clients that these create, recorded and replayed without a server and without a call of a tool:\n\n",
    ...list(mcp),
    "\nClients that no wrapper knows. Unless noted, the [network guard](network-guard.md) refuses them in a strict replay,\n",
    "before a byte has left, and reports them while a run is recorded:\n\n",
    ...list(guard),
  ].join("");
}
