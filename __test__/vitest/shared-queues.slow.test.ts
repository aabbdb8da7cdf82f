// Tests that run at the same time and share a queue record into their own files.
import { expect, it } from "vitest";

import { chatCompletion, json, modelServer } from "../support/model-server.js";
import { expectPassed, vitestProject } from "../support/vitest-project.js";

const LANGCHAIN = `
import { ChatOpenAI } from "@langchain/openai";
import { rewindFetch } from "agent-rewind/fetch";
import { test } from "agent-rewind/vitest";
import { expect } from "vitest";

const configuration = { baseURL: process.env.SERVER, fetch: rewindFetch() };
const model = new ChatOpenAI({ model: "m", apiKey: "k", maxRetries: 0, maxConcurrency: 1, configuration });
for (const name of ["one", "two", "three"])
  test.concurrent(name, async () => {
    const { text } = await model.invoke("same question");
    expect((await model.invoke(text + " of " + name)).text).toContain("answer");
  });
`;

/** A queue that does not know contexts. Its last task begins in the context of the first test, when that has ended. */
const OWN = `
import { rewindFetch } from "agent-rewind/fetch";
import { test } from "agent-rewind/vitest";

const fetch = rewindFetch();
const waiting = [];
let isBusy = false;
let count = 0;
let end;
const ended = new Promise((resolve) => (end = resolve));
const start = () => {
  if (isBusy || waiting.length === 0) return;
  isBusy = true;
  count += 1;
  void waiting.shift()().finally(async () => {
    if (count === 3) await ended;
    isBusy = false;
    start();
  });
};
const ask = (question) =>
  new Promise((resolve, reject) => {
    waiting.push(() => fetch(process.env.SERVER, { method: "POST", body: question }).then((r) => r.text()).then(resolve, reject));
    start();
  });
for (const name of ["one", "two"])
  test.concurrent(name, async ({ onTestFinished }) => {
    if (name === "one") onTestFinished(end);
    await ask(name);
    await ask(name + " again");
  });
`;

it("those of LangChain's maxConcurrency", { timeout: 120_000 }, async () => {
  using project = vitestProject({ "a.test.mjs": LANGCHAIN });
  await using server = await modelServer((_request, index) => json(chatCompletion(`answer ${index}`)));
  const env = { SERVER: server.url };
  expectPassed(await project.run({ env }));
  expect(server.requests).toHaveLength(6);
  const recordings = Object.entries(project.recordings()).filter(([path]) => /(?<!timing)\.jsonl$/.test(path));
  expect(recordings).toHaveLength(3);
  for (const [, text] of recordings) expect(text.match(/"answer \d"/g)).toHaveLength(2);
  await server.stop();
  expectPassed(await project.run({ env: { ...env, CI: "1" } }));
});

it(
  "a call in the context of a test that has ended is reported with its place, and fails in CI",
  { timeout: 120_000 },
  async () => {
    using project = vitestProject({ "a.test.mjs": OWN });
    await using server = await modelServer(() => ({ body: "answer" }));
    const env = { SERVER: server.url };
    const { text } = await project.run({ env });
    expect(text).toMatch(
      /rewindFetch: a call \(sent by .*a\.test\.mjs:\d+:\d+\) began in the async context of a test that has ended/,
    );
    const inCI = await project.run({ env: { ...env, CI: "1" } });
    expect(Object.values(inCI.results)).toContain("failed");
  },
);
