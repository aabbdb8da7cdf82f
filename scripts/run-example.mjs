// npm run example [-- ARGS]: runs the files agent, also from a fresh clone.
import { prepare } from "./lib/prepare.mjs";
import { runNode } from "./lib/run.mjs";
import { main } from "./lib/steps.mjs";

await main(async () => {
  await prepare();
  await runNode("examples/files-agent/main.mjs", process.argv.slice(2));
});
