// MCP servers over HTTP that are stopped before the client is replayed.
import { isReplayMissError, journalCall, resume, runWith } from "agent-rewind";
import { dumpSnapshot, type AgentSnapshot } from "agent-rewind/debugger";
import { rewindFetch } from "agent-rewind/fetch";
import { rewindTransport } from "agent-rewind/mcp";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { CreateMessageRequestSchema, LoggingMessageNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, it } from "vitest";

import { mcpHttpServer, type HttpKind, type McpHttpServer } from "../support/mcp-http.js";

type Transport = Parameters<Client["connect"]>[0];
type Program = (transport: Transport) => Promise<unknown>;

// The requests of a transport are a part of the client's request, also with a wrapped fetch.
const fetch = rewindFetch();
const wrapped = (server: McpHttpServer): Transport => rewindTransport(server.transport(fetch) as Transport);

/** A transport as seen by a client that does not call `setProtocolVersion`. */
const withoutVersion = (server: McpHttpServer): Transport =>
  new Proxy(wrapped(server), {
    get: (target, key) => (key === "setProtocolVersion" ? undefined : (Reflect.get(target, key) as unknown)),
  });

async function record(program: Program, server: McpHttpServer): Promise<{ value: unknown; snapshot: AgentSnapshot }> {
  const { value, text } = await runWith(
    async () => ({ value: await program(wrapped(server)), text: JSON.stringify(dumpSnapshot()) }),
    { enableSnapshot: true },
  );
  return { value, snapshot: JSON.parse(text) as AgentSnapshot };
}

const replayed = (program: Program, server: McpHttpServer, snapshot: AgentSnapshot): Promise<unknown> =>
  runWith(() => program(wrapped(server)), { snapshot, mode: "replay", enableSnapshot: true });

const textOf = (result: object): string => (result as { content: { text: string }[] }).content[0]?.text ?? "";
const newClient = (options = {}): Client => new Client({ name: "test", version: "1.0.0" }, options);
const call = async (client: Client, name: string, input: Record<string, unknown> = {}): Promise<string> =>
  textOf(await client.callTool({ name, arguments: input }));
const failure = async (request: Promise<unknown>): Promise<unknown> =>
  request.then(
    () => "succeeded",
    ({ message, code }: { message: string; code: unknown }) => ({ message, code }),
  );

/** Sends all kinds of requests. Request ids start at `first`. */
const tour =
  (first = 0): Program =>
  async (transport) => {
    const client = newClient();
    await client.connect(transport);
    for (let at = 0; at < first; at++) await client.ping();
    const tools = (await client.listTools()).tools.map(({ name }) => name);
    const ended: string[] = [];
    const waits = [60, 1, 30].map(async (ms) => ended.push(await call(client, "wait", { ms })));
    await Promise.all(waits);
    const added = await call(client, "add", { a: 1, b: 2 });
    const failed = await client.callTool({ name: "fail" });
    const missing = await failure(client.readResource({ uri: "file:///missing" }));
    const prompt = await client.getPrompt({ name: "greet", arguments: { who: "Ada" } });
    const version = client.getServerVersion();
    if ("terminateSession" in transport) await (transport as { terminateSession(): Promise<void> }).terminateSession();
    await client.close();
    return { tools, ended, added, failed, missing, prompt, version };
  };

const KINDS: HttpKind[] = ["streamable HTTP", "streamable HTTP without sessions", "SSE"];

describe.each(KINDS)("%s", (kind) => {
  it("replays without a request, whatever the request ids are", async () => {
    await using server = await mcpHttpServer(kind);
    const { value, snapshot } = await record(tour(), server);
    expect(value).toMatchObject({
      ended: expect.arrayContaining(["1", "30", "60"]) as string[],
      added: "3",
      failed: { isError: true },
      missing: { code: -32_602 },
    });
    const liveCalls = server.requests.length;
    expect(liveCalls).toBeGreaterThan(8);
    expect(await replayed(tour(), server, snapshot)).toEqual(value);
    expect(server.requests).toHaveLength(liveCalls);
    expect(await resume(() => tour(3)(wrapped(server)), { snapshot })).toEqual(value);
    const resumed = server.requests.length;
    expect(resumed).toBeGreaterThan(liveCalls);
    await server.stop();
    expect(await replayed(tour(), server, snapshot)).toEqual(value);
    expect(server.requests).toHaveLength(resumed);
  });

  it("repeats progress and messages before the answer", async () => {
    await using server = await mcpHttpServer(kind);
    const program: Program = async (transport) => {
      const client = newClient();
      const seen: unknown[] = [];
      client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void seen.push(params.data));
      await client.connect(transport);
      const onprogress = ({ progress, total = 0 }: { progress: number; total?: number | undefined }): void =>
        void seen.push(`${progress}/${total}`);
      seen.push(textOf(await client.callTool({ name: "steps", arguments: { of: 3 } }, undefined, { onprogress })));
      await client.close();
      return seen;
    };
    const { value, snapshot } = await record(program, server);
    await server.stop();
    expect((value as unknown[]).filter((line) => String(line).includes("/"))).toEqual(["1/3", "2/3", "3/3"]);
    expect((value as unknown[]).at(-1)).toBe("done");
    expect(await replayed(program, server, snapshot)).toEqual(value);
  });

  it.each([
    ["", wrapped],
    [", for a client before 1.13, which does not report its version", withoutVersion],
  ])("continues with the server where the recording ends, with new request ids%s", async (_name, wrap) => {
    await using server = await mcpHttpServer(kind);
    const adding =
      (more: number): Program =>
      async (transport) => {
        const client = newClient();
        await client.connect(transport);
        const sums = [];
        for (let at = 0; at <= more; at++) sums.push(await call(client, "add", { a: at, b: 1 }));
        await client.close();
        return sums;
      };
    const { snapshot } = await record(adding(1), server);
    const liveCalls = server.requests.length;
    expect(await resume(() => adding(3)(wrap(server)), { snapshot })).toEqual(["1", "2", "3", "4"]);
    expect(server.requests.length).toBeGreaterThan(liveCalls);
    const miss: unknown = await replayed(adding(3), server, snapshot).catch((error: unknown) => error);
    expect(isReplayMissError(miss)).toBe(true);
  });

  it("replays the failure of a stopped server", async () => {
    const server = await mcpHttpServer(kind);
    await server.stop();
    const program: Program = async (transport) => failure(newClient().connect(transport));
    const { value, snapshot } = await record(program, server);
    expect(value).toMatchObject({ message: expect.stringContaining("fetch failed") as string });
    expect(await replayed(program, server, snapshot)).toEqual(value);
  });
});

it.each(["streamable HTTP", "SSE"] as const)(
  "records requests of a server over %s to the client as part of the tool's answer",
  async (kind) => {
    await using server = await mcpHttpServer(kind);
    let asked = 0;
    const ask = (): Promise<string> => journalCall({ kind: "chat", name: "m", request: {} }, () => `yes ${++asked}`);
    const program: Program = async (transport) => {
      const client = newClient({ capabilities: { sampling: {} } });
      client.setRequestHandler(CreateMessageRequestSchema, async () => {
        const text = await ask();
        return { model: "m", role: "assistant" as const, content: { type: "text" as const, text } };
      });
      await client.connect(transport);
      const answer = await call(client, "ask", { question: "really?" });
      await client.close();
      return [answer, await ask()];
    };
    const { value, snapshot } = await record(program, server);
    expect(value).toEqual(["the model says: yes 1", "yes 2"]);
    // Requests that the client makes to answer the server belong to the tool call.
    expect(snapshot.root.calls?.filter((each) => each.kind === "fetch")).toEqual([]);
    const asks = snapshot.root.calls?.filter((each) => each.kind === "chat");
    expect(asks?.map(({ within }) => within)).toEqual([expect.stringMatching(/^root\/tool:.*ask:0$/), undefined]);
    await server.stop();
    expect(await replayed(program, server, snapshot)).toEqual(value);
    expect(asked).toBe(2);
  },
);
