// The package with a missing or invalid addon.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));
const addon = readdirSync(join(root, "native")).find((name) => name.endsWith(".node"))!;
const packageName = addon.replace(".", "-").replace(".node", "");
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };

const SAY = `
  const { name, code, message, platform, arch, libc, packageName, cause } = error;
  console.log(JSON.stringify({ name, code, message, platform, arch, libc, packageName, cause: cause instanceof Error }));
`;
const PROGRAMS = {
  "esm.mjs": `import(process.argv[2]).then(() => console.log('"loaded"'), (error) => {${SAY}});`,
  "cjs.cjs": `try { require(process.argv[2]); console.log('"loaded"'); } catch (error) {${SAY}}`,
};

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "agent-rewind-missing-"));
  const copy = join(folder, "node_modules/agent-rewind");
  mkdirSync(join(copy, "native"), { recursive: true });
  for (const path of ["dist", "package.json", "native/binding.cjs"]) {
    cpSync(join(root, path), join(copy, path), { recursive: true });
  }
  for (const [name, program] of Object.entries(PROGRAMS)) writeFileSync(join(folder, name), program);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function load(program: string, entry: string): unknown {
  const child = spawnSync(process.execPath, [program, entry], { cwd: folder, encoding: "utf8" });
  expect(child.stderr).toBe("");
  return JSON.parse(child.stdout);
}

const missing = {
  name: "NativeMissingError",
  code: "ERR_REWIND_NATIVE_MISSING",
  platform: process.platform,
  arch: process.arch,
  packageName,
  cause: true,
};

it.each(Object.keys(PROGRAMS))("without the platform's package, %s names the package to install", (program) => {
  for (const entry of ["agent-rewind", "agent-rewind/debugger"]) {
    expect(load(program, entry)).toEqual({
      ...missing,
      ...(process.platform === "linux" ? { libc: packageName.endsWith("musl") ? "musl" : "glibc" } : {}),
      message: expect.stringMatching(new RegExp(`was not found\\. Run "npm install ${packageName}@${version}"\\.`)),
    });
  }
});

it.each(Object.keys(PROGRAMS))("with a file that is not an addon, %s reports the reason", (program) => {
  const file = join(folder, "node_modules/agent-rewind/native", addon);
  writeFileSync(file, "no addon");
  const failure = load(program, "agent-rewind");
  rmSync(file);
  expect(failure).toMatchObject({ ...missing, message: expect.stringMatching(/could not be loaded: .*\.node/) });
});

it.each(["esm", "cjs"] as const)(
  "bundled into one file of %s, it says that the package must stay external",
  async (format) => {
    const entry = join(folder, "app.mjs");
    writeFileSync(entry, 'export { runWith } from "agent-rewind";');
    for (const external of [[], ["agent-rewind"]]) {
      const file = join(
        folder,
        "bundled",
        external.length === 0 ? "in" : "out",
        format === "esm" ? "app.mjs" : "app.cjs",
      );
      const bundle = await rolldown({ input: entry, platform: "node", external });
      await bundle.write({ file, format, codeSplitting: false });
      await bundle.close();
      const failure = load(format === "esm" ? "esm.mjs" : "cjs.cjs", file);
      const message =
        external.length === 0
          ? /^[^.]* was not found\. The file "native\/binding\.cjs".* mark "agent-rewind" as external/
          : /npm install/;
      expect(failure).toMatchObject({ ...missing, message: expect.stringMatching(message) });
    }
  },
);

it.each(Object.keys(PROGRAMS))("functions that need no addon load without one, in %s", (program) => {
  expect(load(program, "agent-rewind/openai")).toBe("loaded");
  expect(load(program, "agent-rewind/testing")).toBe("loaded");
});

describe("the command without an addon", () => {
  const rewind = (...args: string[]) => {
    const bin = join(folder, "node_modules/agent-rewind/dist/cli/main.mjs");
    const { status, stdout, stderr } = spawnSync(process.execPath, [bin, ...args], { cwd: folder, encoding: "utf8" });
    return { status, stdout, stderr };
  };

  it.each([["--help"], ["--version"], [], ["inspect", "--help"], ["context", "-h"]])(
    "prints what needs none: %s",
    (...args: string[]) => {
      const printed = rewind(...args);
      expect(printed).toMatchObject({ status: 0, stderr: "" });
      expect(printed.stdout).toMatch(/^(?:Usage: agent-rewind|\d)/);
    },
  );

  it.each([
    ["inspect", "run.json"],
    ["restore", "run.jsonl"],
    ["hash", "app.json"],
    ["context", "show", "log"],
  ])("says in one line what to type: %s", (...args: string[]) => {
    const { status, stdout, stderr } = rewind(...args);
    expect({ status, stdout }).toEqual({ status: 70, stdout: "" });
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
    expect(stderr).toContain(`Run "npm install ${packageName}@${version}".`);
  });

  it.each([["inspect"], ["explode"], ["restore", "a", "--anchor", "x"]])(
    "reports a wrong command line first: %s",
    (...args: string[]) => {
      expect(rewind(...args)).toMatchObject({ status: 2 });
    },
  );

  it("lists the machines that a release has addons for, if this one is not among them", () => {
    const path = join(folder, "node_modules/agent-rewind/package.json");
    const manifest = readFileSync(path, "utf8");
    const names = ["agent-rewind-haiku-x64", "agent-rewind-plan9-arm64"];
    const optionalDependencies = Object.fromEntries(names.map((name) => [name, version]));
    writeFileSync(path, JSON.stringify({ ...(JSON.parse(manifest) as object), optionalDependencies }));
    const { stderr } = rewind("inspect", "run.json");
    writeFileSync(path, manifest);
    expect(stderr).toContain("does not exist. This version has addons for haiku-x64, plan9-arm64.");
    expect(stderr).not.toContain("npm install");
  });
});
