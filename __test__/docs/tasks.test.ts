// The pages in docs/ that go by task: their code compiles, and prints what the page says.
import { execFile } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { build } from "rolldown";
import { afterAll, beforeAll, expect, it } from "vitest";

import { outputsOf, writePage } from "../support/docs-page.js";
import { temporaryFolder } from "../support/process.js";

const root = fileURLToPath(new URL("../../", import.meta.url));
const pages = ["debug-a-failed-run.md", "resume.md", "production-traces.md", "own-agent-loop.md", "edit-and-fork.md"];

let folder: string;
const filesOfPage = new Map<string, string[]>();

beforeAll(() => {
  folder = temporaryFolder();
  for (const page of pages) {
    mkdirSync(join(folder, page));
    filesOfPage.set(page, writePage(page, join(folder, page)));
  }
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function node(script: string, args: string[] = []): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [script, ...args], { cwd: root });
  return stdout;
}

it("the code of the pages compiles", async () => {
  const compilerOptions = {
    types: ["node"],
    declaration: false,
    isolatedDeclarations: false,
    skipLibCheck: true,
  };
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({ extends: "../../tsconfig.json", compilerOptions, include: ["**/*.mts"] }),
  );
  const faults = await node(join(root, "node_modules/typescript/bin/tsc"), ["--project", folder]).catch(
    (error: { stdout: string }) => error.stdout,
  );
  expect(faults).toBe("");
}, 60_000);

it.each(pages)(
  "%s: its programs print what it says",
  async (page) => {
    for (const file of filesOfPage.get(page) ?? []) {
      if (file.endsWith(".mjs")) continue;
      // Each by itself, with its imports left as they are.
      await build({
        input: join(folder, page, file),
        platform: "node",
        external: [/^agent-rewind/, /^node:/, /^\.\//, "zod"],
        output: { file: join(folder, page, file.replace(/\.mts$/, ".mjs")), format: "esm" },
        logLevel: "silent",
      });
    }
    const outputs = outputsOf(page);
    expect(outputs.size).toBeGreaterThan(0);
    for (const [file, output] of outputs) {
      expect({ file, output: await node(join(folder, page, file.replace(/\.mts$/, ".mjs"))) }).toEqual({
        file,
        output,
      });
    }
  },
  60_000,
);
