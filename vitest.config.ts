import { defineConfig } from "vitest/config";

const PACKAGE = "__test__/package/**/*.test.ts";
const SLOW = "__test__/**/*.slow.test.ts";
const NEWEST = "__test__/package/newest.test.ts";
const NODE22 = "__test__/**/*.node22.test.ts";

export default defineConfig({
  test: {
    // Tests import the package by its own name. They run the shipped files, not transformed ones.
    server: { deps: { external: [/\/dist\//, /\/native\//] } },
    projects: [
      {
        extends: true,
        // Timeouts are for tests that hang, not for slow machines.
        test: {
          name: "fast",
          testTimeout: 20_000,
          include: ["__test__/**/*.test.ts"],
          exclude: [PACKAGE, SLOW, NODE22],
        },
      },
      {
        extends: true,
        // Files that take more than two seconds each: they start many processes, prove generated programs, or measure
        // memory and scale.
        test: { name: "slow", testTimeout: 60_000, include: [SLOW], exclude: [PACKAGE] },
      },
      {
        extends: true,
        // What needs Node.js 22.15 or later. `npm test` runs it on a newer Node.js.
        test: { name: "node22", include: [NODE22], testTimeout: 60_000 },
      },
      {
        extends: true,
        // Installs the tarballs of `npm run pack` and starts compilers.
        test: { name: "package", include: [PACKAGE], exclude: [NEWEST], testTimeout: 180_000 },
      },
      {
        extends: true,
        // Uses the packages that `npm run test:newest` installed.
        test: { name: "newest", include: [NEWEST], testTimeout: 180_000 },
      },
    ],
  },
});
