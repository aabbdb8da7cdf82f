import { defineConfig } from "tsdown";
import { readEntryPoints } from "./scripts/lib/entry-points.mjs";
import { inlineZodToJsonSchema } from "./scripts/lib/zod-to-json-schema.mjs";

const { esm, cjs } = readEntryPoints();

export default defineConfig({
  entry: cjs,
  format: { esm: { entry: esm }, cjs: { entry: cjs } },
  outDir: "dist",
  platform: "node",
  target: "node20.19",
  // One output per source, at the same depth: stack traces read like ts/, and the path
  // "../native/binding.cjs" needs no rewriting.
  unbundle: true,
  dts: true,
  sourcemap: true,
  // Without it the CommonJS copy would run in sloppy mode: writes to frozen objects would be silent.
  outputOptions: { strict: true },
  deps: {
    neverBundle: [/native\/binding\.cjs$/],
    // dist/node_modules would not be packed: whatever is built in goes through a plugin.
    onlyBundle: [],
  },
  plugins: [inlineZodToJsonSchema()],
  checks: { legacyCjs: false },
});
