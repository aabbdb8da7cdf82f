// The life cycle of a recorded test: recorded, replayed, stale, fixed, missing.
import { expect } from "vitest";

import { chatCompletion, json, modelServer } from "../support/model-server.js";
import { expectPassed, type VitestProject } from "../support/vitest-project.js";

/** A program of tests that send a prompt to the server at `process.env.SERVER`. */
export type Asking = (prompt: string) => string;

const server = () =>
  modelServer(({ path }) => {
    if (path.includes("generateContent")) {
      return json({ candidates: [{ content: { role: "model", parts: [{ text: "three" }] }, finishReason: "STOP" }] });
    }
    return json(path.endsWith("/messages") ? { content: [{ type: "text", text: "two" }] } : chatCompletion("one"));
  });

/**
 * Takes a project with the single test file `a.test.mjs` through the cycle.
 * @param tests the test names; each test makes one request.
 */
export async function liveThrough(project: VitestProject, asking: Asking, tests: readonly string[]): Promise<void> {
  const all = (status: string): Record<string, string> => Object.fromEntries(tests.map((name) => [name, status]));
  project.write("a.test.mjs", asking("first question"));
  await using live = await server();
  const env = { SERVER: live.url };
  const unrecorded = await project.run({ env: { ...env, CI: "1" } });
  expect(unrecorded.results).toEqual(all("failed"));
  for (const name of tests) {
    expect(unrecorded.text).toContain(`RecordingMissingError: There is no recording of the test "${name}"`);
  }
  expect(live.requests).toHaveLength(0);

  expectPassed(await project.run({ env }));
  expect(live.requests).toHaveLength(tests.length);
  await live.stop();
  expectPassed(await project.run({ env }));
  expectPassed(await project.run({ env: { ...env, CI: "1" } }));
  expect(live.requests).toHaveLength(tests.length);

  project.write("a.test.mjs", asking("first question, changed"));
  const { text, results } = await project.run({ env });
  expect(results).toEqual(all("failed"));
  // vitest prints equal failures once, below the names of their tests.
  expect(text).toContain("- first question\n+ first question, changed\n");
  for (const name of tests) expect(text).toContain(` FAIL  a.test.mjs > ${name}\n`);

  await using again = await server();
  expectPassed(await project.run({ env: { SERVER: again.url }, args: ["-u"] }));
  expect(again.requests).toHaveLength(tests.length);
  expectPassed(await project.run({ env: { SERVER: again.url, CI: "1" } }));
  expect(again.requests).toHaveLength(tests.length);
}
