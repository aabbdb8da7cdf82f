import { defineConfig } from "vitest/config";

export default defineConfig({
  test: { include: ["ci.test.mjs"], testTimeout: 30_000, server: { deps: { external: [/\/dist\//, /\/native\//] } } },
});
