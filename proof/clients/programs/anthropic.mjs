import Anthropic from "@anthropic-ai/sdk";
import { rewindFetch } from "agent-rewind/fetch";

const client = new Anthropic({ apiKey: "none", fetch: rewindFetch(), maxRetries: 0 });
const request = (content) => ({
  model: "claude-sonnet-5-5",
  max_tokens: 100,
  messages: [{ role: "user", content }],
});

export async function ask(prompt) {
  return (await client.messages.create(request(prompt))).content[0].text;
}

export async function* stream(prompt) {
  for await (const event of client.messages.stream(request(prompt))) {
    if (event.type === "content_block_delta") yield event.delta.text;
  }
}
