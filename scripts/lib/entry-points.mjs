import { readJson } from "./paths.mjs";

/**
 * The sources of the entry points that `exports` and `bin` of package.json name.
 *
 * @returns {{ both: string[], esmOnly: string[] }} relative to the root: those that can be required too, and the others
 */
export function readSources() {
  const { exports, bin = {} } = readJson("package.json");
  const both = [];
  const esmOnly = Object.values(bin).map(sourceOf);
  for (const conditions of Object.values(exports)) {
    if (typeof conditions === "string") continue;
    const output = conditions.import?.default ?? conditions.default;
    (conditions.require === undefined ? esmOnly : both).push(sourceOf(output));
  }
  return { both, esmOnly };
}

const sourceOf = (output) => output.replace(/^(\.\/)?dist\//, "ts/").replace(/\.m?js$/, ".ts");
