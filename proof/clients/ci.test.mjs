// One test for each client. Recorded without CI, then replayed in CI without a server, with the same values.
import { test } from "agent-rewind/vitest";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { afterAll, expect } from "vitest";
import { startServer } from "./server.mjs";
import { loadProgram, redirectFetch, SUBJECTS } from "./subjects.mjs";

const VALUES = new URL(".results/ci-values.json", import.meta.url);
const isCI = Boolean(process.env.CI);
const values = isCI && existsSync(VALUES) ? JSON.parse(readFileSync(VALUES, "utf8")) : {};

const server = isCI ? undefined : await startServer();
redirectFetch(() => server?.url);
afterAll(async () => {
  await server?.stop();
  if (isCI) return;
  mkdirSync(new URL(".results/", import.meta.url), { recursive: true });
  writeFileSync(VALUES, JSON.stringify(values));
});

for (const name of Object.keys(SUBJECTS)) {
  const { ask, stream } = await loadProgram(name);
  test(name, async () => {
    const value = [await ask("What should I wear?"), ...(await Array.fromAsync(stream("And tomorrow?")))];
    expect(value.length).toBeGreaterThan(2);
    if (isCI) expect(value).toEqual(values[name]);
    else values[name] = value;
  });
}
