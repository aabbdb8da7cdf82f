import { buildAddon, isAddonStale } from "./addon.mjs";
import { buildContract, buildDist, isDistStale } from "./dist.mjs";
import { isStale } from "./freshness.mjs";
import { readJson } from "./paths.mjs";
import { runNpm } from "./run.mjs";
import { step } from "./steps.mjs";

/**
 * Prepares a clone, fresh or not, so that the built package can be used. Skips everything that is up to date.
 *
 * @param {{ release?: boolean, check?: boolean }} [options]
 *   `release`: a debug build of the addon is not enough.
 *   `check`: generated files must be committed unchanged; the default on CI.
 */
export async function prepare({ release = false, check = Boolean(process.env.CI) } = {}) {
  await installDependencies();
  if (isAddonStale({ release })) {
    await step("build the native addon", () => buildAddon({ profile: "release", check }));
  }
  if (isDistStale()) {
    await step("build dist", async () => {
      await buildContract({ check });
      await buildDist();
    });
  }
}

/** Installs the packages of package-lock.json unless they are installed. */
export async function installDependencies() {
  requireNode();
  if (!isStale(["node_modules/.package-lock.json"], ["package-lock.json"])) return;
  await step("install dependencies", () => runNpm(["ci", "--no-audit", "--no-fund"]));
}

function requireNode() {
  const { node: range } = readJson("package.json").engines;
  const [major, minor] = process.versions.node.split(".").map(Number);
  const [needsMajor, needsMinor] = range.match(/\d+/g).map(Number);
  if (major > needsMajor || (major === needsMajor && minor >= needsMinor)) return;
  throw new Error(`Node.js ${range} is needed, this is ${process.versions.node}`);
}
