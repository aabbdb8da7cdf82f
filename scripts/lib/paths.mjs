import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The root of the repository. */
export const root = fileURLToPath(new URL("../../", import.meta.url));

/** The path of a file given relative to the root. */
export const at = (...parts) => join(root, ...parts);

/** Reads a JSON file given relative to the root. */
export const readJson = (...parts) => JSON.parse(readFileSync(at(...parts), "utf8"));

/** The script of a command of an installed package. Needs no shell, and no `.cmd` on Windows. */
export function command(packageName, name = packageName) {
  const { bin } = readJson("node_modules", packageName, "package.json");
  return at("node_modules", packageName, typeof bin === "string" ? bin : bin[name]);
}
