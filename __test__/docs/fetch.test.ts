import { expect, it } from "vitest";

import { codeBlocks, runProgram } from "../support/docs-page.js";
import { chatStream, json, modelServer } from "../support/model-server.js";

it("the program of docs/fetch.md replays both clients without a request", async () => {
  const [program = ""] = codeBlocks("fetch.md", "js");
  const message = {
    id: "m",
    type: "message",
    role: "assistant",
    model: "claude-x",
    content: [{ type: "text", text: "b" }],
  };
  await using server = await modelServer(({ path }) =>
    path.endsWith("/messages") ? json(message) : { body: chatStream("a") },
  );
  const printed = await runProgram(program, {
    OPENAI_API_KEY: "key",
    OPENAI_BASE_URL: `${server.url}/v1`,
    ANTHROPIC_API_KEY: "key",
    ANTHROPIC_BASE_URL: server.url,
  });
  expect(JSON.parse(printed)).toEqual({ answers: ["a", "b"], again: ["a", "b"] });
  expect(server.requests).toHaveLength(2);
});
