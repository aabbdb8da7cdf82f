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
  dts: true,
  sourcemap: true,
  // Without it the CommonJS copy would run in sloppy mode: writes to frozen objects would be silent.
  outputOptions: {
    strict: true,
    // What entry points share is one file, beside them: a file per source takes twice as long to load, and
    // "../native/binding.cjs" is where ts/native.ts has it. The source maps lead back to ts/.
    codeSplitting: { groups: [{ name: "shared", minShareCount: 2, test: /(?<!\.d)\.[jt]s$/ }] },
  },
  deps: {
    neverBundle: [/native\/binding\.cjs$/],
    // dist/node_modules would not be packed: whatever is built in goes through a plugin.
    onlyBundle: [],
  },
  plugins: [inlineZodToJsonSchema()],
  checks: { legacyCjs: false },
});
