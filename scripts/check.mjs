// npm run check: formatting, lints and types. `npm run format` fixes the formatting.
import { at, command } from "./lib/paths.mjs";
import { prepare } from "./lib/prepare.mjs";
import { ChildFailed, run, runNode } from "./lib/run.mjs";
import { main, step } from "./lib/steps.mjs";

const cargo = (...args) => run("cargo", args);
const node = (packageName, ...args) => runNode(command(packageName, NAMES[packageName]), args);
const NAMES = { typescript: "tsc" };

const checks = {
  "cargo fmt": () => cargo("fmt", "--all", "--check"),
  "cargo clippy": () =>
    cargo("clippy", "--package=agent-rewind-core", "--all-targets", "--all-features", "--", "--deny=warnings"),
  // The exports are registered only outside of tests, so they seem unused in tests.
  "cargo clippy of the binding": () => cargo("clippy", "--package=agent-rewind", "--lib", "--", "--deny=warnings"),
  "rooms of the core": () => runNode(at("scripts/check-rooms.mjs")),
  oxfmt: () => node("oxfmt", "--check"),
  oxlint: () => node("oxlint", "--type-aware", "--deny-warnings"),
  "arrows between the rooms of ts/": () => runNode("scripts/check-arrows-ts.mjs"),
  tsc: () => node("typescript"),
  licences: () => runNode("scripts/check-licences.mjs"),
  "tsc of the tests": () => node("typescript", "--project", "__test__"),
};

await main(async () => {
  // The tests take their types from dist/.
  await prepare();
  const failed = [];
  for (const [name, check] of Object.entries(checks)) {
    await step(name, check).catch((error) => {
      if (!(error instanceof ChildFailed) || error.signal) throw error;
      failed.push(name);
    });
  }
  if (failed.length > 0) throw new Error(`failed: ${failed.join(", ")}`);
});
