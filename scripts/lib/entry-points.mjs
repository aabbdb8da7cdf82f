import { readJson } from "./paths.mjs";

/**
 * The entry points that `exports` and `bin` of package.json name, as output names in dist/ with their sources.
 *
 * @returns {{ esm: Record<string, string>, cjs: Record<string, string> }} such as `"fetch/index": "ts/fetch/index.ts"`,
 *   by the formats that they are built in
 */
export function readEntryPoints() {
  const { exports, bin = {} } = readJson("package.json");
  const targets = Object.values(exports).filter((target) => typeof target === "object");
  return {
    esm: named([...targets.map((target) => fileOf(target.import)), ...Object.values(bin)]),
    // An entry point that integrates an ESM-only package is ESM only.
    cjs: named(targets.flatMap((target) => (target.require === undefined ? [] : [fileOf(target.require)]))),
  };
}

const fileOf = (target) => (typeof target === "string" ? target : target.default);

function named(files) {
  const names = files.map((file) => file.replace(/^\.\/dist\//, "").replace(/\.[cm]?js$/, ""));
  return Object.fromEntries(names.map((name) => [name, `ts/${name}.ts`]));
}
