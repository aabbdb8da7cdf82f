// The packed package in a project with vitest and clients of its own.
import { expect, test } from "vitest";

import { chatCompletion, json, modelServer } from "../support/model-server.js";
import { expectPassed, vitestProject } from "../support/vitest-project.js";
import { install } from "./consumer.js";

const asking = (prompt: string): string => `
import Anthropic from "@anthropic-ai/sdk";
import { rewindFetch } from "agent-rewind/fetch";
import { test } from "agent-rewind/vitest";
import OpenAI from "openai";
import { expect } from "vitest";

const content = ${JSON.stringify(prompt)};
const messages = [{ role: "user", content }];
const options = { apiKey: "key", baseURL: process.env.SERVER, fetch: rewindFetch(), maxRetries: 0 };
test("openai", async () => {
  const answer = await new OpenAI(options).chat.completions.create({ model: "m", messages });
  expect(answer.choices[0].message.content).toBe("one");
});
test("anthropic", async () => {
  const answer = await new Anthropic(options).messages.create({ model: "m", max_tokens: 9, messages });
  expect(answer.content[0].text).toBe("two");
});
`;

const server = () =>
  modelServer(({ path }) =>
    json(path.endsWith("/messages") ? { content: [{ type: "text", text: "two" }] } : chatCompletion("one")),
  );

test("records, replays without a server, names a changed prompt, is mended, and makes nothing under CI", async () => {
  const others = Object.fromEntries(["vitest", "openai", "@anthropic-ai/sdk"].map((name) => [name, name]));
  const { folder } = install({ platform: true, others });
  const project = vitestProject({ "a.test.mjs": asking("first question") }, folder);
  project.write("vitest.config.mjs", "export default {};");
  await using live = await server();
  const env = { SERVER: live.url };
  const unrecorded = await project.run({ env: { ...env, CI: "1" } });
  expect(unrecorded.results).toEqual({ openai: "failed", anthropic: "failed" });
  expect(unrecorded.text).toContain('RecordingMissingError: There is no recording of the test "anthropic"');
  expect(live.requests).toHaveLength(0);

  expectPassed(await project.run({ env }));
  expect(live.requests).toHaveLength(2);
  await live.stop();
  expectPassed(await project.run({ env }));
  expectPassed(await project.run({ env: { ...env, CI: "1" } }));
  expect(live.requests).toHaveLength(2);

  project.write("a.test.mjs", asking("first question, changed"));
  const { text, results } = await project.run({ env });
  expect(results).toEqual({ openai: "failed", anthropic: "failed" });
  const difference = 'messages/0/content: a text (recorded "first question", now "first question, changed")';
  expect(text.split(difference).length).toBeGreaterThan(2);

  await using again = await server();
  expectPassed(await project.run({ env: { SERVER: again.url }, args: ["-u"] }));
  expect(again.requests).toHaveLength(2);
  expectPassed(await project.run({ env: { SERVER: again.url, CI: "1" } }));
  expect(again.requests).toHaveLength(2);
});
