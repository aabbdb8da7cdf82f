import { defineConfig } from "tsdown";
import { inlineZodToJsonSchema } from "./scripts/lib/zod-to-json-schema.mjs";

const ENTRIES = {
  index: "ts/index.ts",
  debugger: "ts/debugger.ts",
  "ai-sdk/index": "ts/ai-sdk/index.ts",
  "fetch/index": "ts/fetch/index.ts",
};

export default defineConfig({
  // vitest itself cannot be required.
  entry: ENTRIES,
  format: { esm: { entry: { ...ENTRIES, "vitest/index": "ts/vitest/index.ts" } }, cjs: {} },
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
