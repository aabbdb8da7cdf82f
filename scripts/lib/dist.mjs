import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isStale } from "./freshness.mjs";
import { writeGenerated } from "./generated.mjs";
import { at, command, readJson, root } from "./paths.mjs";
import { runNode } from "./run.mjs";

const HEADER = `// The public contract of "agent-rewind", generated from ts/index.ts by \`npm run build\`.\n\n`;
const SOURCES = [
  "ts",
  "native/binding.d.cts",
  "scripts/lib/zod-to-json-schema.mjs",
  "tsconfig.json",
  "tsdown.config.ts",
  "package.json",
  "package-lock.json",
];

/** True if dist/ must be built again. */
export const isDistStale = () => isStale(distFiles(), SOURCES);

/**
 * Builds ts/ into dist/.
 *
 * @returns {Promise<void>}
 */
export async function buildDist() {
  try {
    await runNode(command("tsdown"), ["--logLevel", "error"]);
  } catch (error) {
    // An interrupted build must not pass for a fresh one.
    rmSync(at("dist"), { recursive: true, force: true });
    throw error;
  }
}

/**
 * Generates index.d.ts: the declarations behind ts/index.ts in one file, for review.
 *
 * @param {{ check: boolean }} options `check`: the committed file must already be up to date
 */
export async function buildContract({ check }) {
  const { build } = await import("tsdown");
  const outDir = mkdtempSync(join(tmpdir(), "agent-rewind-contract-"));
  try {
    await build({
      config: false,
      cwd: root,
      entry: at("ts/index.ts"),
      outDir,
      dts: { emitDtsOnly: true },
      deps: { neverBundle: [/native\/binding\.cjs$/, "zod"] },
      logLevel: "error",
    });
    const text = readFileSync(join(outDir, "index.d.mts"), "utf8")
      .replaceAll(/^\/\/#.*\n/gm, "")
      // ts/ and dist/ are one level deeper than index.d.ts.
      .replaceAll('"../native/', '"./native/');
    writeGenerated("index.d.ts", `${HEADER}${text.trimEnd()}\n`, { check });
  } finally {
    rmSync(outDir, { recursive: true, force: true });
  }
}

/** Every file of dist/ that `exports` of package.json names. */
function distFiles() {
  const targets = (value) => (typeof value === "string" ? [value] : Object.values(value).flatMap(targets));
  return targets(readJson("package.json").exports).filter((file) => file.startsWith("./dist/"));
}
