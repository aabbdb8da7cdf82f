// Recordings never mix between concurrent tests, parallel files and pools, and equal runs write equal bytes.
import { expect, it } from "vitest";

import { modelServer } from "../support/model-server.js";
import { expectPassed, vitestProject, type VitestProject } from "../support/vitest-project.js";

const SLOW = { timeout: 240_000 };

/**
 * Each test requests its own paths and shared ones, sequentially and in parallel. The responses arrive out of order.
 */
const FILE = (tests: number): string => `
import { createAgent, journalCall, runFrame, runWith } from "agent-rewind";
import { rewindFetch } from "agent-rewind/fetch";
import { test } from "agent-rewind/vitest";
import { expect } from "vitest";

const fetch = rewindFetch();
const ask = async (path) => (await fetch(process.env.SERVER + path)).text();
const agent = createAgent({ id: "asker", handler: async ({ path }) => ask(path) });

test.concurrent.for(Array.from({ length: ${tests} }, (_, index) => index))("test %i", async (index, { task }) => {
  const own = "/" + task.file.name + "/" + index;
  expect(await ask(own)).toBe("got " + own);
  const all = await Promise.all([ask("/all"), agent({ path: own + "/agent" }), ask("/all"), ask(own + "/last")]);
  expect(all.slice(1, 2)).toEqual(["got " + own + "/agent"]);
  const run = await runWith(() => runFrame({ id: "frame", input: { index } }, () => ask(own + "/frame")));
  expect(run).toBe("got " + own + "/frame");
});
`;

function mainFiles(project: VitestProject): Record<string, string> {
  return Object.fromEntries(Object.entries(project.recordings()).filter(([path]) => !path.includes(".timing.")));
}

const answering = () => modelServer(({ path }) => ({ body: `got ${path}`, cut: 1 + (path.length % 5) }));

it.each([
  { pool: "forks", count: 20 },
  { pool: "threads", count: 5 },
  { pool: "vmThreads", count: 5 },
])("$count files in parallel in the pool $pool", SLOW, async ({ pool, count }) => {
  const files = Array.from({ length: count }, (_, index) => [`file-${index}.test.mjs`, FILE(5)] as const);
  using project = vitestProject(Object.fromEntries(files));
  await using server = await answering();
  const run = (args: string[] = [], env: Record<string, string> = {}) =>
    project.run({ args: [`--pool=${pool}`, "--testTimeout=60000", ...args], env: { SERVER: server.url, ...env } });
  const first = await run();
  expectPassed(first);
  const recorded = mainFiles(project);
  expect(Object.keys(recorded)).toHaveLength(count * 5);
  for (const [path, text] of Object.entries(recorded)) {
    const [, file = "", index = ""] = /__recordings__\/(.*)\/test-(\d+)\.jsonl$/.exec(path) ?? [];
    // Only its own paths and the shared ones.
    const paths = [...text.matchAll(/"url":"http:\/\/[^/]+([^"]*)"/g)].map(([, url]) => url);
    const own = `/${file}/${index}`;
    expect(paths.toSorted()).toEqual([own, "/all", `${own}/agent`, "/all", `${own}/last`, `${own}/frame`].toSorted());
  }
  const requests = server.requests.length;
  expect(requests).toBe(count * 5 * 6);
  expect((await run()).code).toBe(0);
  expect(server.requests).toHaveLength(requests);
  const written = project.recordings();
  expect((await run(["-u"])).code).toBe(0);
  expect(server.requests).toHaveLength(requests);
  expect(project.recordings()).toEqual(written);
  expect((await run([], { AGENT_REWIND_MODE: "record" })).code).toBe(0);
  expect(server.requests).toHaveLength(2 * requests);
  expect(mainFiles(project)).toEqual(recorded);
});

it("200 concurrent tests of one file", SLOW, async () => {
  using project = vitestProject({ "a.test.mjs": FILE(200) });
  await using server = await answering();
  const run = (env: Record<string, string> = {}) =>
    project.run({
      args: ["--maxConcurrency=200", "--testTimeout=60000"],
      env: { SERVER: server.url, ...env },
    });
  const first = await run();
  expectPassed(first);
  const recorded = mainFiles(project);
  expect(Object.keys(recorded)).toHaveLength(200);
  expect((await run({ AGENT_REWIND_MODE: "record" })).code).toBe(0);
  expect(server.requests).toHaveLength(2_400);
  expect(mainFiles(project)).toEqual(recorded);
  await server.stop();
  const replayed = await run();
  expectPassed(replayed);
});

it("files that share their modules (no isolation)", SLOW, async () => {
  const files = Array.from({ length: 4 }, (_, index) => [`file-${index}.test.mjs`, FILE(3)] as const);
  using project = vitestProject(Object.fromEntries(files));
  await using server = await answering();
  const run = () => project.run({ args: ["--no-isolate", "--maxWorkers=1"], env: { SERVER: server.url } });
  expect((await run()).code).toBe(0);
  expect(Object.keys(mainFiles(project))).toHaveLength(12);
  await server.stop();
  expect((await run()).code).toBe(0);
});
