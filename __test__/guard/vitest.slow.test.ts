// The network guard in a separate vitest project.
import { expect, it } from "vitest";

import { expectPassed, vitestProject } from "../support/vitest-project.js";
import { otherProcess } from "./support.js";

const SLOW = { timeout: 120_000 };

const PROGRAM = `
import http from "node:http";
import { rewindFetch } from "agent-rewind/fetch";
import { recordingTest, test, withRecording } from "agent-rewind/vitest";
import { afterEach, beforeAll, beforeEach, describe, expect, test as plain } from "vitest";

const url = process.env.SERVER;
const get = (path) => new Promise((resolve, reject) => {
  http.get(url + path, (response) => response.on("data", (chunk) => resolve(String(chunk)))).on("error", reject);
});
const recorded = rewindFetch();
const ask = async (path) => (await recorded(url + path)).text();
`;

it("reports while a test is recorded, refuses in a replay and in CI", SLOW, async () => {
  using servers = await otherProcess();
  using project = vitestProject({
    "a.test.mjs": `${PROGRAM}
test("asks both", async () => {
  await ask("/recorded");
  await fetch(url + "/unseen").catch(() => {});
  await get("/unseen").catch(() => {});
});
`,
  });
  const env = { SERVER: servers.http };
  const first = await project.run({ env });
  expectPassed(first);
  expect(await servers.received()).toEqual(["GET /recorded", "GET /unseen", "GET /unseen"]);
  const host = new URL(servers.http).host;
  expect(first.text.match(/is not recorded: a replay refuses it/g)).toHaveLength(1);
  expect(first.text).toContain(`agent-rewind: GET ${host}/unseen (sent by a.test.mjs:`);
  for (const ci of [{}, { CI: "1" }]) {
    const again = await project.run({ env: { ...env, ...ci } });
    expect(again.results).toEqual({ "asks both": "failed" });
    expect(again.text).toContain("UnrecordedRequestError");
    expect(again.text).toContain(`allowHosts: ["${host}"]`);
    expect(await servers.received()).toEqual([]);
  }
  const recording = await project.run({ env: { ...env, CI: "1", AGENT_REWIND_MODE: "record" } });
  expect(recording.results).toEqual({ "asks both": "failed" });
  expect(await servers.received()).toEqual(["GET /recorded"]);
});

it("leaves hooks and tests without a recording alone, also next to recorded ones", SLOW, async () => {
  using servers = await otherProcess();
  using project = vitestProject({
    "a.test.mjs": `${PROGRAM}
beforeAll(() => get("/beforeAll"));
beforeEach(() => get("/beforeEach"));
afterEach(() => get("/afterEach"));
test("recorded", () => ask("/recorded"));
plain("plain", () => get("/plain"));
describe.concurrent("together", () => {
  let bothRun;
  const plainRuns = new Promise((resolve) => (bothRun = resolve));
  let done;
  const plainIsDone = new Promise((resolve) => (done = resolve));
  test("recorded", async () => {
    await ask("/first");
    await plainRuns;
    await plainIsDone;
    await ask("/second");
  });
  plain("plain", async () => {
    bothRun();
    await get("/plain");
    done();
  });
});
plain("wrapped", withRecording(() => ask("/wrapped")));
`,
  });
  const env = { SERVER: servers.http };
  expectPassed(await project.run({ env }));
  expect(await servers.received()).toContain("GET /recorded");
  const again = await project.run({ env: { ...env, CI: "1" } });
  expectPassed(again);
  const received = await servers.received();
  expect([...new Set(received)].toSorted()).toEqual([
    "GET /afterEach",
    "GET /beforeAll",
    "GET /beforeEach",
    "GET /plain",
  ]);
  expect(received.filter((request) => request === "GET /plain")).toHaveLength(2);
});

it("takes allowHosts and network from the options of a test function", SLOW, async () => {
  using servers = await otherProcess();
  using project = vitestProject({
    "a.test.mjs": `${PROGRAM}
const vectors = recordingTest(plain, { allowHosts: [new URL(url).host] });
vectors("listed", async () => {
  await ask("/recorded");
  expect(await get("/listed")).toBe("{}");
});
const open = recordingTest(plain, { network: "report" });
open("reported", async () => {
  await ask("/recorded");
  expect(await get("/reported")).toBe("{}");
});
recordingTest(plain, { network: "none" })("wrong", () => {});
`,
  });
  const env = { SERVER: servers.http };
  await project.run({ env });
  await servers.received();
  const again = await project.run({ env: { ...env, CI: "1" } });
  expect(again.results).toEqual({ listed: "passed", reported: "passed", wrong: "failed" });
  expect(again.text).toContain('recording: options.network must be one of "refuse", "report", "allow"');
  expect((await servers.received()).toSorted()).toEqual(["GET /listed", "GET /reported"]);
});
