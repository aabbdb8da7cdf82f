import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { measure } from "../lib/measure.mjs";
import { added } from "../lib/row.mjs";

/** Milliseconds. */
const LIMIT = 300;
const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** Runs the shipped files, not transformed ones. */
export const VITEST_CONFIG = `export default { test: { server: { deps: { external: [/\\/dist\\//, /\\/native\\//] } } } };\n`;
const EMPTY = `import { test } from "vitest";\ntest("does nothing", () => {});\n`;
const HEAD = `import { journalCall } from "agent-rewind";
import { test } from "agent-rewind/vitest";
import { rewindFetch } from "agent-rewind/fetch";
import { expect } from "vitest";
const answer = JSON.stringify({ choices: [{ message: { role: "assistant", content: "x".repeat(1_000) } }] });
const fetch = rewindFetch(async () => new Response(answer, { headers: { "content-type": "application/json" } }));
const request = (index) => ({ model: "m", messages: [{ role: "user", content: "question " + index }] });
const ask = {
  journalCall: (index) => journalCall({ kind: "chat", name: "m", request: request(index) }, () => JSON.parse(answer)),
  rewindFetch: async (index) =>
    (await fetch("http://host/v1/chat/completions", { method: "POST", body: JSON.stringify(request(index)) })).json(),
};
`;
const calls = (name) => `${HEAD}
test("asks 1,000 times", { timeout: 60_000 }, async ({ recording }) => {
  for (let index = 0; index < 1_000; index++) await ask.${name}(index);
  if (process.env.CI) expect(recording).toBeReplayed();
});
`;

/** The same without the package. Shows the share of Node.js itself. */
const MOCKED = `import { test } from "vitest";
const answer = JSON.stringify({ choices: [{ message: { role: "assistant", content: "x".repeat(1_000) } }] });
const fetch = async () => new Response(answer, { headers: { "content-type": "application/json" } });
test("asks 1,000 times", async () => {
  for (let index = 0; index < 1_000; index++) {
    const body = JSON.stringify({ model: "m", messages: [{ role: "user", content: "question " + index }] });
    await (await fetch("http://host/v1/chat/completions", { method: "POST", body })).json();
  }
});
`;

export default async function run({ quick }) {
  mkdirSync(join(ROOT, ".tmp"), { recursive: true });
  const folder = mkdtempSync(join(ROOT, ".tmp/bench-"));
  try {
    const project = (name, text) => {
      const at = join(folder, name);
      mkdirSync(at);
      writeFileSync(join(at, "vitest.config.mjs"), VITEST_CONFIG);
      writeFileSync(join(at, "a.test.mjs"), text);
      return (env) => runVitest(at, env);
    };
    const empty = project("empty", EMPTY);
    const mocked = project("mocked", MOCKED);
    const works = {
      empty: { before() {}, run: () => empty({ CI: "1" }) },
      mocked: { before() {}, run: () => mocked({ CI: "1" }) },
    };
    for (const name of ["journalCall", "rewindFetch"]) {
      const asking = project(name, calls(name));
      await asking({});
      works[name] = { before() {}, run: () => asking({ CI: "1" }) };
    }
    const {
      empty: nothing,
      mocked: byHand,
      ...timings
    } = await measure(works, { seconds: quick ? 1 : 20, atLeast: 3, atMost: 8 });
    const baseline = { name: "an empty test", ...nothing };
    return [
      ...Object.entries(timings).map(([name, timing]) =>
        added(`1,000 replayed calls, ${name}`, timing, baseline, LIMIT),
      ),
      added("1,000 calls of a function that returns a Response", byHand, baseline),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export function runVitest(folder, env) {
  const script = join(ROOT, "node_modules/vitest/vitest.mjs");
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, [script, "run", "--root", folder, "--reporter=dot"], {
    env: { PATH, HOME, ...env },
    cwd: folder,
    stdio: ["ignore", "ignore", "inherit"],
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => (code === 0 ? resolve() : reject(new Error(`vitest ended with ${code}`))));
  });
}
