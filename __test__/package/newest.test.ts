// The packed package with the newest vitest and clients on a newer Node.js, installed by `npm run test:newest`.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { vitestProject } from "../support/vitest-project.js";
import { askingTwoClients } from "./asking.js";
import { liveThrough } from "./cycle.js";

const { NEWEST_FOLDER: folder = "", NEWEST_NODE: node = "" } = process.env;
if (folder === "" || node === "") throw new Error("run this test by `npm run test:newest`");

const asking = askingTwoClients({
  imports: `
import { GoogleGenAI } from "@google/genai";
import { rewindMiddleware } from "agent-rewind/ai-sdk";
import { generateText, wrapLanguageModel } from "ai";
`,
  tests: `
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
`,
});

test("works with the newest vitest, AI SDK and clients", async () => {
  const major = (name: string): number =>
    Number.parseInt(JSON.parse(readFileSync(join(folder, "node_modules", name, "package.json"), "utf8")).version);
  // The same versions as in the tests of the other projects, or later ones.
  expect(major("vitest")).toBeGreaterThan(4);
  expect(major("ai")).toBeGreaterThan(6);
  const runner = { node, vitest: join(folder, "node_modules/vitest/vitest.mjs") };
  const project = vitestProject({ "vitest.config.mjs": "export default {};" }, folder, runner);
  await liveThrough(project, asking, ["openai", "anthropic", "gemini", "ai"]);
});
