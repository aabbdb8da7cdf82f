// Local MCP servers over HTTP: streamable HTTP with and without sessions, and the older SSE.
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import { createServer } from "../mcp/server.mjs";

export type HttpKind = "streamable HTTP" | "streamable HTTP without sessions" | "SSE";

type ClientTransport = StreamableHTTPClientTransport | SSEClientTransport;

export interface McpHttpServer extends AsyncDisposable {
  /** A new client transport to the server, which sends its requests with `fetch`. */
  transport(fetch?: typeof globalThis.fetch): ClientTransport;
  readonly requests: string[];
  stop(): Promise<void>;
}

type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

export async function mcpHttpServer(kind: HttpKind): Promise<McpHttpServer> {
  const requests: string[] = [];
  const handle: Handler = kind === "SSE" ? sse() : streamable(kind === "streamable HTTP");
  const http = createHttpServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    handle(request, response).catch(() => response.destroy());
  });
  await once(http.listen(0, "127.0.0.1"), "listening");
  const url = new URL(`http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`);
  const stop = async (): Promise<void> => {
    http.closeAllConnections();
    await new Promise((resolve) => http.close(resolve));
  };
  const transport = (fetch?: typeof globalThis.fetch): ClientTransport => {
    const options = fetch === undefined ? {} : { fetch };
    return kind === "SSE" ? new SSEClientTransport(url, options) : new StreamableHTTPClientTransport(url, options);
  };
  return { transport, requests, stop, [Symbol.asyncDispose]: stop };
}

function sse(): Handler {
  const sessions = new Map<string, SSEServerTransport>();
  return async (request, response) => {
    if (request.method === "GET") {
      const transport = new SSEServerTransport("/mcp", response);
      sessions.set(transport.sessionId, transport);
      await createServer().connect(transport);
      return;
    }
    const id = new URL(request.url ?? "", "http://localhost").searchParams.get("sessionId") ?? "";
    await sessions.get(id)?.handlePostMessage(request, response);
  };
}

function streamable(withSessions: boolean): Handler {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  return async (request, response) => {
    const id = request.headers["mcp-session-id"];
    const known = typeof id === "string" ? sessions.get(id) : undefined;
    if (known !== undefined) return known.handleRequest(request, response);
    const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
      ...(withSessions ? { sessionIdGenerator: () => randomUUID() } : {}),
      onsessioninitialized: (session) => void sessions.set(session, transport),
    });
    await createServer().connect(transport as Parameters<ReturnType<typeof createServer>["connect"]>[0]);
    await transport.handleRequest(request, response);
  };
}
