// An MCP server for tests: `createServer()` in the same process, or a program on standard input and output.
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { ErrorCode, McpError } from "@modelcontextprotocol/sdk/types.js";
import { pathToFileURL } from "node:url";
import { z } from "zod";

/**
 * @param {{ name?: string, log?: (line: string) => void, isBroken?: () => boolean }} [options] `log` receives each
 * request for a tool. While it `isBroken`, the tool and the resource "flaky" fail.
 */
export function createServer({ name = "tools", log = () => {}, isBroken = () => false } = {}) {
  const server = new McpServer({ name, version: "1.0.0" }, { capabilities: { logging: {} } });
  const text = (value) => ({ content: [{ type: "text", text: String(value) }] });
  let count = 0;
  server.registerTool("add", { inputSchema: { a: z.number(), b: z.number() } }, ({ a, b }) => {
    log(`add ${a} ${b}`);
    return text(a + b);
  });
  server.registerTool("count", {}, () => {
    log("count");
    return text(++count);
  });
  server.registerTool("wait", { inputSchema: { ms: z.number() } }, async ({ ms }) => {
    log(`wait ${ms}`);
    await new Promise((resolve) => setTimeout(resolve, ms));
    return text(ms);
  });
  server.registerTool("flaky", {}, () => {
    log("flaky");
    return isBroken() ? { ...text("out of order"), isError: true } : text("well");
  });
  server.registerResource("flaky", "file:///flaky", {}, (uri) => {
    log("flaky resource");
    if (isBroken()) throw new McpError(ErrorCode.InternalError, "out of order");
    return { contents: [{ uri: uri.href, text: "well" }] };
  });
  server.registerTool("fail", {}, () => ({ ...text("no such file"), isError: true }));
  server.registerTool("hang", {}, () => new Promise(() => {}));
  server.registerTool("crash", {}, () => process.exit(1));
  server.registerTool("steps", { inputSchema: { of: z.number() } }, async ({ of }, { _meta, sendNotification }) => {
    log(`steps ${of}`);
    for (let progress = 1; progress <= of; progress++) {
      await sendNotification({ method: "notifications/message", params: { level: "info", data: `step ${progress}` } });
      const params = { progressToken: _meta?.progressToken, progress, total: of };
      if (_meta?.progressToken !== undefined) await sendNotification({ method: "notifications/progress", params });
    }
    return text("done");
  });
  server.registerTool("ask", { inputSchema: { question: z.string() } }, async ({ question }) => {
    const message = { role: "user", content: { type: "text", text: question } };
    const { content } = await server.server.createMessage({ messages: [message], maxTokens: 10 });
    return text(`the model says: ${content.text}`);
  });
  server.registerResource("readme", "file:///readme", {}, (uri) => ({
    contents: [{ uri: uri.href, text: "read me" }],
  }));
  server.registerResource("missing", "file:///missing", {}, () => {
    throw new McpError(ErrorCode.InvalidParams, "no resource", { uri: "file:///missing" });
  });
  server.registerPrompt("greet", { argsSchema: { who: z.string() } }, ({ who }) => ({
    messages: [{ role: "user", content: { type: "text", text: `Greet ${who}` } }],
  }));
  return server;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await createServer().connect(new StdioServerTransport());
}
