// npm run check:types: fails unless native/binding.* and index.d.ts are what their sources generate.
import { buildAddon } from "./lib/addon.mjs";
import { buildContract } from "./lib/dist.mjs";
import { installDependencies } from "./lib/prepare.mjs";
import { main, step } from "./lib/steps.mjs";

await main(async () => {
  await installDependencies();
  await step("check native/binding.*", () => buildAddon({ profile: "release", check: true }));
  await step("check index.d.ts", () => buildContract({ check: true }));
});
