// Mastra notes the time in each message of a prompt. It is no part of the request.
import { rewindMiddleware } from "agent-rewind/ai-sdk";
import { expect, it } from "vitest";

import { record, replayed } from "../support/recorded.js";

const middleware = rewindMiddleware();
const model = { provider: "p", modelId: "m" };
let made = 0;
const ask = async (params: object): Promise<{ text: string }> =>
  middleware.wrapGenerate({ doGenerate: async () => ({ text: `answer ${(made += 1)}` }), params, model });

const prompt = (createdAt: number, other: unknown = "x"): object[] => [
  { role: "system", content: "Be brief.", providerOptions: { mastra: { createdAt } } },
  { role: "user", content: [{ type: "text", text: "hi", providerOptions: { mastra: { createdAt, other } } }] },
  { role: "assistant", content: [{ type: "text", text: "yes" }], providerOptions: { openai: { createdAt: 1 } } },
];

it("the time of a message does not count, and everything else does", async () => {
  const { value, snapshot, text } = await record(() => ask({ prompt: prompt(1) }));
  expect(await replayed(() => ask({ prompt: prompt(2) }), snapshot)).toEqual(value);
  expect(await replayed(() => ask({ prompt: prompt(new Date() as never) }), snapshot)).toEqual(value);
  expect(text).not.toContain('"mastra":{"createdAt"');
  for (const changed of [
    prompt(1, "y"),
    prompt(1).slice(1),
    [...prompt(1).slice(0, 2), { role: "assistant", content: [], providerOptions: { openai: { createdAt: 2 } } }],
  ]) {
    await expect(replayed(() => ask({ prompt: changed }), snapshot)).rejects.toMatchObject({ name: "ReplayMissError" });
  }
});

it("does not change the caller's prompt, and takes prompts of any shape", async () => {
  const given = prompt(1);
  const before = structuredClone(given);
  for (const odd of [given, "text", null, [null, "a", { content: [null, 1] }]]) {
    const { value, snapshot } = await record(() => ask({ prompt: odd }));
    expect(await replayed(() => ask({ prompt: odd }), snapshot)).toEqual(value);
  }
  expect(given).toEqual(before);
});
