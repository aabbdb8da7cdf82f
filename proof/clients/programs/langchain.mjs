import { ChatOpenAI } from "@langchain/openai";
import { rewindFetch } from "agent-rewind/fetch";
import { wrapTools } from "agent-rewind/tools";
import { createAgent, tool } from "langchain";
import { z } from "zod";

const model = new ChatOpenAI({
  model: "gpt-5-mini",
  apiKey: "none",
  maxRetries: 0,
  configuration: { fetch: rewindFetch() },
});
const tools = wrapTools([
  tool(async ({ city }) => ({ city, celsius: Math.random() * 30 }), {
    name: "weather",
    description: "Tells the weather of a city",
    schema: z.object({ city: z.string() }),
  }),
]);
const agent = createAgent({ model, tools });
const input = (content) => ({ messages: [{ role: "user", content }] });

export async function ask(prompt) {
  return (await agent.invoke(input(prompt))).messages.at(-1).text;
}

export async function* stream(prompt) {
  for await (const [message] of await agent.stream(input(prompt), { streamMode: "messages" })) {
    if (message.type === "ai" && message.text !== "") yield message.text;
  }
}
