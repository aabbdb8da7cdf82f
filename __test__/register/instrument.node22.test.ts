import http from "node:http";

import { replay, runWith } from "agent-rewind";
import { dumpSnapshot } from "agent-rewind/debugger";
import { instrument } from "agent-rewind/instrument";
import { Pool } from "undici8";
import { expect, onTestFinished, test } from "vitest";

import { vitestProject } from "../support/vitest-project.js";
import { modelServer } from "./support.js";

const get = (url: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const read = (response: http.IncomingMessage): void => {
      let text = "";
      response.setEncoding("utf8").on("data", (part) => (text += part));
      response.on("end", () => resolve(text));
    };
    http.get(url, read).on("error", reject);
  });

test("runs are recorded while the process is instrumented, and not afterwards", async () => {
  const server = await modelServer();
  const { fetch: original } = globalThis;
  const undo = instrument();
  onTestFinished(undo);
  expect(() => instrument()).toThrow("instrumented already");
  const ask = async (): Promise<string[]> => [
    await (await fetch(`${server.base}/a`)).text(),
    await get(`${server.base}/b`),
  ];
  const { answers, snapshot } = await runWith(async () => ({ answers: await ask(), snapshot: dumpSnapshot() }));
  expect(await replay(ask, { snapshot })).toEqual(answers);
  expect(server.asked).toEqual(["/a", "/b"]);
  await expect(replay(() => fetch(`${server.base}/c`), { snapshot })).rejects.toThrow("has no answer");
  // Outside of runs nothing changes.
  await get(`${server.base}/d`);
  expect(server.asked).toEqual(["/a", "/b", "/d"]);
  undo();
  expect(globalThis.fetch).toBe(original);
  const after = await runWith(async () => [await get(`${server.base}/e`), dumpSnapshot()] as const);
  expect(after[1].root.calls ?? []).toEqual([]);
});

test("requests of a pool belong to the run that sends them, whichever frees the connection", async () => {
  const server = await modelServer();
  const undo = instrument();
  onTestFinished(undo);
  const pool = new Pool(server.base, { connections: 1 });
  onTestFinished(() => pool.close());
  const run = (name: number): Promise<readonly string[]> =>
    runWith(async () => {
      const paths = [1, 2, 3, 4, 5, 6].map((n) => `/${name}/${n}`);
      await Promise.all(paths.map(async (path) => (await pool.request({ path, method: "GET" })).body.text()));
      const requests = JSON.stringify(dumpSnapshot());
      return [...requests.matchAll(/"url":"[^"]*?(\/\d\/\d)"/g)].map(([, path]) => path as string).toSorted();
    });
  const names = [0, 1, 2, 3, 4, 5, 6, 7];
  const recorded = await Promise.all(names.map(run));
  expect(recorded).toEqual(names.map((name) => [1, 2, 3, 4, 5, 6].map((n) => `/${name}/${n}`)));
});

test("tests of vitest need no wrapper", async () => {
  const server = await modelServer();
  using project = vitestProject({
    "vitest.config.mjs": `export default { test: { setupFiles: ["agent-rewind/vitest/setup"], maxWorkers: 1,
      server: { deps: { external: [/\\/dist\\//, /\\/native\\//] } } } };`,
    "plain.test.mjs": `import { test } from "agent-rewind/vitest";
      import { expect } from "vitest";
      test("asks", async () => {
        expect(await (await fetch(process.env.BASE + "/a")).text()).toContain("answer 1");
      });`,
  });
  const env = { BASE: server.base, CI: "" };
  expect(await project.run({ env })).toMatchObject({ code: 0, results: { asks: "passed" } });
  expect(Object.values(project.recordings()).join()).toContain("answer 1");
  expect(await project.run({ env })).toMatchObject({ code: 0, results: { asks: "passed" } });
  expect(server.asked).toEqual(["/a"]);
});
