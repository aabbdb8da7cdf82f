// npm run bench [-- ARGS]: runs the benchmarks, always on a release build.
import { prepare } from "./lib/prepare.mjs";
import { runNode } from "./lib/run.mjs";
import { main } from "./lib/steps.mjs";

await main(async () => {
  await prepare({ release: true });
  await runNode("bench/run.mjs", process.argv.slice(2));
});
