// A recording contains only the part of a body that the test read.
import { expect, it } from "vitest";

import { modelServer } from "../support/model-server.js";
import { expectPassed, vitestProject } from "../support/vitest-project.js";

const file = (reads: boolean): string => `
import { rewindFetch } from "agent-rewind/fetch";
import { test } from "agent-rewind/vitest";
import { expect } from "vitest";

const fetch = rewindFetch();
test("only the status", async () => {
  const response = await fetch(process.env.SERVER + "/status", { method: "POST" });
  expect(response.status).toBe(202);
  ${reads ? `expect(await response.text()).toBe("text");` : ""}
});
test("only the first piece", async () => {
  const { body } = await fetch(process.env.SERVER + "/endless");
  expect(Buffer.from((await body.getReader().read()).value).toString()).toBe("text");
});
`;

it("a test that reads no more of a body than when it was recorded needs no server", { timeout: 120_000 }, async () => {
  using project = vitestProject({ "a.test.mjs": file(false) });
  await using server = await modelServer(({ path }) => ({ status: 202, body: "text", endless: path === "/endless" }));
  const env = { SERVER: server.url };
  expectPassed(await project.run({ env }));
  expect(server.requests).toHaveLength(2);
  await server.stop();
  expectPassed(await project.run({ env: { ...env, CI: "1" } }));

  project.write("a.test.mjs", file(true));
  const { results, text } = await project.run({ env });
  expect(results).toEqual({ "only the status": "failed", "only the first piece": "passed" });
  expect(text).toContain("its answer was not received, or not read, to its end in the recorded run");
});

const withSnapshot = `
import { existsSync } from "node:fs";
import { runWith } from "agent-rewind";
import { dumpSnapshot, readSnapshot, writeSnapshot } from "agent-rewind/debugger";
import { rewindFetch } from "agent-rewind/fetch";
import { test } from "agent-rewind/vitest";
import { expect } from "vitest";

const fetch = rewindFetch();
const firstPiece = async () => {
  const { body } = await fetch(process.env.SERVER + "/endless");
  return Buffer.from((await body.getReader().read()).value).toString();
};
if (!existsSync("run.json")) {
  await runWith(async () => {
    await firstPiece();
    await writeSnapshot("run.json", dumpSnapshot());
  });
}
const snapshot = await readSnapshot("run.json");
test("resumes a run that was on its way", async () => {
  expect(await runWith(firstPiece, { snapshot })).toBe("text");
});
`;

it("the same for a run with its own snapshot, in every mode", { timeout: 120_000 }, async () => {
  using project = vitestProject({ "a.test.mjs": withSnapshot });
  await using server = await modelServer(() => ({ body: "text", endless: true }));
  const env = { SERVER: server.url };
  expectPassed(await project.run({ env }));
  expect(server.requests).toHaveLength(2);
  for (const mode of ["auto", "replay"]) expectPassed(await project.run({ env: { ...env, AGENT_REWIND_MODE: mode } }));
  expect(server.requests).toHaveLength(2);
});
