// All ways to write a recorded test, and everything that a test may contain.
import { expect, it } from "vitest";

import { modelServer } from "../support/model-server.js";
import { expectPassed, vitestProject } from "../support/vitest-project.js";

const SLOW = { timeout: 120_000 };

const HEAD = `
import { createRequire } from "node:module";
import { callTool, createAgent, equipMemory, getContext, journalCall, reborn, runFrame, runWith } from "agent-rewind";
import { dumpSnapshot } from "agent-rewind/debugger";
import { rewindFetch } from "agent-rewind/fetch";
import { recordingTest, test, withRecording } from "agent-rewind/vitest";
import { beforeEach, describe, expect, test as plain, vi } from "vitest";
const fetch = rewindFetch();
const ask = async (path) => (await fetch(process.env.SERVER + "/" + path)).text();
const expectAnswer = async (path) => expect(await ask(path)).toMatch("got /" + path);
`;

const server = () => modelServer(({ path }, index) => ({ body: `got ${path} #${index}` }));

/** Records all tests of a file and replays them without the server. Returns the main files of the recordings. */
async function expectReplayed(body: string): Promise<{ names: string[]; text: string; requests: number }> {
  using project = vitestProject({ "a.test.mjs": HEAD + body });
  await using live = await server();
  const env = { SERVER: live.url };
  const first = await project.run({ env });
  expectPassed(first);
  const requests = live.requests.length;
  await live.stop();
  const second = await project.run({ env: { ...env, CI: "1" } });
  expectPassed(second);
  expect(second.text).not.toContain("agent-rewind:");
  const files = Object.entries(project.recordings()).filter(([path]) => /(?<!\.timing)\.jsonl$/.test(path));
  const names = files.map(([, text]) => (JSON.parse(text.split("\n")[0] ?? "") as { test: string }).test);
  return { names: names.toSorted(), text: files.map(([, text]) => text).join(""), requests };
}

it("records and replays each form of test", SLOW, async () => {
  const { names, requests } = await expectReplayed(`
let hooks = 0;
beforeEach(() => void hooks++);
test("plain", () => expectAnswer("plain"));
test.concurrent("concurrent", () => expectAnswer("concurrent"));
test.sequential("sequential", () => expectAnswer("sequential"));
test.skip("skipped", () => expectAnswer("skipped"));
test.skipIf(true)("skipped if", () => expectAnswer("skipped if"));
test.runIf(true)("run if", () => expectAnswer("run-if"));
test.todo("to do");
test("with options", { timeout: 9_000 }, () => expectAnswer("options"));
test("with a time limit", () => expectAnswer("limit"), 9_000);
test.each(["a", "b"])("each %s", (letter) => expectAnswer(letter));
test.each([["a", 1], ["b", 2]])("each of a list %s %i", (letter, number) => expectAnswer(letter + number));
test.each([{ letter: "a" }, { letter: "b" }])("each object $letter", ({ letter }) => expectAnswer("o" + letter));
test.each\`
  letter | number
  \${"a"} | \${1}
  \${"b"} | \${2}
\`("each row $letter", ({ letter, number }) => expectAnswer("row" + letter + number));
test.for(["a", "b"])("for %s", (letter, { expect }) => { expect(letter).toHaveLength(1); return expectAnswer("f" + letter); });
test("same name", () => expectAnswer("same"));
test("same name", () => expectAnswer("other"));
test("Same Name", () => expectAnswer("capital"));
describe("a suite", () => {
  test("plain", () => expectAnswer("in-suite"));
  describe("deeper", () => test("ünïcode / and: more?", () => expectAnswer("deep")));
});
const mine = test.extend({ path: async ({}, use) => use("extended") });
mine("extended", ({ path, recording }) => { expect(recording.mode).toMatch(/once|replay/); return expectAnswer(path); });
const based = recordingTest(plain.extend({ path: "based" }));
based("based", ({ path }) => expectAnswer(path));
based.concurrent.each(["x"])("based %s", (x) => expectAnswer(x));
plain("wrapped", withRecording(() => expectAnswer("wrapped")));
plain.for(["w"])("wrapped for %s", withRecording((w) => expectAnswer(w)));
plain("not recorded", () => expect(getContext()).toBeUndefined());
test("repeated", { repeats: 2 }, () => expectAnswer("repeated"));
`);
  expect(names).toEqual(
    [
      "Same Name",
      "a suite > deeper > ünïcode / and: more?",
      "a suite > plain",
      "based",
      "based x",
      "concurrent",
      "each a",
      "each b",
      "each object 'a'",
      "each object 'b'",
      "each of a list a 1",
      "each of a list b 2",
      "each row 'a'",
      "each row 'b'",
      "extended",
      "for a",
      "for b",
      "plain",
      "repeated",
      "run if",
      "same name",
      "same name (2)",
      "sequential",
      "with a time limit",
      "with options",
      "wrapped",
      "wrapped for w",
    ].toSorted(),
  );
  // A repeated test replays what it has just recorded.
  expect(requests).toBe(names.length);
});

it("records runs, agents, tools and calls in their own frames", SLOW, async () => {
  const { text } = await expectReplayed(`
const agent = createAgent({ id: "asker", handler: async ({ path }) => {
  const [count, setCount] = equipMemory("count", 0);
  setCount(count + 1);
  await expectAnswer(path);
  return count === 0 ? reborn({ path: path + "-again" }) : count;
} });
test("a bare agent", async () => expect(await agent({ path: "bare" })).toBe(1));
test("a run", async () => {
  const seen = [];
  const result = await runWith(async () => {
    seen.push(getContext().callId, getContext().depth, getContext().enableSnapshot);
    return [await agent({ path: "one" }), await agent({ path: "two" })];
  });
  expect(result).toEqual([1, 1]);
  expect(seen).toEqual(["root", 0, true]);
});
test("a run in a run is rejected as usual", async () => {
  await expectAnswer("x");
  await expect(runWith(() => runWith(() => 1))).rejects.toThrow("top level");
  await expect(runFrame({ id: "f", input: {} }, () => runWith(() => 1))).rejects.toThrow("top level");
});
test("runs at the same time", async () => {
  const run = (path) => runWith(({ path }) => agent({ path }), { initialProps: { path } });
  expect(await Promise.all([run("p"), run("q"), run("p")])).toEqual([1, 1, 1]);
});
test("a call", async () => {
  const now = await journalCall({ kind: "clock", name: "now", request: {} }, () => new Date(Date.now()));
  const bytes = await journalCall({ kind: "bytes", name: "b", request: { n: 1n } }, () => new Uint8Array(1_000).fill(7));
  expect(now).toBeInstanceOf(Date);
  expect(bytes).toEqual(new Uint8Array(1_000).fill(7));
});
test("a failure", async () => {
  const fail = () => journalCall({ kind: "x", name: "y", request: {} }, () => { throw Object.assign(new RangeError("no"), { code: "E" }); });
  await expect(fail()).rejects.toThrow(expect.objectContaining({ message: "no", code: "E", name: "RangeError" }));
  await expect(runWith(fail)).rejects.toThrow("no");
});
`);
  const lines = text
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const frames = lines.filter((line) => "frame" in line && !("call" in line)).map(({ frame }) => frame);
  expect(frames).toEqual(
    expect.arrayContaining([
      "root/agent:asker:0",
      "root/agent:asker:0#1",
      "root/run:runWith:0",
      "root/run:runWith:0/agent:asker:1#1",
    ]),
  );
  expect(text).not.toMatch(/"stack"|\.mjs:\d/);
  expect(text).toMatch(/"files":\{"\/output":"[\da-f]{64}\.bin"\}/);
});

it("a run's own dump and snapshot work as without a recording", SLOW, async () => {
  const { requests } = await expectReplayed(`
const agent = createAgent({ id: "asker", handler: async ({ path }) => ask(path) });
test("dump, then resume", async () => {
  const { first, snapshot } = await runWith(async () => {
    const first = await agent({ path: "one" });
    return { first, snapshot: dumpSnapshot() };
  });
  expect(Object.keys(snapshot.root.children)).toEqual(["root/agent:asker:0"]);
  expect(snapshot.root.callId).toBe("root");
  const replayed = await runWith(() => agent({ path: "one" }), { snapshot, mode: "replay" });
  expect(replayed).toBe(first);
  // A call that the snapshot lacks is executed once. Later runs replay it from the test's recording.
  const reports = [];
  const more = () => runWith(async () => [await agent({ path: "one" }), await agent({ path: "two" })], { snapshot, onReport: (report) => reports.push(report) });
  const [one, two] = await more();
  expect(one).toBe(first);
  expect(two).toMatch("got /two");
  expect(reports[0]).toMatchObject({ replayed: 1, live: 1 });
});
`);
  expect(requests).toBe(2);
});

it("a dump in the middle of a run contains the run up to there, also in a replayed test", SLOW, async () => {
  const { requests } = await expectReplayed(`
const agent = createAgent({ id: "asker", handler: async ({ path }) => ask(path) });
const texts = (snapshot) => JSON.stringify(snapshot).match(/got \\/[\\w-]+/g) ?? [];
test("checkpoints", async () => {
  const dumps = [];
  const steps = async () => {
    const answers = [];
    for (const path of ["a", "b", "c"]) {
      answers.push(await (path === "b" ? agent({ path }) : ask(path)));
      dumps.push(dumpSnapshot());
    }
    return answers;
  };
  const [a, b, c] = await runWith(steps);
  expect(dumps.map((dump) => new Set(texts(dump)).size)).toEqual([1, 2, 3]);
  // Calls after the checkpoint are live, so their answers differ.
  const again = await runWith(steps, { snapshot: dumps[1] });
  expect(again.slice(0, 2)).toEqual([a, b]);
  expect(again[2]).not.toBe(c);
  await expect(runWith(steps, { snapshot: dumps[1], mode: "replay" })).rejects.toThrow(/no answer/);
});
test("a call in flight", async () => {
  let amid;
  const both = async () => {
    const slow = ask("slow-one");
    const fast = await ask("fast-one");
    amid ??= dumpSnapshot();
    await slow;
    return fast;
  };
  await runWith(both);
  expect(new Set(texts(amid)).size).toBeLessThan(3);
  expect(texts(amid)).toContain("got /fast-one");
});
`);
  expect(requests).toBe(6);
});

it("finds the run context everywhere", SLOW, async () => {
  await expectReplayed(`
import { Readable } from "node:stream";
test("generators iterated outside, streams that pull, callbacks", async () => {
  const texts = [];
  async function* generate() { for (const path of ["g1", "g2"]) yield await ask(path); }
  const generator = await runWith(() => generate());
  for await (const text of generator) texts.push(text);
  const stream = await runFrame({ id: "streamer", input: {} }, () => {
    let count = 0;
    return new ReadableStream({ async pull(controller) { count++ < 2 ? controller.enqueue(await ask("s" + count)) : controller.close(); } }, { highWaterMark: 0 });
  });
  for await (const text of stream) texts.push(text);
  texts.push(await new Promise((resolve) => setTimeout(() => ask("timer").then(resolve), 1)));
  const { rewindFetch: other } = createRequire(import.meta.url)("agent-rewind/fetch");
  texts.push(await (await other()(process.env.SERVER + "/other")).text());
  const { runWith: otherRun } = createRequire(import.meta.url)("agent-rewind");
  texts.push(await otherRun(() => ask("other-run")));
  expect(texts.map((text) => text.replace(/ #.*/, ""))).toEqual(["got /g1", "got /g2", "got /s1", "got /s2", "got /timer", "got /other", "got /other-run"]);
});
let call;
const outside = new Promise((resolve) => (call = resolve)).then((path) => ask(path));
test("a call without a context belongs to the only running test", async () => {
  call("nobody");
  expect(await outside).toMatch("got /nobody");
});
test("a response that is never read", async () => {
  expect((await fetch(process.env.SERVER + "/unread")).status).toBe(200);
});
test("a run that ends before its streams", async () => {
  const response = await runWith(() => runFrame({ id: "a", input: {} }, () => fetch(process.env.SERVER + "/late")));
  expect(await response.text()).toMatch("got /late");
});
`);
});

it("applies normalize rules, and a change of the rules recomputes the hashes", SLOW, async () => {
  const body = (rules: string, stamp: string): string => `${HEAD}
const mine = recordingTest(plain, { normalize: [${rules}] });
mine("asks", async () => { await runWith(() => expectAnswer("at-${stamp}")).catch(() => {}); });
`;
  const dates = '{ id: "dates", pattern: /\\d{4}-\\d\\d-\\d\\d/ }';
  using project = vitestProject({ "a.test.mjs": body(dates, "2026-01-01") });
  await using live = await server();
  const env = { SERVER: live.url };
  expect((await project.run({ env })).code).toBe(0);
  project.write("a.test.mjs", body(dates, "2026-02-02"));
  expect((await project.run({ env })).code).toBe(0);
  expect(live.requests).toHaveLength(1);
  // The rule is removed: the recorded requests are identified by their full content again.
  project.write("a.test.mjs", body("", "2026-01-01"));
  expect((await project.run({ env })).code).toBe(0);
  project.write("a.test.mjs", body("", "2026-02-02"));
  expect((await project.run({ env })).text).toContain("RecordingStaleError");
  expect(live.requests).toHaveLength(1);
});
