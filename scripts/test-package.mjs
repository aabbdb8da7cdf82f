// npm run test:package: packs, installs the tarballs in another folder and uses them.
import { command } from "./lib/paths.mjs";
import { runNode } from "./lib/run.mjs";
import { main, step } from "./lib/steps.mjs";

await main(async () => {
  await runNode("scripts/pack.mjs");
  await step("test the packed package", () =>
    runNode(command("vitest"), ["run", "--project=package", ...process.argv.slice(2)]),
  );
});
