import { mkdirSync, mkdtempSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { build } from "rolldown";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** A new folder inside the package, so that programs in it can import the package by its name. */
export function temporaryFolder(): string {
  mkdirSync(join(root, ".tmp"), { recursive: true });
  return mkdtempSync(join(root, ".tmp/test-"));
}

/** Builds a TypeScript file next to the tests into a program that Node.js can run. */
export async function bundleProgram(source: string, folder: string): Promise<string> {
  const file = join(folder, source.replace(/^.*\//, "").replace(/\.ts$/, ".mjs"));
  await build({
    input: join(root, "__test__", source),
    platform: "node",
    external: [/^agent-rewind/, /^node:/, "zod"],
    output: { file, format: "esm" },
    logLevel: "silent",
  });
  return file;
}
