// node scripts/record-fixtures.mjs: records the corpus of this version into __test__/fixtures/recorded/<version>. What an
// earlier version recorded is evidence that its files are still read, so a folder that exists is never written to.
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { at, readJson } from "./lib/paths.mjs";
import { prepare } from "./lib/prepare.mjs";
import { runNode } from "./lib/run.mjs";
import { main, step } from "./lib/steps.mjs";

await main(async () => {
  const { version } = readJson("package.json");
  const folder = at("__test__/fixtures/recorded", version);
  if (existsSync(folder)) {
    throw new Error(
      `${folder} exists, and recordings of a version are never replaced. Set the next version first (npm run set-version), ` +
        "or delete the folder if its version was never published and never committed.",
    );
  }
  await prepare();
  const temporary = at(".tmp/recorded");
  rmSync(temporary, { recursive: true, force: true });
  mkdirSync(temporary, { recursive: true });
  try {
    const { build } = await import("rolldown");
    const bundle = async (source) => {
      const file = join(temporary, source.replace(/\.ts$/, ".mjs"));
      await build({
        input: at("__test__/recorded", source),
        platform: "node",
        transform: { target: "node20" },
        external: [/^agent-rewind/, /^node:/, "zod", "rolldown"],
        output: { file, format: "esm" },
        logLevel: "silent",
      });
      return file;
    };
    const out = join(temporary, "out");
    await step("record runs", async () => runNode(await bundle("record.ts"), [join(out, "runs")]));
    await step("record tests", async () => runNode(await bundle("record-tests.ts"), [join(out, "tests"), at()]));
    mkdirSync(at("__test__/fixtures/recorded"), { recursive: true });
    renameSync(out, folder);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
});
