import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { install, mainTarball, packageJson, readManifest, runTool, tarballs, type Consumer } from "./consumer.js";

const NOTICES = "THIRD-PARTY-NOTICES.txt";
const RECORDED_ONCE = { calls: 1, sums: [3, 3] };

const installed = ({ folder }: Consumer): string => join(folder, "node_modules", packageJson.name);

test("contains the build and nothing else", () => {
  const folder = installed(install({ platform: true }));
  expect(readdirSync(folder).toSorted()).toEqual([
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "THIRD-PARTY-NOTICES.txt",
    "dist",
    "index.d.ts",
    "native",
    "package.json",
  ]);
  expect(readdirSync(join(folder, "native")).toSorted()).toEqual(["binding.cjs", "binding.d.cts"]);
});

test("contains an addon of less than 4,000,000 bytes", () => {
  const { folder } = install({ platform: true });
  const packages = readdirSync(join(folder, "node_modules")).filter((name) => name.startsWith(`${packageJson.name}-`));
  const addons = packages.flatMap((name) =>
    readdirSync(join(folder, "node_modules", name))
      .filter((file) => file.endsWith(".node"))
      .map((file) => join(folder, "node_modules", name, file)),
  );
  expect(addons).toHaveLength(packages.length);
  expect(addons).not.toEqual([]);
  expect(addons.filter((addon) => statSync(addon).size >= 4_000_000)).toEqual([]);
});

test("names the packed platform packages and runs nothing at install", () => {
  const manifest = readManifest(installed(install({ platform: true })));
  const platforms = Object.entries(manifest.optionalDependencies ?? {});
  const packed = tarballs.filter((tarball) => tarball !== mainTarball).map((tarball) => basename(tarball));
  expect(packed).not.toEqual([]);
  expect(platforms.map(([name, version]) => `${name}-${version}.tgz`).toSorted()).toEqual(packed.toSorted());
  for (const [name, version] of platforms) {
    expect(name).toMatch(/^agent-rewind-(linux|darwin|win32)-(x64|arm64)/);
    expect(version).toBe(packageJson.version);
  }
  expect(manifest.dependencies).toBeUndefined();
  expect(manifest.scripts).toBeUndefined();
});

test("names its repository, and links in its README lead there or to other pages", () => {
  const folder = installed(install({ platform: true }));
  const page = "https://github.com/agent-rewind/agent-rewind";
  expect(readManifest(folder)).toMatchObject({
    repository: { type: "git", url: `git+${page}.git` },
    homepage: `${page}#readme`,
    bugs: { url: `${page}/issues` },
  });
  const readme = readFileSync(join(folder, "README.md"), "utf8");
  const links = [...readme.matchAll(/\]\(([^)]+)\)/g)].map(([, link]) => link as string);
  expect(links.length).toBeGreaterThan(20);
  expect(links.filter((link) => !/^(?:https?:|#)/.test(link))).toEqual([]);
  const files = links.filter((link) => link.startsWith(`${page}/blob/main/`));
  expect(files.length).toBeGreaterThan(20);
  // Each file is in the repository.
  for (const file of files) {
    const path = file.slice(`${page}/blob/main/`.length).replace(/#.*/, "");
    expect({ path, exists: existsSync(new URL(`../../${path}`, import.meta.url)) }).toEqual({ path, exists: true });
  }
});

test("contains the notices of the code that it contains", () => {
  const consumer = install({ platform: true });
  const main = readFileSync(join(installed(consumer), NOTICES), "utf8");
  expect(main).toMatch(/^- zod-to-json-schema \d+\.\d+\.\d+: ISC$/m);
  expect(main).toContain("Permission to use, copy, modify");
  const [platform] = Object.keys(readManifest(installed(consumer)).optionalDependencies ?? {});
  const addon = readFileSync(join(consumer.folder, "node_modules", platform as string, NOTICES), "utf8");
  for (const crate of ["napi", "sha2", "serde_json", "rpds", "memchr", "simdutf8"])
    expect(addon).toMatch(new RegExp(`^- ${crate} \\d+\\.\\d+\\.\\d+: .*(?:MIT|Apache-2\\.0|MPL)`, "m"));
  expect(addon).toContain("Apache License");
  expect(addon).toContain("Permission is hereby granted, free of charge");
  expect(addon).not.toMatch(/proptest|contains no text/);
});

test("loads without zod and openai, with the same names by import and require", () => {
  const names = install({ platform: true }).run("names.mjs");
  expect(names).toMatchObject({
    import: {
      core: expect.arrayContaining(["runWith", "callTool"]) as string[],
      debugger: expect.arrayContaining(["dumpSnapshot", "restoreSnapshot"]) as string[],
      openai: ["OpenAIModelError", "createOpenAIModel", "isOpenAIModelError"],
      testing: ["MockModelError", "createMockModel", "isMockModelError", "withRecording"],
      fetch: ["rewindFetch"],
      context: expect.arrayContaining(["ContextManager", "verifyPayload"]) as string[],
      redact: expect.arrayContaining(["createRedactor"]) as string[],
      audit: expect.arrayContaining(["openAuditLog", "verifyLog"]) as string[],
      "ai-sdk": ["rewindEmbeddingModel", "rewindMiddleware", "wrapTools"],
      integration: expect.arrayContaining(["Tap", "ambientContext", "journalStreamed", "journaled"]) as string[],
      mcp: ["McpCallEndedError", "isMcpCallEndedError", "rewindClients", "rewindTransport"],
      store: ["durable", "openStore", "postgresStore", "sqliteStore"],
      tools: ["wrapTools"],
    },
  });
  const { import: imported, require: required } = names as Record<string, unknown>;
  expect(required).toEqual(imported);
});

test.each(["zod", "zod3"])("records and replays a run with %s", (zod) => {
  const consumer = install({ platform: true, others: { zod } });
  expect(consumer.run("esm.mjs")).toEqual(RECORDED_ONCE);
  expect(consumer.run("cjs.cjs")).toEqual(RECORDED_ONCE);
  expect(consumer.run("mixed.mjs")).toEqual(RECORDED_ONCE);
});

test.each([
  { zod: "zod", module: "node16", resolution: "node16", files: ["types.mts", "types.cts"] },
  { zod: "zod3", module: "preserve", resolution: "bundler", files: ["types.mts"] },
  { zod: undefined, module: "nodenext", resolution: "nodenext", files: ["types-without-zod.mts"] },
])("type-checks with $zod and module $module", ({ zod, module, resolution, files }) => {
  const others = { "@types/node": "@types/node", ...(zod && { zod }) };
  const { folder } = install({ platform: true, others });
  const options = ["--noEmit", "--strict", "--skipLibCheck", "false", "--target", "es2022"];
  const modules = ["--module", module, "--moduleResolution", resolution, "--types", "node"];
  const checked = runTool("typescript/bin/tsc", [...options, ...modules, ...files], folder);
  expect(checked).toEqual({ code: 0, text: "" });
});

test("names the platform package to install if it is missing", () => {
  const { platform, arch } = process;
  expect(install({ platform: false }).run("missing.cjs")).toEqual({
    code: "ERR_REWIND_NATIVE_MISSING",
    message: expect.stringContaining(`${packageJson.name}-${platform}-${arch}`) as string,
  });
});

test("installs a command", () => {
  const folder = installed(install({ platform: true }));
  const command = join(folder, readManifest(folder).bin?.[packageJson.name] as string);
  expect(execFileSync(process.execPath, [command, "--version"], { encoding: "utf8" })).toBe(`${packageJson.version}\n`);
});

test("passes publint", () => {
  const { text } = runTool("publint/src/cli.js", ["run", mainTarball, "--strict"]);
  expect(text).toContain("All good!");
});

test("passes attw: its types resolve everywhere", () => {
  const attw = (...args: string[]) => runTool("@arethetypeswrong/cli/dist/index.js", [...args, mainTarball]);
  // vitest itself cannot be loaded by require, and the others wrap the one process once.
  const esm = ["vitest", "vitest/setup", "instrument", "register"];
  expect(attw("--exclude-entrypoints", ...esm, "--profile=node16")).toMatchObject({ code: 0 });
  expect(attw("--entrypoints", ...esm, "--profile=esm-only")).toMatchObject({ code: 0 });
});
