// Tests whose program no longer asks what was recorded: they fail at once, say why, and are accepted by -u.
import { expect, it } from "vitest";

import { chatCompletion, json, modelServer, type ModelServer } from "../support/model-server.js";
import { expectPassed, vitestProject } from "../support/vitest-project.js";

const SLOW = { timeout: 120_000 };

const HEAD = `
import OpenAI from "openai";
import { callTool, journalCall, runFrame } from "agent-rewind";
import { rewindFetch } from "agent-rewind/fetch";
import { test } from "agent-rewind/vitest";
import { afterEach, expect, vi } from "vitest";

const client = new OpenAI({ apiKey: "k", baseURL: process.env.SERVER, fetch: rewindFetch(), maxRetries: 5 });
async function ask(request, options) {
  const { choices } = await client.chat.completions.create(request, options);
  return choices[0].message.content;
}
`;

const agentTests = (line: string): string => `${HEAD}
const SYSTEM = "You work in a shop.\\n${line}\\nBe polite.\\nNever promise a refund.\\nEnd with a question.";
const answer = (content) =>
  ask({ model: "gpt-x", messages: [{ role: "system", content: SYSTEM }, { role: "user", content }] });

afterEach(() => void vi.useRealTimers());
test.for(Array.from({ length: 12 }, (_, index) => index))("question %i", async (index) => {
  if (index % 2 === 0) vi.useFakeTimers();
  expect(await answer("question " + index)).toBe("answer to question " + index);
});
`;

const server = (): Promise<ModelServer> =>
  modelServer(({ body }) => {
    const { messages } = JSON.parse(body) as { messages: { content: string }[] };
    return json(chatCompletion(`answer to ${messages.at(-1)?.content}`));
  });

const count = (text: string, part: string): number => text.split(part).length - 1;

it("12 tests with one changed line of a prompt: one failure to read, accepted by -u", SLOW, async () => {
  using project = vitestProject({ "a.test.mjs": agentTests("Answer in one sentence.") });
  await using live = await server();
  const env = { SERVER: live.url };
  expectPassed(await project.run({ env }));
  expect(live.requests.splice(0)).toHaveLength(12);

  project.write("a.test.mjs", agentTests("Answer in two sentences."));
  const { text, results, meta } = await project.run({ env });
  expect(Object.values(results)).toEqual(Array.from({ length: 12 }, () => "failed"));
  expect(live.requests).toEqual([]);
  expect(text).not.toMatch(/Connection error|Test timed out|Unhandled|Caused by|Serialized Error|ReplayMissError/);
  for (const once of [
    "RecordingStaleError: messages[0].content (system) changed in the request to 127.0.0.1.\n",
    "  You work in a shop.\n- Answer in one sentence.\n+ Answer in two sentences.\n  Be polite.\n  Never promise a refund.\n",
    "❯ ask a.test.mjs:10:23",
    "vitest -u",
  ]) {
    expect([once, count(text, once)]).toEqual([once, 1]);
  }
  const stale = Object.values(meta).map(({ agentRewind }) => agentRewind?.stale);
  expect(stale).toHaveLength(12);
  expect(meta["question 3"]?.agentRewind).toMatchObject({ mode: "once", replayed: 0, live: 0, written: false });
  expect(stale[3]).toEqual({
    kind: "fetch",
    name: "127.0.0.1",
    callId: "root/fetch:127.0.0.1:0",
    pointer: "/input/body/messages/0/content",
    before: expect.stringContaining("Answer in one sentence.") as string,
    after: expect.stringContaining("Answer in two sentences.") as string,
    accept: 'npx vitest run -u a.test.mjs -t "question 3"',
  });

  expectPassed(await project.run({ env, args: ["-u"] }));
  expect(live.requests.splice(0)).toHaveLength(12);
  const accepted = project.recordings();
  const again = await project.run({ env, args: ["-u"] });
  expectPassed(again);
  expect(again.meta["question 3"]?.agentRewind).toMatchObject({ mode: "update", replayed: 1, live: 0, written: false });
  expect(live.requests).toEqual([]);
  expect(project.recordings()).toEqual(accepted);
});

/** The change of each test, and the cause that its failure names. */
const CHANGES: [name: string, change: string, cause: string][] = [
  ["a word", `messages[0].content = "You answer shortly."`, "messages[0].content (system) changed"],
  ["a line", `messages[1].content += "\\nQuickly!"`, "messages[1].content (user) changed"],
  ["white space", `messages[0].content += " "`, "messages[0].content (system) changed in white space"],
  ["a message more", `messages.push({ role: "user", content: "Hm?" })`, "messages[3] (user) added"],
  ["a message less", `messages.pop()`, "messages[2] (assistant) removed"],
  ["a tool", `request.tools.push({ type: "function", function: { name: "refund" } })`, "tools[1] (refund) added"],
  ["the model", `request.model = "gpt-y"`, `model: "gpt-x" → "gpt-y"`],
  ["the temperature", `request.temperature = 0.7`, "temperature: 0.2 → 0.7"],
  ["the order", `messages.reverse()`, "messages reordered"],
];

it("names the cause of each change in the first lines of the failure", SLOW, async () => {
  const changes = CHANGES.map(
    ([name, change]) => `
test("${name}", async () => {
  const messages = [
    { role: "system", content: "You answer briefly." },
    { role: "user", content: "When are you open?" },
    { role: "assistant", content: "From nine." },
  ];
  const tools = [{ type: "function", function: { name: "search" } }];
  const request = { model: "gpt-x", temperature: 0.2, messages, tools };
  if (process.env.CHANGED) ${change};
  await ask(request);
});`,
  );
  using project = vitestProject({ "a.test.mjs": HEAD + changes.join("") });
  await using live = await server();
  expectPassed(await project.run({ env: { SERVER: live.url } }));
  const { text, results } = await project.run({ env: { SERVER: live.url, CHANGED: "1" } });
  expect(live.requests).toHaveLength(CHANGES.length);
  const failures = text.split(" FAIL  a.test.mjs > ").slice(1);
  for (const [name, , cause] of CHANGES) {
    expect(results[name]).toBe("failed");
    const [heading, ...lines] = failures.find((failure) => failure.startsWith(`${name}\n`))?.split("\n") ?? [];
    expect([heading, lines.slice(0, 4).join("\n")]).toEqual([name, expect.stringContaining(cause)]);
  }
});

it("closes a rejected test: what it does later is refused, and does not touch the next test", SLOW, async () => {
  const file = (question: string): string => `${HEAD}
const messages = (content) => [{ role: "user", content }];
let goOn, ended;
const next = new Promise((resolve) => (goOn = resolve));
const late = new Promise((resolve) => (ended = resolve));
test("goes on", async () => {
  await ask({ model: "gpt-x", messages: messages("${question}") }, { maxRetries: 0 }).catch(() => {});
  ${
    question === "first"
      ? ""
      : `await next;
  const calls = [
    ask({ model: "gpt-x", messages: messages("late") }, { maxRetries: 0 }),
    journalCall({ kind: "note", name: "n", request: {} }, () => "noted"),
    fetch(process.env.SERVER + "/unwrapped"),
  ];
  ended((await Promise.allSettled(calls)).map(({ status }) => status));`
  }
});
test("is next", async () => {
  expect(await ask({ model: "gpt-x", messages: messages("next") })).toBe("answer to next");
  ${question === "first" ? "" : `goOn(); expect(await late).toEqual(["rejected", "rejected", "rejected"]);`}
});
`;
  using project = vitestProject({ "a.test.mjs": file("first") });
  await using live = await server();
  const env = { SERVER: live.url };
  expectPassed(await project.run({ env }));
  expect(live.requests.splice(0)).toHaveLength(2);
  const recorded = project.recordings();
  project.write("a.test.mjs", file("other"));
  expect((await project.run({ env })).results).toEqual({ "goes on": "failed", "is next": "passed" });
  expect(live.requests).toEqual([]);
  expect(project.recordings()).toEqual(recorded);
});

it("a test that must fail is recorded and replayed, and does not fail by its recording", SLOW, async () => {
  const file = (question: string): string => `${HEAD}
test.fails("fails", async () => {
  const messages = [{ role: "user", content: "${question}" }];
  expect(await ask({ model: "gpt-x", messages })).toBe("something else");
});
`;
  using project = vitestProject({ "a.test.mjs": file("first") });
  await using live = await server();
  const env = { SERVER: live.url };
  const missing = await project.run({ env: { ...env, CI: "1" } });
  expect(missing.results).toEqual({ fails: "failed" });
  expect(missing.text).toContain("RecordingMissingError");
  expectPassed(await project.run({ env }));
  expectPassed(await project.run({ env: { ...env, CI: "1" } }));
  expect(live.requests).toHaveLength(1);
  project.write("a.test.mjs", file("other"));
  const stale = await project.run({ env });
  expect(stale.results).toEqual({ fails: "failed" });
  expect(stale.text).toContain("RecordingStaleError");
});

it("-u makes only stale calls live, in each frame, and removes what is unused", SLOW, async () => {
  const file = (words: string): string => `${HEAD}
const say = (content) => ask({ model: "gpt-x", messages: [{ role: "user", content }] });
test("calls", async () => {
  const [first, others] = await Promise.all([
    runFrame({ id: "one", input: {} }, async () => { for (const word of ${words}) await say(word); }),
    runFrame({ id: "two", input: {} }, () => say("constant")),
  ]);
});
`;
  using project = vitestProject({ "a.test.mjs": file('["a", "b", "c"]') });
  await using live = await server();
  const env = { SERVER: live.url };
  expectPassed(await project.run({ env }));
  live.requests.splice(0);
  project.write("a.test.mjs", file('["a", "changed"]'));
  expectPassed(await project.run({ env, args: ["-u"] }));
  expect(live.requests.map(({ body }) => body.includes("changed"))).toEqual([true]);
  const text = Object.values(project.recordings()).join("");
  expect(text).toContain("answer to constant");
  expect(text).not.toContain("answer to c\\");
  const replayed = await project.run({ env: { ...env, CI: "1" } });
  expectPassed(replayed);
  expect(replayed.text).not.toContain("agent-rewind:");
});

it("keeps what a failed test has recorded, until it passes", SLOW, async () => {
  const file = (question: string, answer: string): string => `${HEAD}
test("draft", async () => {
  const content = await ask({ model: "gpt-x", messages: [{ role: "user", content: "${question}" }] });
  expect(content).toBe("${answer}");
});
`;
  using project = vitestProject({ "a.test.mjs": file("first", "wrong") });
  await using live = await server();
  const env = { SERVER: live.url };
  const requests = async (args: string[] = []): Promise<[string | undefined, number]> => {
    const { results } = await project.run({ env, args });
    return [results["draft"], live.requests.splice(0).length];
  };
  expect(await requests()).toEqual(["failed", 1]);
  expect(await requests()).toEqual(["failed", 0]);
  expect(project.recordings()).toEqual({});
  project.write("a.test.mjs", file("first", "answer to first"));
  expect(await requests()).toEqual(["passed", 0]);
  expect(Object.keys(project.recordings())).toHaveLength(2);
  // The same for a change that is accepted.
  const before = project.recordings();
  project.write("a.test.mjs", file("second", "wrong"));
  expect(await requests(["-u"])).toEqual(["failed", 1]);
  expect(project.recordings()).toEqual(before);
  project.write("a.test.mjs", file("second", "answer to second"));
  expect(await requests(["-u"])).toEqual(["passed", 0]);
  expect(await requests()).toEqual(["passed", 0]);
  expect(project.recordings()).not.toEqual(before);
});
