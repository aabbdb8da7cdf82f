// Requests of chat models as programs write them: their keys are not in canonical order.

import { base64, cjk, prose } from "./text.mjs";

const MODEL = { provider: "openai", id: "gpt-5" };

const SCHEMA = {
  type: "object",
  properties: { answer: { type: "string" }, confidence: { type: "number" } },
  required: ["answer", "confidence"],
  additionalProperties: false,
};

const TOOL = {
  name: "search",
  description: "Searches the documents of the company and gives the best passages",
  parameters: {
    type: "object",
    properties: { query: { type: "string" }, limit: { type: "integer", minimum: 1 } },
    required: ["query"],
    additionalProperties: false,
  },
};

/** The members of a request other than its messages. */
export const tail = { model: MODEL, options: { temperature: 0.2 }, schema: SCHEMA, tools: [TOOL] };

/** Fillings of a request, by name. */
export const fillings = {
  "ASCII chat": (length, seed) => ({ role: seed % 2 ? "assistant" : "user", content: prose(length, seed) }),
  "CJK and emoji": (length, seed) => ({ role: seed % 2 ? "assistant" : "user", content: cjk(length, seed) }),
  "tool calls": (_length, seed) =>
    seed % 2
      ? { role: "tool", tool_call_id: `call_${seed - 1}`, content: JSON.stringify({ rank: 1, text: prose(150, seed) }) }
      : {
          role: "assistant",
          content: null,
          tool_calls: [
            { id: `call_${seed}`, name: "search", arguments: JSON.stringify({ query: prose(30, seed), limit: 8 }) },
          ],
        },
  "base64 images": (length, seed) => ({
    role: "user",
    content: [
      { type: "text", text: `What is in image ${seed}?` },
      { type: "image", image: { url: `data:image/png;base64,${base64(length, seed)}`, detail: "high" } },
    ],
  }),
};

/**
 * A request document with about `bytes` bytes of UTF-8 text.
 *
 * @param {keyof typeof fillings} filling
 * @param {number} bytes
 */
export function request(filling, bytes) {
  const small = bytes < 4096;
  const others = small ? { model: MODEL, options: { temperature: 0.2 } } : tail;
  const bytesPerUnit = filling === "CJK and emoji" ? 2.9 : 1;
  const message = fillings[filling];
  const longest = filling === "base64 images" ? 256 * 1024 : 1200;
  const messages = [];
  for (let left = bytes - JSON.stringify(others).length - 20; left > 100;) {
    const length = Math.max(20, Math.min(longest, (left - 60) / bytesPerUnit));
    messages.push(message(Math.floor(length), messages.length));
    left -= Buffer.byteLength(JSON.stringify(messages.at(-1))) + 1;
  }
  return { ...others, messages };
}
