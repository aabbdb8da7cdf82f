// The code of the pages in docs/ compiles and runs as it stands.
import { execFile } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "rolldown";
import { expect, it, onTestFinished } from "vitest";
import { delta, finish, startEndpoint, stream } from "../openai/endpoint.js";
import { writePage } from "../support/docs-page.js";
import { temporaryFolder } from "../support/process.js";

const root = fileURLToPath(new URL("../../", import.meta.url));

async function node(script: string, args: string[], env: Record<string, string> = {}): Promise<string> {
  const command = [join(root, script), ...args];
  const { stdout } = await promisify(execFile)(process.execPath, command, {
    cwd: root,
    env: { ...process.env, ...env },
  });
  return stdout;
}

function folderOf(page: string): { folder: string; files: string[] } {
  const folder = temporaryFolder();
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return { folder, files: writePage(page, folder) };
}

it.each(["openai.md", "testing.md"])(
  "the code of %s type-checks",
  async (page) => {
    const { folder, files } = folderOf(page);
    const compilerOptions = { types: ["node"], declaration: false, isolatedDeclarations: false, skipLibCheck: true };
    writeFileSync(
      join(folder, "tsconfig.json"),
      JSON.stringify({ extends: "../../tsconfig.json", compilerOptions, include: files }),
    );
    const failure = await node("node_modules/typescript/bin/tsc", ["--project", folder]).catch(
      (error: { stdout: string }) => error.stdout,
    );
    expect(failure).toBe("");
  },
  60_000,
);

it("the code of openai.md records and replays, with one request", async () => {
  const { folder } = folderOf("openai.md");
  const endpoint = await startEndpoint(stream([delta({ content: '{"advice":"a coat"}' }), finish()]));
  const file = join(folder, "advice.mjs");
  const external = [/^agent-rewind/, "zod"];
  await build({ input: join(folder, "advice.ts"), platform: "node", external, output: { file }, logLevel: "silent" });
  const printed = await node(relative(root, file), [], { OPENAI_API_KEY: "k", OPENAI_BASE_URL: endpoint.baseURL });
  expect(JSON.parse(printed)).toEqual([{ advice: "a coat" }, { advice: "a coat" }]);
  expect(endpoint.requests).toHaveLength(1);
  expect(endpoint.requests[0]!.body).toMatchObject({
    temperature: 0,
    response_format: { json_schema: { strict: true } },
  });
}, 60_000);

it("the code of testing.md is a test file that passes", async () => {
  const { folder } = folderOf("testing.md");
  // Else the one of this repository is found.
  writeFileSync(join(folder, "vitest.config.mjs"), "export default {};\n");
  const printed = await node("node_modules/vitest/vitest.mjs", ["run", "--root", folder, "--reporter=json"]);
  expect(JSON.parse(printed)).toMatchObject({ numPassedTests: 2, numTotalTests: 2, success: true });
}, 60_000);
