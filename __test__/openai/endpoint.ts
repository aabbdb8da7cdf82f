import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import OpenAI, { type ClientOptions } from "openai";
import { onTestFinished } from "vitest";

export interface EndpointRequest {
  readonly body: Record<string, any>;
  readonly headers: IncomingHttpHeaders;
  /** The number of the request, from 0. */
  readonly index: number;
}

export type Handler = (request: EndpointRequest, response: ServerResponse) => void;

export interface Endpoint {
  readonly requests: EndpointRequest[];
  readonly baseURL: string;
  /** A client of the `openai` package for this endpoint, by default without retries. */
  client(options?: ClientOptions): OpenAI;
}

/** A local endpoint. Its handler can be replaced while it runs. */
export async function startEndpoint(handler: Handler): Promise<Endpoint & { handler: Handler }> {
  const requests: EndpointRequest[] = [];
  const server = createServer((incoming, response) => {
    const pieces: Buffer[] = [];
    incoming.on("data", (piece: Buffer) => pieces.push(piece));
    incoming.on("end", () => {
      const body = JSON.parse(Buffer.concat(pieces).toString()) as Record<string, any>;
      const request = { body, headers: incoming.headers, index: requests.length };
      requests.push(request);
      endpoint.handler(request, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const endpoint = {
    requests,
    baseURL,
    handler,
    client: (options: ClientOptions = {}) => new OpenAI({ baseURL, apiKey: "none", maxRetries: 0, ...options }),
  };
  return endpoint;
}

/** Chunks as a stream of server-sent events. */
export function sse(chunks: readonly unknown[]): string {
  return [...chunks.map((chunk) => JSON.stringify(chunk)), "[DONE]"].map((data) => `data: ${data}\n\n`).join("");
}

/** Answers with chunks. */
export function stream(chunks: readonly unknown[]): Handler {
  return (_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).end(sse(chunks));
  };
}

/** Answers with a body. */
export function json(body: unknown, status = 200, headers: Record<string, string> = {}): Handler {
  return (_request, response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
  };
}

export const delta = (part: object): object => ({ choices: [{ index: 0, delta: part, finish_reason: null }] });
export const finish = (reason = "stop"): object => ({ choices: [{ index: 0, delta: {}, finish_reason: reason }] });

/** A tool call, or a piece of one. */
export function fragment(index: number | undefined, id: string | undefined, name: string, input: string): object {
  const called = { ...(name === "" ? {} : { name }), arguments: input };
  return delta({
    tool_calls: [{ ...(index === undefined ? {} : { index }), ...(id === undefined ? {} : { id }), function: called }],
  });
}
