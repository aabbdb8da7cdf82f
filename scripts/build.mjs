// npm run build [-- --debug]: builds everything, whether it is up to date or not.
import { buildAddon } from "./lib/addon.mjs";
import { buildContract, buildDist } from "./lib/dist.mjs";
import { installDependencies } from "./lib/prepare.mjs";
import { main, step } from "./lib/steps.mjs";

const profile = process.argv.includes("--debug") ? "debug" : "release";

await main(async () => {
  await installDependencies();
  await step(`build the native addon (${profile})`, () => buildAddon({ profile, check: false }));
  await step("build dist", async () => {
    await buildContract({ check: false });
    await buildDist();
  });
});
