import { defineConfig } from "tsdown";
import { readEntryPoints } from "./scripts/lib/entry-points.mjs";
import { inlineZodToJsonSchema } from "./scripts/lib/zod-to-json-schema.mjs";

const { esm, cjs } = readEntryPoints();

export default defineConfig({
  entry: cjs,
  format: { esm: { entry: esm }, cjs: { entry: cjs } },
  outDir: "dist",
  // What entry points share lies in files beside them, not in one per source: those take twice as long to load. Source
  // maps lead back to ts/. "../native/binding.cjs" is where ts/native.ts has it, as long as these files lie in dist/.
  platform: "node",
  target: "node20.19",
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
