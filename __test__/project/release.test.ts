import { readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, it } from "vitest";

const root = join(import.meta.dirname, "../..");
const text = (path: string): string => readFileSync(join(root, path), "utf8");
const manifest = JSON.parse(text("package.json")) as { version: string; napi: { targets: string[] } };

it("a release builds exactly the platforms that the package names", () => {
  const built = [...text(".github/workflows/release.yml").matchAll(/^ {10}- target: (\S+)$/gm)].map(
    (match) => match[1],
  );
  expect(new Set(built)).toEqual(new Set(manifest.napi.targets));
});

it("npm and Cargo name the same version", () => {
  expect(/^version = "(.*)"$/m.exec(text("Cargo.toml"))?.[1]).toBe(manifest.version);
});
