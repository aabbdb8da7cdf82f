import { defineConfig } from "tsdown";
import { readEntryPoints } from "./scripts/lib/entry-points.mjs";
import { bundleInterceptors } from "./scripts/lib/interceptors.mjs";
import { inlineZodToJsonSchema } from "./scripts/lib/zod-to-json-schema.mjs";

const { esm, cjs } = readEntryPoints();

export default defineConfig({
  entry: cjs,
  format: { esm: { entry: esm }, cjs: { entry: cjs } },
  outDir: "dist",
  // Code shared by entry points is bundled into shared chunks, because one file per source takes twice as long to load.
  // Source maps point to ts/. "../native/binding.cjs" has the same relative path from dist/ as from ts/native.ts, as
  // long as these files are in dist/ itself.
  platform: "node",
  target: "node20.19",
  dts: true,
  sourcemap: true,
  // Without it, the CommonJS copy would run in sloppy mode, where writes to frozen objects fail silently.
  outputOptions: {
    strict: true,
    // Otherwise the bundler's helpers may end up in a chunk that is loaded lazily, and all others would load it for them.
    codeSplitting: { groups: [{ name: "runtime", test: /rolldown[\\/]runtime/ }] },
  },
  deps: {
    neverBundle: [/native\/binding\.cjs$/],
    // dist/node_modules would not be packed, so every bundled dependency goes through a plugin.
    onlyBundle: [],
  },
  plugins: [inlineZodToJsonSchema(), bundleInterceptors()],
  checks: { legacyCjs: false },
});
