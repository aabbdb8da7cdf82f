// node guard.mjs: proves that the network guard refuses clients that no wrapper knows in a strict replay, before a byte has
// left, and reports them while a run is recorded; that it reports MCP over stdio, and does not disturb a database. Prints
// the results as JSON.
import { BedrockRuntimeClient, ConverseCommand } from "@aws-sdk/client-bedrock-runtime";
import { googleAI } from "@genkit-ai/google-genai";
import grpc from "@grpc/grpc-js";
import { Agent } from "@mastra/core/agent";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { isUnrecordedRequestError, replay, runWith } from "agent-rewind";
import { dumpSnapshot } from "agent-rewind/debugger";
import axios from "axios";
import { genkit } from "genkit";
import got from "got";
import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import http from "node:http";
import net from "node:net";
import { fileURLToPath } from "node:url";
import { request } from "undici";

// Servers of another process: those of this one are allowed.
const servers = fork(fileURLToPath(new URL("../../__test__/guard/server.mjs", import.meta.url)));
const [[port, port2, database]] = await once(servers, "message");
const url = `http://127.0.0.1:${port}`;
const url2 = `http://127.0.0.1:${port2}`;
/** The requests that reached the servers since the last call. */
async function received() {
  const answer = once(servers, "message");
  servers.send({});
  return (await answer)[0];
}

const bedrock = new BedrockRuntimeClient({
  endpoint: url2,
  region: "us-east-1",
  credentials: { accessKeyId: "none", secretAccessKey: "none" },
  maxAttempts: 1,
});
const channel = new grpc.Client(`127.0.0.1:${port2}`, grpc.credentials.createInsecure());
const bytes = (buffer) => buffer;
const mastra = new Agent({
  id: "a",
  name: "a",
  instructions: "x",
  model: { id: "custom/m", url, apiKey: "none" },
  maxRetries: 0,
});
const ai = genkit({ plugins: [googleAI({ apiKey: "none", baseUrl: url })] });
const CLIENTS = {
  axios: () => axios.post(url, {}),
  got: () => got.post(url, { retry: { limit: 0 } }),
  "node:http": () =>
    new Promise((resolve, reject) => {
      const sent = http.request(url, { method: "POST" }, (response) => response.resume().on("end", resolve));
      sent.on("error", reject).end();
    }),
  undici: async () => (await request(url, { method: "POST" })).body.text(),
  gRPC: () =>
    new Promise((resolve, reject) =>
      // It tries again until its deadline.
      channel.makeUnaryRequest(
        "/weather.Weather/Get",
        bytes,
        bytes,
        Buffer.from("Oslo"),
        new grpc.Metadata(),
        { deadline: Date.now() + 3_000 },
        (error, answer) => (error ? reject(error) : resolve(answer)),
      ),
    ),
  "Bedrock's default client": () =>
    bedrock.send(new ConverseCommand({ modelId: "m", messages: [{ role: "user", content: [{ text: "x" }] }] })),
  "Mastra's model router": () => mastra.generate("x"),
  "Genkit's googleAI": () =>
    ai.generate({ model: googleAI.model("gemini-2.5-flash"), prompt: "x", config: { maxRetries: 0 } }),
  "MCP over HTTP": () =>
    new Client({ name: "c", version: "1" }).connect(new StreamableHTTPClientTransport(new URL(url))),
};

const snapshot = await runWith(() => dumpSnapshot(), { enableSnapshot: true });
/** The report of a run, and how it failed. Clients get answers that they do not understand. */
async function runOf(start, send) {
  let report;
  // Returns nothing: an answer of got is a stream, which a run would wait for.
  const program = async () => void (await send().catch(() => {}));
  const error = await start(program, (given) => (report = given)).catch((failure) => failure);
  return { error, unrecorded: report.unrecorded };
}
const strict = (fn, onReport) => replay(fn, { snapshot, onReport });
const reporting = (fn, onReport) => runWith(fn, { enableSnapshot: true, network: "report", onReport });

const PROOFS = Object.entries(CLIENTS).map(([title, send]) => [
  title,
  async () => {
    for (const round of ["before it has connected", "afterwards"]) {
      await received();
      const refused = await runOf(strict, send);
      assert.ok(isUnrecordedRequestError(refused.error), `${round}: ${refused.error}`);
      assert.deepEqual(await received(), [], round);
      const reported = await runOf(reporting, send);
      assert.equal(reported.error, undefined);
      assert.match(reported.unrecorded[0].host, /^127\.0\.0\.1:\d+$/);
      assert.ok((await received()).length > 0);
    }
  },
]);
PROOFS.push([
  "MCP over stdio, reported",
  async () => {
    mkdirSync(new URL(".results/", import.meta.url), { recursive: true });
    const args = ["mcp-server.mjs", ".results/"].map((path) => fileURLToPath(new URL(path, import.meta.url)));
    const { error, unrecorded } = await runOf(strict, async () => {
      const client = new Client({ name: "c", version: "1" });
      await client.connect(
        new StdioClientTransport({ command: process.execPath, args: [args[0], `${args[1]}guard.log`] }),
      );
      await client.close();
    });
    assert.equal(error, undefined);
    assert.match(unrecorded[0].host, /^stdio: .*mcp-server\.mjs$/);
  },
]);
PROOFS.push([
  "a database on localhost, not disturbed",
  async () => {
    const query = async (socket, text) => {
      socket.write(text);
      return String((await once(socket, "data"))[0]);
    };
    const open = net.connect(database, "127.0.0.1");
    const rows = await replay(
      async () => {
        const own = net.connect(database, "127.0.0.1");
        return [await query(open, "a"), await query(own, "b")].concat(String(own.destroy().destroyed));
      },
      { snapshot },
    );
    assert.deepEqual(rows, ["rows of a", "rows of b", "true"]);
    open.destroy();
  },
]);

const results = {};
// The refusals.
console.error = () => {};
for (const [title, prove] of PROOFS) {
  try {
    await prove();
    results[title] = "ok";
  } catch (error) {
    results[title] = String(error?.stack ?? error);
  }
}
servers.kill();
process.send?.(results);
if (process.send === undefined) console.log(results);
process.exit(0);
