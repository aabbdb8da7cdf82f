// npm run set-version: turns the changesets into a new version, the same for npm and Rust.
import { readFileSync, writeFileSync } from "node:fs";
import { at, command, readJson } from "./lib/paths.mjs";
import { run, runNode, runNpm } from "./lib/run.mjs";
import { main, step } from "./lib/steps.mjs";

await main(async () => {
  await step("apply the changesets", () => runNode(command("@changesets/cli", "changeset"), ["version"]));
  const { version } = readJson("package.json");
  await step(`set ${version} for Rust`, async () => {
    const manifest = readFileSync(at("Cargo.toml"), "utf8");
    writeFileSync(at("Cargo.toml"), manifest.replace(/^version = ".*"$/m, `version = "${version}"`));
    await run("cargo", ["update", "--workspace"]);
  });
  await step("update package-lock.json", () => runNpm(["install", "--package-lock-only", "--ignore-scripts"]));
});
