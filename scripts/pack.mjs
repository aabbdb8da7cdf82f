// npm run pack [-- --all]: writes the tarballs to publish into npm/: one for each addon in native/ (a release gathers
// those of all targets there first), and the main one, which has these platform packages as optional dependencies.
// With --all, the addon of every target must be there.
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { bundledModules, linkedCrates, notices } from "./lib/licences.mjs";
import { at, command, readJson } from "./lib/paths.mjs";
import { prepare } from "./lib/prepare.mjs";
import { askNpm, runNode, runNpm } from "./lib/run.mjs";
import { main, step } from "./lib/steps.mjs";

const OUT = "npm";
const LICENCES = ["LICENSE-APACHE", "LICENSE-MIT"];
const NOTICES = "THIRD-PARTY-NOTICES.txt";

await main(async () => {
  await prepare({ release: true });
  rmSync(at(OUT), { recursive: true, force: true });
  const platforms = await createPlatformFolders();
  const packed = platforms.filter(addAddon);
  const absent = platforms.filter((folder) => !packed.includes(folder));
  if (process.argv.includes("--all") && absent.length > 0) throw new Error(`no addon for ${absent.join(", ")}`);
  for (const folder of packed) await step(`pack ${folder}`, () => pack(folder));
  const folder = await createMainFolder(packed);
  await step(`pack ${folder}`, () => pack(folder));
});

/** A folder with a package.json for each target. */
async function createPlatformFolders() {
  await runNode(command("@napi-rs/cli", "napi"), ["create-npm-dirs", "--npm-dir", OUT]);
  return readdirSync(at(OUT)).map((name) => `${OUT}/${name}`);
}

/** Copies the addon, the licenses and the notices of its crates into a platform's folder. Returns false if the addon is not built. */
function addAddon(folder) {
  const manifest = readJson(folder, "package.json");
  if (!existsSync(at("native", manifest.main))) return false;
  copyFileSync(at("native", manifest.main), at(folder, manifest.main));
  for (const name of LICENCES) copyFileSync(at(name), at(folder, name));
  writeFileSync(at(folder, NOTICES), notices(linkedCrates()));
  writeJson(folder, { ...manifest, files: [...manifest.files, ...LICENCES, NOTICES] });
  return true;
}

/** A copy of the files that npm would pack here, with a package.json for users. */
async function createMainFolder(platforms) {
  const folder = `${OUT}/main`;
  const listed = JSON.parse(await askNpm(["pack", "--dry-run", "--json", "--ignore-scripts"]));
  const [{ files }] = Object.values(listed);
  for (const { path } of files) {
    mkdirSync(dirname(at(folder, path)), { recursive: true });
    copyFileSync(at(path), at(folder, path));
  }
  const { scripts, devDependencies, napi, ...manifest } = readJson("package.json");
  writeFileSync(at(folder, NOTICES), notices(bundledModules()));
  writeFileSync(at(folder, "README.md"), withAbsoluteLinks(readFileSync(at("README.md"), "utf8"), manifest));
  const names = platforms.map((platform) => readJson(platform, "package.json").name);
  const optionalDependencies = Object.fromEntries(names.map((name) => [name, manifest.version]));
  writeJson(folder, { ...manifest, files: [...manifest.files, NOTICES], optionalDependencies });
  return folder;
}

/** Links to files of the repository lead to its page, because npm shows the README without these files. */
function withAbsoluteLinks(text, { homepage }) {
  const base = `${homepage.replace(/#.*/, "")}/blob/main/`;
  return text.replaceAll(/\]\((?!https?:|#)([^)]+)\)/g, (_, path) => `](${base}${path})`);
}

function writeJson(folder, manifest) {
  writeFileSync(at(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
}

function pack(folder) {
  const options = ["--pack-destination", OUT, "--ignore-scripts", "--loglevel=error"];
  return runNpm(["pack", `./${folder}`, ...options]);
}
