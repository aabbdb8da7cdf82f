// Clients that no wrapper knows, each with connections of its own.

import Anthropic from "@anthropic-ai/sdk";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import http, { request as importedRequest } from "node:http";
import http2 from "node:http2";
import net from "node:net";
import OpenAI from "openai";

import type { Servers } from "./support.js";

type Undici = typeof import("undici8");

const [major = 0] = process.versions.node.split(".").map(Number);
const COPIES: readonly [string, Undici][] = [
  ["undici 6", (await import("undici6")) as unknown as Undici],
  ["undici 7", (await import("undici7")) as unknown as Undici],
  // It needs Node 22.19.
  ...(major >= 22 ? [["undici 8", await import("undici8")] as [string, Undici]] : []),
];

export const capturedFetch = globalThis.fetch;
const capturedRequest = http.request;

export type Send = () => Promise<unknown>;

function sentBy(request: typeof http.request, url: string, options: http.RequestOptions = {}): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/http?secret=1`, { method: "POST", ...options }, (response) => {
      response.resume();
      response.on("end", () => resolve("answered"));
    });
    sent.on("error", reject);
    sent.end("{}");
  });
}

function sentOn(session: http2.ClientHttp2Session): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ":method": "POST", ":path": "/h2?secret=1" });
    stream.on("error", reject);
    stream.on("end", () => resolve("answered"));
    stream.resume();
    stream.end("{}");
  });
}

function undiciClients(
  name: string,
  { Pool, Agent, request, fetch: undiciFetch, interceptors }: Undici,
  url: string,
): { sends: Record<string, Send>; close(): Promise<unknown> } {
  const post = { method: "POST", body: "{}" } as const;
  const pool = new Pool(url, { connections: 1 });
  const limited = new Agent({ connections: 1 });
  const composed = new Pool(url, { connections: 1 }).compose(interceptors.retry({ maxRetries: 0 }));
  const fetched = async (path: string, dispatcher?: typeof limited): Promise<string> =>
    (await undiciFetch(url + path, { ...post, ...(dispatcher === undefined ? {} : { dispatcher }) })).text();
  const sends = {
    [`${name}, a request`]: async () => (await request(`${url}/undici`, post)).body.text(),
    [`${name}, a fetch`]: () => fetched("/undici"),
    [`${name}, a pool of one connection`]: async () => (await pool.request({ path: "/pool", ...post })).body.text(),
    [`${name}, a fetch through one connection`]: () => fetched("/limited", limited),
    [`${name}, a fetch through a pool with interceptors`]: () => fetched("/composed", composed as never),
  };
  return { sends, close: () => Promise.all([pool.destroy(), limited.destroy(), composed.destroy()]) };
}

/** One client of each kind, by name. `close` closes the connections that they keep. */
export function clients({ http: url, http2: url2 }: Servers): { all: Record<string, Send>; close(): Promise<void> } {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const session = http2.connect(url2);
  session.on("error", () => {});
  const post = { method: "POST", body: "{}" } as const;
  const openai = new OpenAI({ baseURL: url, apiKey: "k", maxRetries: 0 });
  const anthropic = new Anthropic({ baseURL: url, apiKey: "k", maxRetries: 0 });
  const all: Record<string, Send> = {
    "the global fetch": () => fetch(`${url}/fetch?secret=1`, post).then((response) => response.text()),
    "a fetch that was captured": () => capturedFetch(`${url}/captured`, post).then((response) => response.text()),
    "a fetch of a Request": () => fetch(new Request(`${url}/request`, post)).then((response) => response.text()),
    "http.request": () => sentBy(http.request, url),
    "a named import of it": () => sentBy(importedRequest, url),
    "an http.request that was captured": () => sentBy(capturedRequest, url),
    "an agent of one socket": () => sentBy(http.request, url, { agent }),
    "no agent": () => sentBy(http.request, url, { agent: false }),
    "a connection of its own": () =>
      sentBy(http.request, url, { createConnection: () => net.connect(Number(new URL(url).port), "127.0.0.1") }),
    "a new http2 session": async () => {
      const own = http2.connect(url2);
      own.on("error", () => {});
      return sentOn(own).finally(() => own.close());
    },
    "an open http2 session": () => sentOn(session),
    "a socket that speaks HTTP": () =>
      new Promise((resolve, reject) => {
        const socket = net.connect(Number(new URL(url).port), "127.0.0.1");
        socket.on("error", reject);
        socket.on("data", () => resolve(socket.destroy()));
        socket.write(`GET /raw HTTP/1.1\r\nhost: ${new URL(url).host}\r\nconnection: close\r\n\r\n`);
      }),
    "the client of OpenAI": () => openai.chat.completions.create({ model: "m", messages: [] }),
    "the client of Anthropic": () => anthropic.messages.create({ model: "m", max_tokens: 5, messages: [] }),
  };
  const undici = COPIES.map(([name, copy]) => undiciClients(name, copy, url));
  for (const { sends } of undici) Object.assign(all, sends);
  const close = async (): Promise<void> => {
    session.close();
    agent.destroy();
    await Promise.all(undici.map((copy) => copy.close()));
  };
  return { all, close };
}

/** An MCP client over HTTP that is not wrapped. */
export async function mcpOverHttp(url: string): Promise<unknown> {
  const client = new Client({ name: "c", version: "1" });
  return client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)) as never);
}
