// node scripts/record-fixtures.mjs [folder [program ...]]: records the corpus, or only these programs of it, into
// __test__/fixtures/recorded/<folder>. The default is the version of the package. A change of the formats or a new replay
// flag within a version gets a folder of its own, such as 0.1.0-flag-6. Recordings of earlier versions are evidence that old
// files are still read, so a folder that exists is never written to.
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { at, readJson } from "./lib/paths.mjs";
import { prepare } from "./lib/prepare.mjs";
import { runNode } from "./lib/run.mjs";
import { main, step } from "./lib/steps.mjs";

await main(async () => {
  const { version } = readJson("package.json");
  const [, , name = version, ...programs] = process.argv;
  if (!/^[\w.-]+$/.test(name)) throw new Error(`${name} cannot be the name of a folder of the corpus`);
  const folder = at("__test__/fixtures/recorded", name);
  if (existsSync(folder)) {
    throw new Error(
      `${folder} exists, and recordings are never replaced. Set the next version first (npm run set-version), name another ` +
        "folder, or delete the folder if it was never committed.",
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
    await step("record runs", async () => runNode(await bundle("record.ts"), [join(out, "runs"), ...programs]));
    if (programs.length === 0) {
      await step("record tests", async () => runNode(await bundle("record-tests.ts"), [join(out, "tests"), at()]));
    }
    mkdirSync(at("__test__/fixtures/recorded"), { recursive: true });
    renameSync(out, folder);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
});
