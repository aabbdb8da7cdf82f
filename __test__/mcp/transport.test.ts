// The client of the MCP SDK over the wrapped transport, with servers in this process and in a child process.
import { isReplayMissError, journalCall, resume, runFrame, runWith, type TraceEvent } from "agent-rewind";
import { dumpSnapshot, restoreSnapshot, type AgentSnapshot } from "agent-rewind/debugger";
import { rewindTransport } from "agent-rewind/mcp";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { CreateMessageRequestSchema, LoggingMessageNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

import { createServer } from "./server.mjs";

const PROGRAM = fileURLToPath(new URL("server.mjs", import.meta.url));

type Transport = Parameters<Client["connect"]>[0];
type Program = (transport: Transport) => Promise<unknown>;

/** Records a program over a transport. Returns its result and the snapshot. */
async function record(program: Program, transport: Transport): Promise<{ value: unknown; snapshot: AgentSnapshot }> {
  return runWith(async () => ({ value: await program(rewindTransport(transport)), snapshot: dumpSnapshot() }), {
    enableSnapshot: true,
  });
}

/** A transport to a server that must not be called. */
const gone = (): Transport => ({
  start: () => Promise.reject(new Error("the server is gone")),
  send: () => Promise.reject(new Error("the server is gone")),
  close: async () => {},
});

async function replayed(program: Program, snapshot: AgentSnapshot): Promise<unknown> {
  return runWith(() => program(rewindTransport(gone())), { snapshot, mode: "replay", enableSnapshot: true });
}

/** A transport to a server in this process, and the log of its tool calls. */
function inMemory(options: { name?: string; isBroken?: () => boolean } = {}): {
  transport: Transport;
  asked: string[];
} {
  const [transport, other] = InMemoryTransport.createLinkedPair();
  const asked: string[] = [];
  void createServer({ ...options, log: (line) => asked.push(line) }).connect(other);
  return { transport, asked };
}

const stdio = (): StdioClientTransport => new StdioClientTransport({ command: process.execPath, args: [PROGRAM] });

async function connected(transport: Transport, options: ConstructorParameters<typeof Client>[1] = {}): Promise<Client> {
  const client = new Client({ name: "test", version: "1.0.0" }, options);
  await client.connect(transport);
  return client;
}

const textOf = (result: object): string => (result as { content: { text: string }[] }).content[0]?.text ?? "";
const call = async (client: Client, name: string, input: object = {}): Promise<string> =>
  textOf(await client.callTool({ name, arguments: input as Record<string, unknown> }));
/** The visible parts of a failed request. */
const failure = async (request: Promise<unknown>): Promise<object> =>
  request.then(
    () => ({ succeeded: true }),
    ({ name, message, code, data }: { name: string; message: string; code: unknown; data?: unknown }) => ({
      name,
      message,
      code,
      ...(data === undefined ? {} : { data }),
    }),
  );

const tour: Program = async (transport) => {
  const client = await connected(transport);
  const tools = (await client.listTools()).tools.map(({ name }) => name);
  const added = await call(client, "add", { a: 1, b: 2 });
  const counted = [await call(client, "count"), await call(client, "count")];
  const failed = await client.callTool({ name: "fail" });
  const resource = await client.readResource({ uri: "file:///readme" });
  const missing = await failure(client.readResource({ uri: "file:///missing" }));
  const unknown = await failure(client.request({ method: "no/such" } as never, {} as never));
  const prompt = await client.getPrompt({ name: "greet", arguments: { who: "Ada" } });
  const about = [client.getServerVersion(), client.getServerCapabilities(), client.getInstructions()];
  await client.ping();
  await client.close();
  return { tools, added, counted, failed, resource, missing, unknown, prompt, about };
};

describe.each([
  ["in this process", () => inMemory().transport],
  ["in a process of its own", stdio],
])("an MCP server %s", (_name, transport) => {
  it("is recorded and replayed without the server", async () => {
    const { value, snapshot } = await record(tour, transport());
    expect(value).toMatchObject({
      added: "3",
      counted: ["1", "2"],
      failed: { isError: true },
      missing: { code: -32_602, message: expect.stringContaining("no resource") as string },
    });
    expect(await replayed(tour, snapshot)).toEqual(value);
    expect(await replayed(tour, JSON.parse(JSON.stringify(snapshot)) as AgentSnapshot)).toEqual(value);
  });
});

it("that dies is also dead on replay and is called again on resume", async () => {
  const program: Program = async (transport) => {
    const client = await connected(transport);
    let closed = 0;
    Object.assign(client, { onclose: () => void closed++ });
    const lost = await Promise.all([
      failure(client.callTool({ name: "hang" })),
      failure(client.callTool({ name: "crash" })),
    ]);
    return { lost, closed, afterwards: await failure(client.ping()) };
  };
  const { value, snapshot } = await record(program, stdio());
  const closed = { code: -32_000, message: expect.stringContaining("Connection closed") as string };
  expect(value).toMatchObject({ lost: [closed, closed], closed: 1, afterwards: { message: "Not connected" } });
  expect(await replayed(program, snapshot)).toEqual(value);

  let failing = true;
  const once: Program = async (transport) => {
    const client = await connected(transport);
    if (failing) await client.callTool({ name: "crash" });
    return call(client, failing ? "count" : "add", { a: 2, b: 3 });
  };
  const dump: { snapshot?: AgentSnapshot } = {};
  await expect(
    runWith(async () => once(rewindTransport(stdio())).finally(() => (dump.snapshot = dumpSnapshot())), {
      enableSnapshot: true,
    }),
  ).rejects.toThrow("Connection closed");
  failing = false;
  const { transport, asked } = inMemory();
  expect(await resume(() => once(rewindTransport(transport)), { snapshot: dump.snapshot as AgentSnapshot })).toBe("5");
  expect(asked).toEqual(["add 2 3"]);
});

describe("a failure of an MCP server", () => {
  const reading: Program = async (transport) => {
    const { contents } = await (await connected(transport)).readResource({ uri: "file:///flaky" });
    return (contents[0] as { text: string }).text;
  };
  const calling: Program = async (transport) => {
    const result = await (await connected(transport)).callTool({ name: "flaky" });
    if (result["isError"] === true) throw new Error(textOf(result));
    return textOf(result);
  };

  it.each([
    ["an error of the server", reading, "flaky resource"],
    ["a result that is an error", calling, "flaky"],
  ])("is retried on resume if it ended the run: %s", async (_name, program, line) => {
    let broken = true;
    const { transport, asked } = inMemory({ isBroken: () => broken });
    const events: TraceEvent[] = [];
    let dump: AgentSnapshot | undefined;
    const options = { enableSnapshot: true, eventBus: { emit: (event: TraceEvent) => void events.push(event) } };
    const run = runWith(() => program(rewindTransport(transport)).finally(() => (dump = dumpSnapshot())), options);
    await expect(run).rejects.toThrow("out of order");
    expect(asked).toEqual([line]);
    broken = false;
    for (const snapshot of [dump as AgentSnapshot, restoreSnapshot(events)]) {
      await expect(replayed(program, snapshot)).rejects.toThrow("out of order");
      const again = inMemory();
      expect(await resume(() => program(rewindTransport(again.transport)), { snapshot })).toBe("well");
      expect(again.asked).toEqual([line]);
    }
  });

  it("is replayed if the program continued after it", async () => {
    const program: Program = async (transport) => {
      const client = await connected(transport);
      const results = [
        await failure(client.readResource({ uri: "file:///flaky" })),
        await client.callTool({ name: "flaky" }),
      ];
      return [...results, await call(client, "count")];
    };
    const { value, snapshot } = await record(program, inMemory({ isBroken: () => true }).transport);
    expect(value).toMatchObject([{ code: -32_603 }, { isError: true }, "1"]);
    const { transport, asked } = inMemory();
    expect(await resume(() => program(rewindTransport(transport)), { snapshot })).toEqual(value);
    expect(asked).toEqual([]);
  });
});

it("parallel calls receive their own answers in the recorded order, whatever the request ids are", async () => {
  const order = (first: number) => async (transport: Transport) => {
    const client = await connected(transport);
    // Ids start here.
    for (let at = 0; at < first; at++) await client.ping();
    const ended: string[] = [];
    const waits = [60, 1, 30].map(async (ms) => {
      const text = await call(client, "wait", { ms });
      ended.push(text);
      return text;
    });
    return { answers: await Promise.all(waits), ended };
  };
  const { value, snapshot } = await record(order(0), inMemory().transport);
  expect(value).toEqual({ answers: ["60", "1", "30"], ended: ["1", "30", "60"] });
  expect(await replayed(order(0), snapshot)).toEqual(value);
  const resumed = await resume(() => order(2)(rewindTransport(inMemory().transport)), { snapshot });
  expect(resumed).toMatchObject({ answers: ["60", "1", "30"] });
});

it("distinguishes two servers by their own names or by given names", async () => {
  const both = (name: string | undefined, given: boolean) => async (make: (name?: string) => Transport) => {
    const wrap = (server: string): Transport => rewindTransport(make(name ?? server), given ? { server } : {});
    const [a, b] = await Promise.all([connected(wrap("a")), connected(wrap("b"))]);
    await call(b, "count");
    return Promise.all([call(a, "count"), call(b, "count")]);
  };
  for (const program of [both(undefined, false), both("same", true)]) {
    const { value, snapshot } = await runWith(
      async () => ({
        value: await program((name) => inMemory(name === undefined ? {} : { name }).transport),
        snapshot: dumpSnapshot(),
      }),
      { enableSnapshot: true },
    );
    expect(value).toEqual(["1", "2"]);
    expect(await runWith(() => program(gone), { snapshot, mode: "replay", enableSnapshot: true })).toEqual(value);
    const names = (snapshot.root.calls ?? []).filter(({ kind }) => kind === "tool").map(({ callId }) => callId);
    expect(names).toEqual(["root/tool:b/count:0", "root/tool:a/count:0", "root/tool:b/count:1"]);
  }
});

it("reports a changed argument as a miss that names the difference", async () => {
  const adding =
    (b: number): Program =>
    async (transport) =>
      call(await connected(transport), "add", { a: 1, b });
  const { snapshot } = await record(adding(2), inMemory().transport);
  const miss: unknown = await replayed(adding(3), snapshot).catch((error: unknown) => error);
  expect(isReplayMissError(miss)).toBe(true);
  expect(String(miss)).toContain('the tool call "tools/add"');
  expect(String(miss)).toContain("/input/b: a number (recorded 2, now 3)");
});

it("starts the server on resume for the first new call, with the recorded initialization", async () => {
  const adding =
    (more: boolean): Program =>
    async (transport) => {
      const client = await connected(transport);
      const first = await call(client, "add", { a: 1, b: 2 });
      return more ? [first, await call(client, "add", { a: 3, b: 4 }), await call(client, "count")] : [first];
    };
  const { snapshot } = await record(adding(false), stdio());
  const { transport, asked } = inMemory();
  expect(await resume(() => adding(true)(rewindTransport(transport)), { snapshot })).toEqual(["3", "7", "1"]);
  expect(asked).toEqual(["add 3 4", "count"]);
  expect(await resume(() => adding(true)(rewindTransport(stdio())), { snapshot })).toEqual(["3", "7", "1"]);
});

it("repeats progress and messages before their answer", async () => {
  const program: Program = async (transport) => {
    const client = new Client({ name: "test", version: "1.0.0" });
    const seen: unknown[] = [];
    client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void seen.push(params.data));
    Object.assign(client, { onerror: (error: Error) => seen.push(error.message) });
    await client.connect(transport);
    const onprogress = ({ progress, total = 0 }: { progress: number; total?: number | undefined }): void =>
      void seen.push(`${progress}/${total}`);
    const input = { name: "steps", arguments: { of: 2 } };
    seen.push(textOf(await client.callTool(input, undefined, { onprogress })));
    seen.push(textOf(await client.callTool(input)));
    return seen;
  };
  for (const transport of [inMemory().transport, stdio()]) {
    const { value, snapshot } = await record(program, transport);
    expect(value).toEqual(["step 1", "1/2", "step 2", "2/2", "done", "step 1", "step 2", "done"]);
    expect(await replayed(program, snapshot)).toEqual(value);
  }
});

it("replays cancelled and late requests immediately", async () => {
  const program: Program = async (transport) => {
    const client = await connected(transport);
    const controller = new AbortController();
    const taken = failure(client.callTool({ name: "hang" }, undefined, { signal: controller.signal }));
    const late = failure(client.callTool({ name: "hang" }, undefined, { timeout: 40 }));
    await call(client, "count");
    controller.abort("the user left");
    const { data: _data, ...rest } = (await late) as { data?: unknown };
    return { taken: await taken, late: rest, after: await call(client, "count") };
  };
  const { value, snapshot } = await record(program, inMemory().transport);
  expect(value).toMatchObject({
    taken: { message: "MCP error -32001: the user left" },
    late: { message: "MCP error -32001: Request timed out" },
    after: "2",
  });
  expect(await replayed(program, snapshot)).toEqual(value);
});

it("records requests of the server to the client's model as part of the tool's answer", async () => {
  let asked = 0;
  const program: Program = async (transport) => {
    const client = new Client({ name: "test", version: "1.0.0" }, { capabilities: { sampling: {} } });
    client.setRequestHandler(CreateMessageRequestSchema, async () => {
      const text = await journalCall({ kind: "chat", name: "m", request: {} }, () => `yes ${++asked}`);
      return { model: "m", role: "assistant" as const, content: { type: "text" as const, text } };
    });
    await client.connect(transport);
    return call(client, "ask", { question: "really?" });
  };
  const { value, snapshot } = await record(program, inMemory().transport);
  expect(value).toBe("the model says: yes 1");
  expect(await replayed(program, snapshot)).toBe(value);
  expect(asked).toBe(1);
});

it("replays the failure of a server that cannot be started", async () => {
  const program: Program = async (transport) => failure(connected(transport));
  const { value, snapshot } = await record(program, new StdioClientTransport({ command: "/no/such/program" }));
  expect(value).toMatchObject({ code: "ENOENT" });
  expect(await replayed(program, snapshot)).toEqual(value);
});

it("cancels the request of an aborted agent", async () => {
  const { transport } = inMemory();
  await expect(
    runWith(
      async () => {
        const client = await connected(rewindTransport(transport));
        await runFrame({ id: "a", input: {} }, async () => {
          void client.callTool({ name: "hang" }).catch(() => {});
          await call(client, "count");
        });
        return call(client, "count");
      },
      { enableSnapshot: true },
    ),
  ).resolves.toBe("2");
});

it("outside of runs, rewindTransport returns the given transport with all its members", async () => {
  const inner = stdio();
  const transport = rewindTransport(inner);
  const client = await connected(transport);
  expect(await call(client, "count")).toBe("1");
  expect(transport.pid).toBe(inner.pid);
  expect(transport.pid).toBeGreaterThan(0);
  // Its calls in a run are recorded although it was connected before the run.
  const { value, snapshot } = await runWith(
    async () => ({ value: await call(client, "count"), snapshot: dumpSnapshot() }),
    { enableSnapshot: true },
  );
  expect(value).toBe("2");
  expect(snapshot.root.calls?.map(({ callId }) => callId)).toEqual(["root/tool:tools/count:0"]);
  await client.close();
});

it("rejects values that are not transports", () => {
  expect(() => rewindTransport({} as never)).toThrow("has no start()");
  expect(() => rewindTransport(gone(), { server: "" })).toThrow("options.server");
});
