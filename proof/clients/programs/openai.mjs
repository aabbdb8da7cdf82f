import { rewindFetch } from "agent-rewind/fetch";
import OpenAI from "openai";

const client = new OpenAI({ apiKey: "none", fetch: rewindFetch(), maxRetries: 0 });
const request = (content) => ({ model: "gpt-5-mini", messages: [{ role: "user", content }] });

export async function ask(prompt) {
  return (await client.chat.completions.create(request(prompt))).choices[0].message.content;
}

export async function* stream(prompt) {
  for await (const event of await client.responses.create({ model: "gpt-5-mini", input: prompt, stream: true })) {
    if (event.type === "response.output_text.delta") yield event.delta;
  }
}
