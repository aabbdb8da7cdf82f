// Short streams of each protocol, with UTF-8 characters of all lengths, a tool call, reasoning, keep-alives and errors,
// each with the official client that reads it.
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";

export interface ClientStream {
  /** The part shared with another stream, where that stream is cut too. */
  readonly common: string;
  /** The part where this stream is cut. */
  readonly own: string;
  /** Returns everything that a user of the client sees. */
  ask(url: string, fetch: typeof globalThis.fetch): Promise<AsyncIterable<unknown>>;
}

const event = (data: object | string, name?: string): string =>
  `${name === undefined ? "" : `event: ${name}\n`}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;
const typed = (type: string, fields: object = {}): string => event({ type, ...fields }, type);

const chat = (delta: object): string => event({ choices: [{ index: 0, delta }] });
const CHAT = [
  ": keep-alive\n\n",
  chat({ reasoning_content: "hm…" }),
  chat({ content: "å語🌍" }),
  chat({ tool_calls: [{ index: 0, id: "c", function: { name: "f", arguments: '{"a":' } }] }),
  ": keep-alive\n\n",
  chat({ tool_calls: [{ index: 0, function: { arguments: '"é"}' } }] }),
].join("");

const RESPONSES = [
  typed("response.created", { response: { id: "r", output: [] } }),
  typed("response.reasoning_summary_text.delta", { delta: "hm…" }),
  ": keep-alive\n\n",
  typed("response.output_text.delta", { delta: "å語🌍" }),
  typed("response.function_call_arguments.delta", { delta: '{"a":"é"}' }),
].join("");

const block = (index: number, delta: object): string => typed("content_block_delta", { index, delta });
const MESSAGES = [
  typed("message_start", { message: { id: "m", role: "assistant", content: [], usage: { input_tokens: 1 } } }),
  typed("content_block_start", { index: 0, content_block: { type: "thinking", thinking: "", signature: "" } }),
  block(0, { type: "thinking_delta", thinking: "hm…" }),
  typed("ping"),
  typed("content_block_start", { index: 1, content_block: { type: "text", text: "" } }),
  block(1, { type: "text_delta", text: "å語🌍" }),
  typed("content_block_start", { index: 2, content_block: { type: "tool_use", id: "t", name: "f", input: {} } }),
  block(2, { type: "input_json_delta", partial_json: '{"a":"é"}' }),
].join("");

const gemini = (parts: object[], more: object = {}): string =>
  event({ candidates: [{ content: { role: "model", parts }, index: 0, ...more }] });
const GEMINI = [
  gemini([{ text: "hm…", thought: true }]),
  ": keep-alive\n\n",
  gemini([{ text: "å語🌍" }]),
  gemini([{ functionCall: { name: "f", args: { a: "é" } } }]),
].join("");

const none = { apiKey: "key", maxRetries: 0 };
const messages = [{ role: "user" as const, content: "hi" }];

const askChat: ClientStream["ask"] = (url, fetch) =>
  new OpenAI({ ...none, baseURL: url, fetch }).chat.completions.create({ model: "m", messages, stream: true });
const askResponses: ClientStream["ask"] = (url, fetch) =>
  new OpenAI({ ...none, baseURL: url, fetch }).responses.create({ model: "m", input: "hi", stream: true });
const askMessages: ClientStream["ask"] = (url, fetch) =>
  new Anthropic({ ...none, baseURL: url, fetch }).messages.create({
    model: "m",
    max_tokens: 9,
    messages,
    stream: true,
  });
const askGemini: ClientStream["ask"] = (url, fetch) =>
  new GoogleGenAI({ apiKey: "key", httpOptions: { baseUrl: url, fetch } }).models.generateContentStream({
    model: "m",
    contents: "hi",
  });

const error = { type: "overloaded_error", message: "zu viel ☕" };

export const CLIENT_STREAMS: Readonly<Record<string, ClientStream>> = {
  "OpenAI chat completions": { common: "", own: CHAT + event("[DONE]"), ask: askChat },
  "OpenAI chat completions, with an error on the way": { common: CHAT, own: event({ error }), ask: askChat },
  "OpenAI responses": {
    common: "",
    own: RESPONSES + typed("response.completed", { response: { id: "r" } }),
    ask: askResponses,
  },
  "OpenAI responses, with an error on the way": { common: RESPONSES, own: typed("error", error), ask: askResponses },
  "Anthropic messages": { common: "", own: MESSAGES + typed("message_stop"), ask: askMessages },
  "Anthropic messages, with an error on the way": {
    common: MESSAGES,
    own: typed("error", { error }),
    ask: askMessages,
  },
  Gemini: { common: "", own: GEMINI + gemini([{ text: "" }], { finishReason: "STOP" }), ask: askGemini },
  "Gemini, with an error on the way": {
    common: GEMINI,
    own: event({ error: { code: 503, status: "UNAVAILABLE", message: "zu viel ☕" } }),
    ask: askGemini,
  },
};
