// Clients that a framework creates itself, recorded by their class.
import { isReplayMissError, resume, type AgentSnapshot } from "agent-rewind";
import { rewindClients, rewindTransport } from "agent-rewind/mcp";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { expect, it } from "vitest";
import { fileURLToPath } from "node:url";

import { mcpHttpServer } from "../support/mcp-http.js";
import { record, replayed } from "../support/recorded.js";

type Transport = Parameters<Client["connect"]>[0];

const program = fileURLToPath(new URL("server.mjs", import.meta.url));
const stdio = (): StdioClientTransport => new StdioClientTransport({ command: process.execPath, args: [program] });

const original = Client.prototype.connect;
rewindClients(Client);
// For example by a setup file that each test file imports.
rewindClients(Client);

/** Like a framework: one client for each server, and a tool that calls it. */
class Framework {
  readonly pids: (number | null)[] = [];
  readonly #clients: Client[] = [];

  async connect(transport: Transport, client = new Client({ name: "framework", version: "1.0.0" })): Promise<Client> {
    await client.connect(transport);
    if (transport instanceof StdioClientTransport) this.pids.push(transport.pid);
    this.#clients.push(client);
    return client;
  }

  async close(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.close()));
  }
}

const call = async (client: Client, name: string, input: Record<string, unknown> = {}): Promise<unknown> => {
  const { content } = await client.callTool({ name, arguments: input });
  return (content as { text: string }[])[0]?.text;
};

const names = ({ root }: AgentSnapshot): string[] =>
  (root.calls ?? []).map(({ callId }) => /^root\/(.+):\d+$/.exec(callId)?.[1] ?? "").toSorted();

it("no server is started in a strict replay, and on resume only one that is needed", async () => {
  const run =
    (more = false) =>
    async () => {
      const framework = new Framework();
      try {
        const first = await framework.connect(stdio());
        const second = await framework.connect(stdio());
        const answers = [await call(first, "count"), await call(first, "count"), await call(second, "count")];
        if (more) answers.push(await call(second, "add", { a: 1, b: 2 }));
        return { answers, started: framework.pids.map((pid) => pid !== null) };
      } finally {
        await framework.close();
      }
    };
  const { value, snapshot } = await record(run());
  expect(value.answers).toEqual(["1", "2", "1"]);
  // Servers start with the first request that is not recorded: when recording, with "initialize".
  expect(value.started).toEqual([true, true]);
  expect(names(snapshot)).toEqual(["mcp:initialize", "mcp:initialize", ...Array<string>(3).fill("tool:tools/count")]);

  const again = { answers: value.answers, started: [false, false] };
  expect(await replayed(run(), snapshot)).toEqual(again);
  await expect(replayed(run(true), snapshot)).rejects.toSatisfy(isReplayMissError);
  const resumed = await resume(run(true), { snapshot });
  expect(resumed).toEqual({ answers: [...value.answers, "3"], started: [false, false] });
});

it("a transport over HTTP, a subclass of the client, and a transport that is already wrapped", async () => {
  class OwnClient extends Client {
    override async connect(transport: Transport): Promise<void> {
      await super.connect(transport);
    }
  }
  await using server = await mcpHttpServer("streamable HTTP");
  const run = async () => {
    const framework = new Framework();
    const own = await framework.connect(server.transport() as Transport, new OwnClient({ name: "own", version: "1" }));
    const named = rewindTransport(server.transport() as Transport, { server: "named" });
    const answers = [await call(own, "count"), await call(await framework.connect(named), "count")];
    await framework.close();
    return answers;
  };
  const { value, snapshot } = await record(run);
  expect(names(snapshot)).toEqual(["mcp:initialize", "mcp:named/initialize", "tool:named/count", "tool:tools/count"]);
  await server.stop();
  expect(await replayed(run, snapshot)).toEqual(value);
});

it("a transport that the client itself creates from the class of the given one", async () => {
  // Newer clients ask a second process of the same server for its version first.
  class ProbingClient extends Client {
    override async connect(transport: Transport): Promise<void> {
      const Probe = transport.constructor as new (options: object) => StdioClientTransport;
      const probe = new Probe({ command: process.execPath, args: [program] });
      const client = new Client({ name: "probe", version: "1.0.0" });
      await original.call(client, probe);
      await client.ping();
      pids.push(probe.pid);
      await probe.close();
      await super.connect(transport);
    }
  }
  const pids: (number | null)[] = [];
  const run = async () => {
    const client = new ProbingClient({ name: "own", version: "1.0.0" });
    // As if the framework had wrapped it, so that the constructor is that of a wrapped transport.
    await client.connect(rewindTransport(stdio()));
    const answer = await call(client, "add", { a: 2, b: 3 });
    await client.close();
    return answer;
  };
  const { snapshot } = await record(run);
  expect(await replayed(run, snapshot)).toBe("5");
  expect(pids).toEqual([expect.any(Number), null]);
});

it.each<[string, unknown]>([
  ["nothing", undefined],
  ["another class", Map],
  ["a client", new Client({ name: "c", version: "1" })],
])("rejects %s", (_name, value) => {
  expect(() => rewindClients(value as never)).toThrow(
    new TypeError("rewindClients: Client must be the class Client of an MCP SDK, with a method connect()"),
  );
});
