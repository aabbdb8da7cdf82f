import { expect, it } from "vitest";

import { codeBlocks, runProgram } from "../support/docs-page.js";
import { chatStream, json, modelServer } from "../support/model-server.js";

it("the program of docs/ai-sdk.md replays model, tool and embedding without a request", async () => {
  const [program = ""] = codeBlocks("ai-sdk.md", "js");
  const answer = chatStream("wear a coat")
    .replaceAll(/data: .*tool_calls":\[.*\n\n/g, "")
    .replace('"tool_calls"', '"stop"');
  await using server = await modelServer(({ path, body }) => {
    if (path.endsWith("/embeddings")) return json({ data: [{ embedding: [1, 2] }], usage: { prompt_tokens: 1 } });
    return { body: body.includes('"role":"tool"') ? answer : chatStream("") };
  });
  const printed = await runProgram(program, { OPENAI_API_KEY: "key", OPENAI_BASE_URL: server.url });
  const { advice, again, sameTime, looked } = JSON.parse(printed) as Record<string, unknown>;
  expect(advice).toMatchObject({ text: "wear a coat", embedding: [1, 2] });
  expect(again).toEqual(advice);
  expect([sameTime, looked]).toEqual([true, 1]);
  expect(server.requests).toHaveLength(3);
});
