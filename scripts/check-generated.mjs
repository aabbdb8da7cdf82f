// npm run check:types: fails unless native/binding.*, index.d.ts and docs/api-report match their sources, and typedoc
// accepts the doc comments.
import { buildApiDocs } from "./lib/api-docs.mjs";
import { buildApiReport } from "./lib/api-report.mjs";
import { buildAddon } from "./lib/addon.mjs";
import { buildContract } from "./lib/dist.mjs";
import { installDependencies } from "./lib/prepare.mjs";
import { main, step } from "./lib/steps.mjs";

await main(async () => {
  await installDependencies();
  await step("check native/binding.*", () => buildAddon({ profile: "release", check: true }));
  await step("check index.d.ts", () => buildContract({ check: true }));
  await step("check docs/api-report", () => buildApiReport({ check: true }));
  await step("check doc comments", () => buildApiDocs({ check: true }));
});
