import { createOpenAI } from "@ai-sdk/openai";
import { rewindMiddleware, wrapTools } from "agent-rewind/ai-sdk";
import { generateText, isStepCount, streamText, tool, wrapLanguageModel } from "ai";
import { z } from "zod";

const openai = createOpenAI({ apiKey: "none" });
const model = wrapLanguageModel({ model: openai("gpt-5-mini"), middleware: rewindMiddleware() });

const tools = wrapTools({
  weather: tool({
    description: "Tells the weather of a city",
    inputSchema: z.object({ city: z.string() }),
    execute: async ({ city }) => ({ city, celsius: Math.random() * 30, at: new Date() }),
  }),
});
const request = (prompt) => ({ model, tools, prompt, stopWhen: isStepCount(3), maxRetries: 0 });

export async function ask(prompt) {
  return (await generateText(request(prompt))).text;
}

export async function* stream(prompt) {
  const { fullStream } = streamText({ ...request(prompt), onError() {} });
  for await (const part of fullStream) {
    if (part.type === "text-delta") yield part.text;
    if (part.type === "error") throw part.error;
  }
}
