// The packed package with the newest vitest and clients, on a newer Node.js. `npm run test:newest` installs them.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { vitestProject } from "../support/vitest-project.js";
import { liveThrough, type Asking } from "./cycle.js";

const { NEWEST_FOLDER: folder = "", NEWEST_NODE: node = "" } = process.env;
if (folder === "" || node === "") throw new Error("run this test by `npm run test:newest`");

const asking: Asking = (prompt) => `
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import { rewindMiddleware } from "agent-rewind/ai-sdk";
import { rewindFetch } from "agent-rewind/fetch";
import { test } from "agent-rewind/vitest";
import { generateText, wrapLanguageModel } from "ai";
import OpenAI from "openai";
import { expect } from "vitest";

const content = ${JSON.stringify(prompt)};
const messages = [{ role: "user", content }];
const SERVER = process.env.SERVER;
const options = { apiKey: "key", baseURL: SERVER, fetch: rewindFetch(), maxRetries: 0 };
test("openai", async () => {
  const answer = await new OpenAI(options).chat.completions.create({ model: "m", messages });
  expect(answer.choices[0].message.content).toBe("one");
});
test("anthropic", async () => {
  const answer = await new Anthropic(options).messages.create({ model: "m", max_tokens: 9, messages });
  expect(answer.content[0].text).toBe("two");
});
test("gemini", async () => {
  const gemini = new GoogleGenAI({ apiKey: "key", httpOptions: { baseUrl: SERVER, fetch: options.fetch } });
  expect((await gemini.models.generateContent({ model: "m", contents: content })).text).toBe("three");
});
test("ai", async ({ recording }) => {
  const model = {
    specificationVersion: "v3", provider: "own", modelId: "m", supportedUrls: {},
    async doGenerate({ prompt }) {
      const answer = await (await fetch(SERVER + "/chat", { method: "POST", body: JSON.stringify(prompt) })).json();
      const text = answer.choices[0].message.content;
      const usage = { inputTokens: { total: 3, noCache: 3 }, outputTokens: { total: 4, text: 4, reasoning: 0 } };
      return { content: [{ type: "text", text }], finishReason: { unified: "stop" }, usage, warnings: [] };
    },
  };
  const { text } = await generateText({ model: wrapLanguageModel({ model, middleware: rewindMiddleware() }), messages });
  expect(text).toBe("one");
  expect(recording.calls).toHaveLength(1);
});
`;

test("the newest vitest, AI SDK and clients", async () => {
  const major = (name: string): number =>
    Number.parseInt(JSON.parse(readFileSync(join(folder, "node_modules", name, "package.json"), "utf8")).version);
  // What the tests of the other projects have, or later.
  expect(major("vitest")).toBeGreaterThan(4);
  expect(major("ai")).toBeGreaterThan(6);
  const runner = { node, vitest: join(folder, "node_modules/vitest/vitest.mjs") };
  const project = vitestProject({ "vitest.config.mjs": "export default {};" }, folder, runner);
  await liveThrough(project, asking, ["openai", "anthropic", "gemini", "ai"]);
});
