import { GoogleGenAI } from "@google/genai";
import { rewindFetch } from "agent-rewind/fetch";

const client = new GoogleGenAI({ apiKey: "none", httpOptions: { fetch: rewindFetch() } });
const request = (contents) => ({ model: "gemini-2.5-flash", contents });

export async function ask(prompt) {
  return (await client.models.generateContent(request(prompt))).text;
}

export async function* stream(prompt) {
  for await (const chunk of await client.models.generateContentStream(request(prompt))) yield chunk.text;
}
