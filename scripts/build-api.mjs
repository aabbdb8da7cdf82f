// npm run api: writes the API report into docs/api-report.
import { buildApiReport } from "./lib/api-report.mjs";
import { installDependencies } from "./lib/prepare.mjs";
import { main, step } from "./lib/steps.mjs";

await main(async () => {
  await installDependencies();
  await step("write docs/api-report", () => buildApiReport({ check: false }));
});
