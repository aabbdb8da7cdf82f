import { rewindFetch } from "agent-rewind/fetch";
import { Ollama } from "ollama";

const client = new Ollama({ fetch: rewindFetch() });
const request = (content) => ({ model: "llama3.2", messages: [{ role: "user", content }] });

export async function ask(prompt) {
  return (await client.chat(request(prompt))).message.content;
}

export async function* stream(prompt) {
  for await (const part of await client.chat({ ...request(prompt), stream: true })) {
    if (part.message.content !== "") yield part.message.content;
  }
}
