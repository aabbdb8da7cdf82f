// npm run build [-- --debug]: builds everything, whether or not it is up to date.
// npm run build -- --target TRIPLE [FLAGS OF napi build]: builds only the addon for another platform.
import { buildAddon } from "./lib/addon.mjs";
import { buildContract, buildDist } from "./lib/dist.mjs";
import { installDependencies } from "./lib/prepare.mjs";
import { main, step } from "./lib/steps.mjs";

const args = process.argv.slice(2);
const profile = args.includes("--debug") ? "debug" : "release";
const forNapi = args.filter((arg) => arg !== "--debug");

await main(async () => {
  await installDependencies();
  await step(`build the native addon (${profile})`, () => buildAddon({ profile, check: false, args: forNapi }));
  if (forNapi.includes("--target")) return;
  await step("build dist", async () => {
    await buildContract({ check: false });
    await buildDist();
  });
});
