// Sends one request with each client to a local server, and prints what the server received: JSON of a list. Runs in a folder
// that has the clients, see record.mjs.
import { createServer } from "node:http";

const KEY = "key-of-the-recording-1234567890";
const MESSAGES = [
  { role: "system", content: "Be brief." },
  { role: "user", content: "Why is the sky blue? – « naïve » 🐟" },
];

/** @type {Record<string, (url: string) => Promise<unknown>>} by package */
const CLIENTS = {
  openai: async (url) => {
    const { default: OpenAI } = await import("openai");
    const client = new OpenAI({ apiKey: KEY, baseURL: url, organization: "org-1", maxRetries: 0 });
    return client.chat.completions.create({ model: "m", messages: MESSAGES, temperature: 0.5, seed: 7 });
  },
  "openai (upload)": async (url) => {
    const { default: OpenAI, toFile } = await import("openai");
    const client = new OpenAI({ apiKey: KEY, baseURL: url, maxRetries: 0 });
    const file = await toFile(Buffer.from([0, 255, 13, 10, 45, 45, 128]), "ä file.bin", { type: "application/x-data" });
    return client.files.create({ file, purpose: "assistants" });
  },
  "@anthropic-ai/sdk": async (url) => {
    const { default: Anthropic } = await import("@anthropic-ai/sdk");
    const client = new Anthropic({ apiKey: KEY, baseURL: url, maxRetries: 0 });
    return client.messages.create({ model: "m", max_tokens: 9, messages: MESSAGES.slice(1) });
  },
  "@google/genai": async (url) => {
    const { GoogleGenAI } = await import("@google/genai");
    const client = new GoogleGenAI({ apiKey: KEY, httpOptions: { baseUrl: url } });
    return client.models.generateContent({ model: "m", contents: MESSAGES[1].content, config: { temperature: 0.5 } });
  },
  "@mistralai/mistralai": async (url) => {
    const { Mistral } = await import("@mistralai/mistralai");
    return new Mistral({ apiKey: KEY, serverURL: url }).chat.complete({ model: "m", messages: MESSAGES });
  },
  "cohere-ai": async (url) => {
    const { CohereClientV2 } = await import("cohere-ai");
    return new CohereClientV2({ token: KEY, environment: url }).chat({ model: "m", messages: MESSAGES });
  },
  "@aws-sdk/client-bedrock-runtime": async (url) => {
    const { BedrockRuntimeClient, ConverseCommand } = await import("@aws-sdk/client-bedrock-runtime");
    const { NodeHttpHandler } = await import("@smithy/node-http-handler");
    const client = new BedrockRuntimeClient({
      region: "eu-north-1",
      endpoint: url,
      requestHandler: new NodeHttpHandler(),
      credentials: { accessKeyId: "id", secretAccessKey: KEY, sessionToken: "session" },
    });
    const messages = [{ role: "user", content: [{ text: MESSAGES[1].content }] }];
    return client.send(new ConverseCommand({ modelId: "m", messages }));
  },
  ollama: async (url) => {
    const { Ollama } = await import("ollama");
    return new Ollama({ host: url }).chat({ model: "m", messages: MESSAGES });
  },
  "groq-sdk": async (url) => {
    const { default: Groq } = await import("groq-sdk");
    return new Groq({ apiKey: KEY, baseURL: url, maxRetries: 0 }).chat.completions.create({
      model: "m",
      messages: MESSAGES,
    });
  },
  "together-ai": async (url) => {
    const { default: Together } = await import("together-ai");
    const client = new Together({ apiKey: KEY, baseURL: url, maxRetries: 0 });
    return client.chat.completions.create({ model: "m", messages: MESSAGES });
  },
  "@huggingface/inference": async (url) => {
    const { InferenceClient } = await import("@huggingface/inference");
    return new InferenceClient(KEY, { endpointUrl: url }).chatCompletion({ model: "m", messages: MESSAGES });
  },
  axios: async (url) => {
    const { default: axios } = await import("axios");
    return axios.post(
      `${url}/chat`,
      { model: "m", messages: MESSAGES },
      { headers: { Authorization: `Bearer ${KEY}` } },
    );
  },
  "@modelcontextprotocol/sdk": async (url) => {
    const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
    const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/sdk/client/streamableHttp.js");
    return new Client({ name: "agent", version: "1" }).connect(
      new StreamableHTTPClientTransport(new URL(`${url}/mcp`)),
    );
  },
  replicate: async (url) => {
    const { default: Replicate } = await import("replicate");
    return new Replicate({ auth: KEY, baseUrl: url }).predictions.create({ model: "a/b", input: { prompt: "sky" } });
  },
  "@ai-sdk/openai": async (url) => {
    const { createOpenAI } = await import("@ai-sdk/openai");
    const { generateText } = await import("ai");
    return generateText({ model: createOpenAI({ baseURL: url, apiKey: KEY }).chat("m"), prompt: "sky", maxRetries: 0 });
  },
};

const received = [];
const server = createServer((request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const { method, url: path, rawHeaders } = request;
    received.push({ method, path, headers: pairs(rawHeaders), body: Buffer.concat(chunks).toString("base64") });
    // No client can read this answer. Its request is all that is wanted.
    response.writeHead(400, { "content-type": "application/json", connection: "close" }).end("{}");
  });
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const url = `http://127.0.0.1:${server.address().port}`;
const list = [];
for (const [client, send] of Object.entries(CLIENTS)) {
  received.length = 0;
  const cause = await send(url).catch((error) => error);
  if (received.length === 0) throw new Error(`${client} sent nothing`, { cause });
  list.push({ client, node: process.version, ...received[0] });
}
console.log(JSON.stringify(list));
process.exit(0);

function pairs(raw) {
  return Array.from({ length: raw.length / 2 }, (_, index) => [raw[2 * index], raw[2 * index + 1]]);
}
