// Every program of README.md and docs/*.md type-checks, runs as it is printed, and does what its page says: twice in the
// same folder, without a key, a network, or NODE_ENV.

import { execFile, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import ts from "typescript";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { commentExamples, pages, type Page } from "../support/docs-page.js";
import { temporaryFolder } from "../support/process.js";
import { expectPassed, vitestProject } from "../support/vitest-project.js";
import { expectations } from "./expectations.js";

const root = fileURLToPath(new URL("../../", import.meta.url));
const endpoints = new URL("fake-endpoints.mjs", import.meta.url).href;

let folder: string;
const folderOf = (page: Page): string => join(folder, basename(page.path, ".md"));
const isTest = (file: string): boolean => file.includes(".test.");
const isCode = (file: string): boolean => /\.[mc]?[tj]s$/.test(file);
const outputName = (file: string): string => file.replace(/ts$/, "js");

const withCode = pages.filter(({ files }) => files.size > 0);
const testFiles = (page: Page): string[] => [...page.files.keys()].filter(isTest);

/** The files that are run by themselves: no other file of the page imports or names them. */
function programsOf(page: Page): string[] {
  return [...page.files.keys()].filter((file) => {
    if (!isCode(file) || isTest(file)) return false;
    const others = [...page.files].filter(([other]) => other !== file);
    return !others.some(([, code]) => code.includes(outputName(file)));
  });
}

/** The environment of somebody who has a shell and nothing else: no key, no NODE_ENV, no CI. */
function environment(requests: string, more: Record<string, string> = {}): Record<string, string> {
  const { PATH = "" } = process.env;
  const bin = join(folder, "node_modules/.bin");
  return {
    PATH: `${bin}:${PATH}`,
    HOME: folder,
    NO_COLOR: "1",
    NODE_OPTIONS: `--import=${endpoints}`,
    DOCS_REQUESTS: requests,
    ...more,
  };
}

/** The number of requests since it was called last. */
function takeRequests(file: string): number {
  if (!existsSync(file)) return 0;
  const count = readFileSync(file, "utf8").split("\n").length - 1;
  rmSync(file);
  return count;
}

beforeAll(() => {
  folder = temporaryFolder();
  // The package by the name that programs for @rejelly/core import, and its command as npm installs it.
  const bin = join(folder, "node_modules/.bin");
  mkdirSync(join(folder, "node_modules/@rejelly"), { recursive: true });
  mkdirSync(bin);
  symlinkSync(root, join(folder, "node_modules/@rejelly/core"), "dir");
  symlinkSync(join(root, "dist/cli/main.mjs"), join(bin, "agent-rewind"));
  // npx runs what is installed.
  writeFileSync(join(bin, "npx"), '#!/bin/sh\nexec "$@"\n', { mode: 0o755 });
  for (const page of withCode) {
    for (const [file, code] of page.files) {
      mkdirSync(dirname(join(folderOf(page), file)), { recursive: true });
      writeFileSync(join(folderOf(page), file), code);
    }
  }
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

it("every block of code has the name of a file", () => {
  expect(pages.flatMap(({ path, strays }) => strays.map((line) => `${path}: ${line}`))).toEqual([]);
});

it("every expectation is about a program that there is", () => {
  const programs = withCode.flatMap((page) => [...page.files.keys()].map((file) => `${page.path} ${file}`));
  expect(programs).toEqual(expect.arrayContaining(Object.keys(expectations)));
});

it("the code of all pages, and of the examples in doc comments, type-checks", { timeout: 180_000 }, () => {
  const files = withCode.flatMap((page) =>
    [...page.files.keys()].filter(isCode).map((file) => join(folderOf(page), file)),
  );
  const comments = [...commentExamples].map(([name, code]) => {
    const file = join(folder, "comments", name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, code);
    return file;
  });
  expect(comments.length).toBeGreaterThan(10);
  expect(typeErrors([...files, ...comments])).toBe("");
});

/**
 * The errors of TypeScript, as it prints them. TypeScript's own files are checked under all flags that the package
 * itself has; in JavaScript parameters need no types, and an index is taken as it is.
 */
function typeErrors(files: string[]): string {
  const { config } = ts.readConfigFile(join(root, "tsconfig.json"), (path) => ts.sys.readFile(path)) as {
    config: { compilerOptions: object };
  };
  const own = ts.convertCompilerOptionsFromJson(config.compilerOptions, root).options;
  const shared = { ...own, declaration: false, isolatedDeclarations: false, skipLibCheck: true, allowJs: true };
  const loose = {
    checkJs: true,
    noImplicitAny: false,
    noUncheckedIndexedAccess: false,
    exactOptionalPropertyTypes: false,
  };
  const isJs = (file: string): boolean => file.endsWith("js");
  // The files of the clients are parsed once for both.
  const parsed = new Map<string, ts.SourceFile | undefined>();
  const errorsOf = (names: string[], options: ts.CompilerOptions): readonly ts.Diagnostic[] => {
    const host = ts.createCompilerHost(options);
    const read = host.getSourceFile.bind(host);
    host.getSourceFile = (file, ...rest) => {
      if (!parsed.has(file)) parsed.set(file, read(file, ...rest));
      return parsed.get(file);
    };
    return ts.getPreEmitDiagnostics(ts.createProgram(names, options, host));
  };
  const errors = [
    ...errorsOf(
      files.filter((file) => !isJs(file)),
      { ...shared, checkJs: false },
    ),
    ...errorsOf(files.filter(isJs), { ...shared, ...loose }),
  ];
  return ts.formatDiagnostics(errors, {
    getCurrentDirectory: () => folder,
    getCanonicalFileName: (file) => file,
    getNewLine: () => "\n",
  });
}

describe.each(withCode.map((page) => ({ path: page.path, page })))("$path", ({ page }) => {
  const programs = programsOf(page);

  it.skipIf(programs.length === 0)("its programs run, twice", { timeout: 120_000 }, async () => {
    for (const [file, code] of page.files) {
      if (!isCode(file) || isTest(file) || outputName(file) === file) continue;
      const compilerOptions = {
        module: ts.ModuleKind.ESNext,
        target: ts.ScriptTarget.ES2022,
        verbatimModuleSyntax: true,
      };
      writeFileSync(join(folderOf(page), outputName(file)), ts.transpileModule(code, { compilerOptions }).outputText);
    }
    const requests = `${folderOf(page)}.requests`;
    for (let run = 1; run <= 2; run++) {
      for (const file of programs) {
        const { stdout, stderr } = await promisify(execFile)(process.execPath, [outputName(file)], {
          cwd: folderOf(page),
          env: environment(requests),
        });
        const { output = page.outputs.get(file), asked, warns = /^$/ } = expectations[`${page.path} ${file}`] ?? {};
        expect({ file, run, stderr }).toEqual({ file, run, stderr: expect.stringMatching(warns) as string });
        if (typeof output === "string") expect({ file, run, stdout }).toEqual({ file, run, stdout: output });
        else expect(stdout).toMatch(output ?? /^$/);
        expect({ file, run, asked: takeRequests(requests) }).toEqual({ file, run, asked: asked ?? 0 });
      }
    }
    for (const command of page.commands.filter((line) => /^(?:npx )?agent-rewind /.test(line))) {
      const named = command.split(/\s+/).filter((word) => /\.jsonl?$/.test(word));
      if (!named.every((file) => existsSync(join(folderOf(page), file)))) continue;
      const { status, stderr } = spawnSync("sh", ["-c", command], {
        cwd: folderOf(page),
        env: environment(requests),
        encoding: "utf8",
      });
      expect({ command, status, stderr }).toEqual({ command, status: 0, stderr: "" });
    }
  });

  it.skipIf(testFiles(page).length === 0)("its tests pass, then offline under CI", { timeout: 180_000 }, async () => {
    const project = vitestProject(Object.fromEntries(page.files), folderOf(page));
    const requests = `${folderOf(page)}.requests`;
    expectPassed(await project.run({ env: environment(requests) }));
    const asked = testFiles(page).map((file) => expectations[`${page.path} ${file}`]?.asked ?? 0);
    expect(takeRequests(requests)).toBe(asked.reduce((sum, count) => sum + count, 0));
    for (const file of testFiles(page)) {
      const { records = [] } = expectations[`${page.path} ${file}`] ?? {};
      expect(Object.keys(project.recordings())).toEqual(expect.arrayContaining([...records]));
    }

    for (const file of page.files.keys()) {
      if (expectations[`${page.path} ${file}`]?.goneOnReplay === true) rmSync(join(folderOf(page), file));
    }
    const again = await project.run({ env: environment(requests, { CI: "1", DOCS_OFFLINE: "1" }) });
    expectPassed(again);
    expect(again.text).not.toContain("did not request");
    expect(takeRequests(requests)).toBe(0);

    for (const file of testFiles(page)) {
      const { changed } = expectations[`${page.path} ${file}`] ?? {};
      if (changed === undefined) continue;
      const code = page.files.get(file) ?? "";
      const edited = changed.edits.reduce((text, [from, to]) => text.replace(from, to), code);
      expect(edited).not.toBe(code);
      project.write(file, edited);
      const { code: status, text } = await project.run({ env: environment(requests) });
      expect(status).toBe(1);
      for (const part of changed.says) expect(text).toContain(part);
    }
  });

  it.skipIf(page.python.length === 0 || spawnSync("python3", ["--version"]).status !== 0)("its Python agrees", () => {
    const check = 'assert verify_payload([{"role": "user", "content": "hi"}], "5aced9397fc4a6ba")';
    const { status, stderr } = spawnSync("python3", ["-c", `${page.python.join("\n")}\n${check}`], {
      encoding: "utf8",
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  });
});
