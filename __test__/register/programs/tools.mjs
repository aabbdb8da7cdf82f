// Tools of three frameworks, and of an MCP server. Each writes a line to a file when it is executed.
import { tool as langchainTool } from "@langchain/core/tools";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { generateText, stepCountIs, tool } from "ai";
import { createOpenAI } from "@ai-sdk/openai";
import { appendFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { z } from "zod";

const executed = (name) => appendFileSync(process.env.EXECUTED, `${name}\n`);

const weather = tool({
  inputSchema: z.object({ city: z.string() }),
  async execute({ city }) {
    executed("ai-sdk");
    return `${city}: ${Math.random()}`;
  },
});
const model = createOpenAI({ apiKey: "none", baseURL: `${process.env.BASE}/v1` }).chat("some-model");
const { text, steps } = await generateText({ model, tools: { weather }, prompt: "Oslo?", stopWhen: stepCountIs(3) });
console.log(text, JSON.stringify(steps.map(({ toolResults }) => toolResults.map(({ output }) => output))));

const clock = langchainTool(
  async () => {
    executed("langchain");
    return `${Math.random()}`;
  },
  { name: "clock", description: "Tells the time", schema: z.object({}) },
);
console.log(await clock.invoke({}));

const client = new Client({ name: "test", version: "1.0.0" });
const args = [fileURLToPath(new URL("mcp-server.mjs", import.meta.url)), process.env.EXECUTED];
await client.connect(new StdioClientTransport({ command: process.execPath, args }));
console.log(JSON.stringify(await client.callTool({ name: "dice", arguments: {} })));
await client.close();
