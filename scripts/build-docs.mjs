// npm run docs: writes the API reference into docs/api, which is not in git.
import { buildApiDocs } from "./lib/api-docs.mjs";
import { installDependencies } from "./lib/prepare.mjs";
import { main, step } from "./lib/steps.mjs";

await main(async () => {
  await installDependencies();
  await step("write docs/api", () => buildApiDocs({ check: false }));
});
