// An MCP server on standard input and output. It notes its start and the calls of its tool in a file.
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { appendFileSync } from "node:fs";
import { z } from "zod";

const [, , log] = process.argv;
appendFileSync(log, "started\n");
const server = new McpServer({ name: "weather", version: "1.0.0" });
server.registerTool("forecast", { inputSchema: { city: z.string() } }, ({ city }) => {
  appendFileSync(log, "called\n");
  return { content: [{ type: "text", text: `Rain in ${city}: ${Math.random()}` }] };
});
await server.connect(new StdioServerTransport());
