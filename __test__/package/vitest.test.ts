// The packed package in a project with vitest and clients of its own.
import { expect, test } from "vitest";

import { vitestProject } from "../support/vitest-project.js";
import { install } from "./consumer.js";
import { liveThrough } from "./cycle.js";

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

test.each([{ openai: "openai" }, { openai: "openai7" }])(
  "with $openai: records, replays without a server, names a changed prompt, is mended, and makes nothing under CI",
  async ({ openai }) => {
    const others = { vitest: "vitest", openai, "@anthropic-ai/sdk": "@anthropic-ai/sdk" };
    const { folder } = install({ platform: true, others });
    const project = vitestProject({ "vitest.config.mjs": "export default {};" }, folder);
    await liveThrough(project, asking, ["openai", "anthropic"]);
    expect(Object.keys(project.recordings()).filter((path) => !path.includes(".timing."))).toHaveLength(2);
  },
);
