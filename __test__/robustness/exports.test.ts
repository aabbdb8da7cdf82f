// A panic that reached Node.js would abort the process.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const folder = fileURLToPath(new URL("../../src", import.meta.url));

/** Functions with the attribute `napi`, and its options. */
function exportedFunctions(): { name: string; options: string; isAsync: boolean }[] {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".rs"));
  const sources = files.map((file) => readFileSync(join(folder, file), "utf8"));
  const pattern = /#\[napi(?:\(([^)]*)\))?\]\s*(?:(?:\/\/[^\n]*|#\[[^\n]*\])\s*)*pub (async )?fn (\w+)/g;
  return sources.flatMap((source) =>
    [...source.matchAll(pattern)].map(([, options = "", isAsync, name = ""]) => ({
      name,
      options,
      isAsync: isAsync !== undefined,
    })),
  );
}

it("every napi export catches panics or is async, where napi catches them", () => {
  const functions = exportedFunctions();
  expect(functions.length).toBeGreaterThan(30);
  expect(functions.filter(({ options, isAsync }) => !isAsync && !options.includes("catch_unwind"))).toEqual([]);
});
