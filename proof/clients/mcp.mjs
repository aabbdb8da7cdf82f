// node mcp.mjs: proves that the MCP clients which frameworks create are recorded, and that a strict replay starts no
// server and calls no tool. Prints the results as JSON.
import { createMCPClient } from "@ai-sdk/mcp";
import { Experimental_StdioMCPTransport } from "@ai-sdk/mcp/mcp-stdio";
import { MultiServerMCPClient } from "@langchain/mcp-adapters";
import { MCPClient } from "@mastra/mcp";
import { Client as NewClient } from "@modelcontextprotocol/client";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { MCPServerStdio } from "@openai/agents";
import { replay, runWith } from "agent-rewind";
import { dumpSnapshot } from "agent-rewind/debugger";
import { rewindClients, rewindTransport } from "agent-rewind/mcp";
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

rewindClients(Client);
rewindClients(NewClient);

const log = fileURLToPath(new URL(".results/mcp.log", import.meta.url));
const server = { command: process.execPath, args: [fileURLToPath(new URL("mcp-server.mjs", import.meta.url)), log] };
mkdirSync(new URL(".results/", import.meta.url), { recursive: true });

const PROGRAMS = {
  "LangChain: MultiServerMCPClient": async () => {
    const client = new MultiServerMCPClient({ mcpServers: { weather: { transport: "stdio", ...server } } });
    const [tool] = await client.getTools();
    const answers = [await tool.invoke({ city: "Oslo" }), await tool.invoke({ city: "Oslo" })];
    await client.close();
    return answers;
  },
  "Mastra: MCPClient": async () => {
    const client = new MCPClient({ servers: { weather: server } });
    const [tool] = Object.values(await client.listTools());
    const answers = [await tool.execute({ city: "Oslo" }), await tool.execute({ city: "Oslo" })];
    await client.disconnect();
    return answers;
  },
  "OpenAI Agents: MCPServerStdio": async () => {
    const client = new MCPServerStdio({ ...server, name: "weather" });
    await client.connect();
    const [{ name }] = await client.listTools();
    const answers = [await client.callTool(name, { city: "Oslo" }), await client.callTool(name, { city: "Oslo" })];
    await client.close();
    return answers;
  },
  "AI SDK: createMCPClient": async () => {
    const client = await createMCPClient({ transport: rewindTransport(new Experimental_StdioMCPTransport(server)) });
    const { forecast } = await client.tools();
    const call = (toolCallId) => forecast.execute({ city: "Oslo" }, { toolCallId, messages: [] });
    const answers = [await call("1"), await call("2")];
    await client.close();
    return answers;
  },
};

const logged = () => {
  const lines = readFileSync(log, "utf8").split("\n");
  rmSync(log);
  return lines.filter((line) => line === "called").length;
};

const results = {};
for (const [title, program] of Object.entries(PROGRAMS)) {
  try {
    writeFileSync(log, "");
    const { value, snapshot } = await runWith(async () => ({ value: await program(), snapshot: dumpSnapshot() }), {
      enableSnapshot: true,
    });
    assert.equal(logged(), 2);
    writeFileSync(log, "");
    assert.deepEqual(await replay(program, { snapshot }), value);
    assert.equal(readFileSync(log, "utf8"), "", "no server may start");
    results[title] = "ok";
  } catch (error) {
    results[title] = String(error?.stack ?? error);
  }
}
process.send?.(results);
if (process.send === undefined) console.log(results);
process.exit(0);
