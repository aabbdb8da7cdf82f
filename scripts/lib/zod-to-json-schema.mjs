import { readFileSync } from "node:fs";
import { rolldown } from "rolldown";
import { ZodFirstPartyTypeKind } from "zod/v3";
import { at, readJson } from "./paths.mjs";

const NAME = "zod-to-json-schema";
/** The npm modules whose code is in dist/. */
export const BUNDLED = [NAME];
const INLINED = at("ts/vendor", `${NAME}.js`);
const ENTRY = "\0entry";
const ZOD = "\0zod";

/**
 * Builds zod-to-json-schema into dist/vendor/ as one file without imports.
 *
 * As a dependency, its mandatory peer zod would be installed for everybody. At run time it needs only one enum of
 * strings from zod.
 *
 * @returns {import("rolldown").Plugin}
 */
export function inlineZodToJsonSchema() {
  return {
    name: "inline-zod-to-json-schema",
    resolveId: (source) => (source === NAME ? INLINED : null),
    load: async (id) => (id === INLINED ? `${licence()}\n${await bundle()}` : null),
  };
}

async function bundle() {
  const modules = {
    [ENTRY]: `export { ignoreOverride, zodToJsonSchema } from "${NAME}";`,
    [ZOD]: `export const ZodFirstPartyTypeKind = ${JSON.stringify(ZodFirstPartyTypeKind)};`,
  };
  const virtual = {
    name: "virtual-modules",
    resolveId: (source) => (source === ENTRY ? ENTRY : source === "zod/v3" ? ZOD : null),
    load: (id) => modules[id] ?? null,
  };
  const build = await rolldown({ cwd: at(), input: ENTRY, plugins: [virtual] });
  try {
    const { output } = await build.generate({ format: "esm", comments: false });
    return output[0].code;
  } finally {
    await build.close();
  }
}

/** Its license requires its text in every copy. */
function licence() {
  const { version } = readJson("node_modules", NAME, "package.json");
  const text = readFileSync(at("node_modules", NAME, "LICENSE"), "utf8").trim();
  return `/*! ${NAME} ${version}\n\n${text}\n*/`;
}
