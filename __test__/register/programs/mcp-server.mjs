import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { appendFileSync } from "node:fs";

const server = new McpServer({ name: "dice", version: "1.0.0" });
server.registerTool("dice", { description: "Rolls a die", inputSchema: {} }, async () => {
  appendFileSync(process.argv[2], "mcp\n");
  return { content: [{ type: "text", text: `${Math.random()}` }] };
});
await server.connect(new StdioServerTransport());
