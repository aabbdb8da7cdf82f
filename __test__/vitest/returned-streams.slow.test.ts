// Tests of functions that return a stream from a run, as web handlers do.
import { expect, it } from "vitest";

import { modelServer } from "../support/model-server.js";
import { expectPassed, vitestProject } from "../support/vitest-project.js";

const file = `
import { journalCall, runWith } from "agent-rewind";
import { rewindFetch } from "agent-rewind/fetch";
import { test } from "agent-rewind/vitest";
import { expect } from "vitest";

const fetch = rewindFetch();
const handler = () => runWith(() => fetch(process.env.SERVER + "/body"));
const turn = () => new Promise((resolve) => setImmediate(resolve));
const step = (name) =>
  journalCall({ kind: "step", name, request: {} }, async () => {
    await new Promise((resolve) => setTimeout(resolve, 5));
    return name;
  });

test("reads the stream", async ({ recording }) => {
  const response = await handler();
  expect(await response.text()).toBe("text");
  expect(recording.calls).toMatchObject([{ kind: "fetch" }]);
});
test("reads the stream in the background", async () => {
  const values = await runWith(async function* () {
    yield await step("one");
    yield await step(process.env.SECOND ?? "two");
  });
  void (async () => {
    for await (const value of values) expect(value).toBeDefined();
  })().catch(() => {});
});
test("does not read the stream", async () => {
  expect((await handler()).status).toBe(202);
});
`;

it("are recorded until the stream was read, and replayed", { timeout: 120_000 }, async () => {
  using project = vitestProject({ "a.test.mjs": file });
  await using server = await modelServer(() => ({ status: 202, body: "text" }));
  const env = { SERVER: server.url };
  expectPassed(await project.run({ env }));
  expect(server.requests).toHaveLength(2);
  const lines = Object.values(project.recordings()).join("");
  for (const name of ["one", "two"]) expect(lines).toContain(`"output":"${name}"`);
  await server.stop();
  expectPassed(await project.run({ env: { ...env, CI: "1" } }));

  // A miss after the function of the run has returned.
  const { results, text } = await project.run({ env: { ...env, CI: "1", SECOND: "other" } });
  expect(results).toMatchObject({ "reads the stream": "passed", "reads the stream in the background": "failed" });
  expect(text).toContain("RecordingStaleError");
});
