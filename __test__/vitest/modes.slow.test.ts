// A separate vitest project that records with a server and replays without it.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

import { chatCompletion, json, modelServer, type ModelServer } from "../support/model-server.js";
import { expectPassed, vitestProject } from "../support/vitest-project.js";

const SLOW = { timeout: 120_000 };

const openaiTest = (prompt: string): string => `
import OpenAI from "openai";
import { rewindFetch } from "agent-rewind/fetch";
import { test } from "agent-rewind/vitest";
import { expect } from "vitest";

const client = new OpenAI({ apiKey: "k", baseURL: process.env.SERVER, fetch: rewindFetch(), maxRetries: 0 });
const ask = async (content) => {
  const messages = [{ role: "user", content }];
  return (await client.chat.completions.create({ model: "gpt-x", messages })).choices[0].message.content;
};

test("answers twice", async () => {
  expect(await ask(${JSON.stringify(prompt)})).toMatch(/^answer to/);
  expect(await ask("second")).toBe("answer to second");
});
test("asks nothing", () => {});
`;

/** A test that makes requests without a client. */
const fetchTest = (body: string): string => `
import { rewindFetch } from "agent-rewind/fetch";
import { test } from "agent-rewind/vitest";
import { describe, expect } from "vitest";
const fetch = rewindFetch();
const ask = async (path) => (await fetch(process.env.SERVER + "/" + path)).text();
${body}
`;

const server = (): Promise<ModelServer> =>
  modelServer(({ body, path }) => {
    if (body === "") return { body: `got ${path}` };
    const { messages } = JSON.parse(body) as { messages: { content: string }[] };
    return json(chatCompletion(`answer to ${messages[0]?.content}`));
  });

const mainFiles = (recordings: Record<string, string>): string[] =>
  Object.keys(recordings).filter((path) => path.endsWith(".jsonl") && !path.endsWith(".timing.jsonl"));

it("records once, replays without the server, names a changed prompt, and is updated by -u", SLOW, async () => {
  using project = vitestProject({ "a.test.mjs": openaiTest("first question") });
  await using live = await server();
  const env = { SERVER: live.url };
  const first = await project.run({ env });
  expect(first.results).toEqual({ "answers twice": "passed", "asks nothing": "passed" });
  expect(live.requests).toHaveLength(2);
  const main = "__recordings__/a.test.mjs/answers-twice.jsonl";
  expect(Object.keys(project.recordings())).toEqual([main, main.replace(".jsonl", ".timing.jsonl")]);
  expect(project.recordings()[main]).toContain("answer to second");

  await live.stop();
  const second = await project.run({ env });
  expect(second).toMatchObject({ code: 0, results: { "answers twice": "passed" } });
  expect(second.text).not.toContain("agent-rewind:");
  expect((await project.run({ env: { ...env, CI: "1" } })).code).toBe(0);

  project.write("a.test.mjs", openaiTest("first question, changed"));
  const changed = await project.run({ env });
  expect(changed.results["answers twice"]).toBe("failed");
  expect(changed.text).toContain("RecordingStaleError");
  expect(changed.text).toContain("messages[0].content (user) changed in the request to 127.0.0.1");
  expect(changed.text).toContain("- first question\n+ first question, changed\n");
  expect(changed.text).toContain("vitest -u");

  await using again = await server();
  expectPassed(await project.run({ env: { SERVER: again.url }, args: ["-u"] }));
  expect(again.requests).toHaveLength(2);
  expect((await project.run({ env: { SERVER: again.url, CI: "1" } })).code).toBe(0);
  expect(again.requests).toHaveLength(2);
});

it("records nothing under CI: a test without a recording fails and says so", SLOW, async () => {
  using project = vitestProject({ "a.test.mjs": openaiTest("first") });
  await using live = await server();
  const run = await project.run({ env: { SERVER: live.url, CI: "1" } });
  expect(run.results).toEqual({ "answers twice": "failed", "asks nothing": "passed" });
  expect(run.text).toContain('RecordingMissingError: There is no recording of the test "answers twice"');
  expect(run.text).toContain("__recordings__/a.test.mjs/answers-twice.jsonl");
  expect(live.requests).toHaveLength(0);
  expect(project.recordings()).toEqual({});
});

it("the mode can be forced by AGENT_REWIND_MODE", SLOW, async () => {
  const body = (paths: string[]): string =>
    fetchTest(`test("asks", async () => {
      for (const path of ${JSON.stringify(paths)}) expect(await ask(path)).toBe("got /" + path);
    });`);
  using project = vitestProject({ "a.test.mjs": body(["one"]) });
  await using live = await server();
  const run = (mode: string, more: Record<string, string> = {}) =>
    project.run({ env: { SERVER: live.url, AGENT_REWIND_MODE: mode, ...more } });
  const asked = () => live.requests.splice(0).map(({ path }) => path);

  expect((await run("live")).code).toBe(0);
  expect([asked(), project.recordings()]).toEqual([["/one"], {}]);
  expect((await run("replay")).text).toContain("RecordingMissingError");
  expect(asked()).toEqual([]);
  expect((await run("auto")).code).toBe(0);
  expect(asked()).toEqual(["/one"]);
  project.write("a.test.mjs", body(["one", "two"]));
  expect((await run("replay")).text).toContain("RecordingStaleError");
  expect(asked()).toEqual([]);
  // Only missing calls are live, also under CI.
  expect((await run("auto", { CI: "1" })).code).toBe(0);
  expect(asked()).toEqual(["/two"]);
  expect((await run("replay")).code).toBe(0);
  expect((await run("record", { CI: "1" })).code).toBe(0);
  expect(asked()).toEqual(["/one", "/two"]);
  expect((await run("sometimes")).text).toContain("AGENT_REWIND_MODE must be one of");
});

it("records only passing tests: nothing of failed tests, and of retries only the last", SLOW, async () => {
  using project = vitestProject({
    "a.test.mjs": fetchTest(`
let tries = 0;
test("fails", async () => { await ask("fails"); expect(1).toBe(2); });
test("fails softly", async () => { expect.soft(1).toBe(2); await ask("soft"); });
test("is late", { timeout: 50 }, async () => {
  await ask("late");
  await new Promise((resolve) => setTimeout(resolve, 200));
});
test("is retried", { retry: 2 }, async () => { await ask("try " + tries++); expect(tries).toBe(3); });
test("is caught", async () => { await fetch("http://127.0.0.1:1/").catch(() => {}); });
test.fails("fails as it should", async () => { await ask("as it should"); throw new Error("x"); });
`),
  });
  await using live = await server();
  const { results } = await project.run({ env: { SERVER: live.url } });
  expect(results).toMatchObject({ fails: "failed", "fails softly": "failed", "is late": "failed" });
  expect(results).toMatchObject({ "is retried": "passed", "is caught": "passed", "fails as it should": "passed" });
  expect(mainFiles(project.recordings())).toEqual([
    "__recordings__/a.test.mjs/fails-as-it-should.jsonl",
    "__recordings__/a.test.mjs/is-caught.jsonl",
    "__recordings__/a.test.mjs/is-retried.jsonl",
  ]);
  const { "__recordings__/a.test.mjs/is-retried.jsonl": retried } = project.recordings();
  expect(retried).toContain("try%202");
  expect(retried).not.toContain("try%201");
});

it("reports obsolete recordings and unused entries, and removes them with -u", SLOW, async () => {
  const long = "x".repeat(20_000);
  using project = vitestProject({
    "a.test.mjs": fetchTest(`
test("one", async () => { await ask("one"); await ask("two"); });
test("gone", async () => { await (await fetch(process.env.SERVER, { method: "POST", body: '{"messages":[{"content":"${long}"}]}' })).text(); });
describe("in a suite", () => test("three", () => ask("three")));
`),
    "b.test.mjs": fetchTest(`test("b", () => ask("b"));`),
  });
  await using live = await server();
  const env = { SERVER: live.url };
  expect((await project.run({ env })).code).toBe(0);
  const before = Object.keys(project.recordings());
  expect(before.filter((path) => /\/files\/[\da-f]{64}\.txt$/.test(path))).toHaveLength(2);
  expect(project.recordings()["__recordings__/a.test.mjs/gone.jsonl"]?.length).toBeLessThan(3_000);
  expect((await project.run({ env: { ...env, CI: "1" } })).code).toBe(0);

  project.write(
    "a.test.mjs",
    fetchTest(`
test("one", async () => { await ask("one"); });
describe("in a suite", () => test("three", () => ask("three")));
`),
  );
  rmSync(join(project.folder, "b.test.mjs"));
  const run = await project.run({ env });
  expect(run.code).toBe(0);
  expect(run.text).toContain("obsolete recordings of a.test.mjs");
  expect(run.text).toContain("__recordings__/a.test.mjs/gone.jsonl");
  expect(run.text).toContain("__recordings__/b.test.mjs");
  expect(run.text).toContain("the test did not request 1 recorded call of __recordings__/a.test.mjs/one.jsonl");
  expect(Object.keys(project.recordings())).toEqual(before);

  const updated = await project.run({ env, args: ["-u"] });
  expect(updated.code).toBe(0);
  const after = project.recordings();
  expect(mainFiles(after)).toEqual([
    expect.stringMatching(/in-a-suite-three-[\da-f]{8}\.jsonl$/),
    "__recordings__/a.test.mjs/one.jsonl",
  ]);
  expect(Object.keys(after)).toHaveLength(4);
  expect((await project.run({ env })).text).not.toContain("agent-rewind:");
});

it("fails the run that would record a secret, and writes nothing", SLOW, async () => {
  const key = `sk-proj-${"a1B2".repeat(8)}`;
  using project = vitestProject({ "a.test.mjs": fetchTest(`test("leaks", () => ask("${key}"));`) });
  await using live = await server();
  const { text, code } = await project.run({ env: { SERVER: live.url } });
  expect(code).toBe(1);
  expect(text).toContain("SecretInRecordingError");
  expect(text).toContain("openai-key in root/fetch:127.0.0.1:0 at /output/body/text");
  expect(text).toContain('allowSecrets: ["openai-key"]');
  expect(text).not.toContain(key.slice(10));
  expect(project.recordings()).toEqual({});
});

it("finds hidden secrets and accepts allowed values", SLOW, async () => {
  const hidden = JSON.stringify(JSON.stringify({ key: `sk-proj-${"a1B2".repeat(8)}` }));
  const body = (content: string): string => `
  const request = { content: ${content} };
  await journalCall({ kind: "note", name: "n", request }, () => "noted");`;
  const long = `"x".repeat(9000) + " npm_" + "aB3dE5gH7jK9mN1pQ2sT4vW6xZ8yC0fLaB3d"`;
  using project = vitestProject({
    "a.test.mjs": `
import { journalCall } from "agent-rewind";
import { recordingTest, test } from "agent-rewind/vitest";
test("in JSON in a text", async () => {${body(hidden)}});
test("in a file beside", async () => {${body(long)}});
test("a card", async () => {${body('"4242 4242 4242 4242"')}});
recordingTest(undefined, { allowSecrets: ["card-number"] })("a card number that is allowed", async () => {${body('"4242 4242 4242 4242"')}});
`,
  });
  const { text, results } = await project.run();
  expect(results).toEqual({
    "in JSON in a text": "failed",
    "in a file beside": "failed",
    "a card": "failed",
    "a card number that is allowed": "passed",
  });
  for (const rule of ["openai-key", "npm-key", "card-number"])
    expect(text).toContain(`${rule} in root/note:n:0 at /request/input/content`);
});

it("names the place where a recording is damaged", SLOW, async () => {
  using project = vitestProject({ "a.test.mjs": fetchTest(`test("one", async () => { await ask("one"); });`) });
  await using live = await server();
  const env = { SERVER: live.url, CI: "1" };
  expect((await project.run({ env: { SERVER: live.url } })).code).toBe(0);
  const file = "__recordings__/a.test.mjs/one.jsonl";
  const good = project.recordings()[file] ?? "";
  const [header = "", call = ""] = good.split("\n");
  const damages: [string, string][] = [
    ["", `${file}:1: expected a line with "format"`],
    [`${header}\n{`, `${file}:2: `],
    [`${header.replace('"version":1', '"version":9')}\n${call}\n`, `${file}:1: version 9 of the format`],
    [`${header}\n${call.replace('"frame":"root"', '"frame":"root/x"')}\n`, "no earlier line starts the frame"],
    [`${header}\n[]\n`, `${file}:2: expected a JSON object`],
    [`${header}\n{"frame":"root","call":5}\n`, `${file}:2: `],
    [
      `${header}\n${call.replace("}}\n", "").replace(/}$/, ',"files":{"/output":"../../x"}}')}\n`,
      "is not a valid name of a file",
    ],
  ];
  for (const [text, message] of damages) {
    project.write(file, text);
    const run = await project.run({ env });
    expect(run.code).toBe(1);
    expect(run.text).toContain(message);
  }
});
