// The source of test programs whose clients call the server at `process.env.SERVER`.
import type { Asking } from "./cycle.js";

/** The files that a program has in addition to the tests "openai" and "anthropic". */
export interface More {
  imports: string;
  /** The code can use `SERVER`, `options` of a client, and the prompt as `content` and as `messages`. */
  tests: string;
}

export function askingTwoClients(more: More = { imports: "", tests: "" }): Asking {
  return (prompt) => `
import Anthropic from "@anthropic-ai/sdk";
import { rewindFetch } from "agent-rewind/fetch";
import { test } from "agent-rewind/vitest";
import OpenAI from "openai";
import { expect } from "vitest";
${more.imports}
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
${more.tests}`;
}
