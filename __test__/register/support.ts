import { spawn } from "node:child_process";
import { createServer, type Server } from "node:http";
import { mkdtempSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

import { onTestFinished } from "vitest";

const CLI = fileURLToPath(new URL("../../dist/cli/main.mjs", import.meta.url));

export const program = (name: string): string => fileURLToPath(new URL(`programs/${name}`, import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly out: string;
  readonly err: string;
}

export function execute(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
  const child = spawn(process.execPath, args, { env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
  let out = "";
  let err = "";
  child.stdout.setEncoding("utf8").on("data", (text) => (out += text));
  child.stderr.setEncoding("utf8").on("data", (text) => (err += text));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => resolve({ code, signal, out, err }));
  });
}

export const cli = (args: readonly string[], env?: Readonly<Record<string, string>>): Promise<Ended> =>
  execute([CLI, ...args], env);

export function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "agent-rewind-test-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

export interface ModelServer {
  readonly base: string;
  /** The paths of the requests so far. */
  readonly asked: string[];
  close(): void;
}

/** Every answer is another one. Some are compressed, some arrive in parts. */
export async function modelServer(): Promise<ModelServer> {
  const asked: string[] = [];
  const server: Server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text) => (body += text));
    request.on("end", () => {
      asked.push(request.url ?? "");
      const content = `answer ${asked.length}`;
      if (body.includes('"stream":true')) {
        response.setHeader("content-type", "text/event-stream");
        for (const part of [content, "!"])
          response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: part } }] })}\n\n`);
        return response.end("data: [DONE]\n\n");
      }
      const calls = [{ id: "call_1", type: "function", function: { name: "weather", arguments: '{"city":"Oslo"}' } }];
      const isToolCall = body.includes('"tools"') && !body.includes('"role":"tool"');
      const message = { role: "assistant", content, ...(isToolCall ? { tool_calls: calls } : {}) };
      const choices = [{ index: 0, message, finish_reason: isToolCall ? "tool_calls" : "stop" }];
      const text = JSON.stringify({ answer: content, body, model: "some-model", choices });
      response.setHeader("content-type", "application/json");
      if (request.headers["accept-encoding"]?.includes("gzip") !== true) return response.end(text);
      response.setHeader("content-encoding", "gzip");
      response.end(gzipSync(text));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  onTestFinished(close);
  return { base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked, close };
}
