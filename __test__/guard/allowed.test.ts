// The network guard lets pass: own servers, listed hosts, telemetry, databases, and requests of wrappers.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { journalCall, replay, resume, runFrame, runWith, type RunWithOptions } from "agent-rewind";
import { dumpSnapshot } from "agent-rewind/debugger";
import { rewindFetch } from "agent-rewind/fetch";
import { rewindTransport } from "agent-rewind/mcp";
import { AsyncResource } from "node:async_hooks";
import { once } from "node:events";
import http from "node:http";
import { createRequire } from "node:module";
import net, { type AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { mcpHttpServer } from "../support/mcp-http.js";
import { emptySnapshot, otherProcess, strictReplay } from "./support.js";

const servers = await otherProcess();
const host = new URL(servers.http).host;
const get = (url: string): Promise<string> => fetch(url).then((response) => response.text());

const error = vi.spyOn(console, "error").mockImplementation(() => {});
const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
beforeEach(() => {
  error.mockClear();
  warn.mockClear();
});
afterEach(() => servers.received());
afterAll(() => servers[Symbol.dispose]());

describe("allowed in a strict replay", () => {
  it.each(["127.0.0.1", "localhost", "app.localhost"])("servers of this process, as %s", async (name) => {
    const server = http.createServer((_request, response) => response.end("own"));
    await once(server.listen(0), "listening");
    const { port } = server.address() as AddressInfo;
    const ask = (): Promise<string> =>
      new Promise((resolve, reject) => {
        const lookup: net.LookupFunction = (_host, _options, done) => done(null, [{ address: "127.0.0.1", family: 4 }]);
        http
          .get(`http://${name}:${port}/`, { lookup, agent: false }, (response) => {
            response.on("data", (chunk) => resolve(String(chunk)));
          })
          .on("error", reject);
      });
    const { result, report } = await strictReplay(ask);
    server.close();
    server.closeAllConnections();
    expect(result).toBe("own");
    expect(report.unrecorded).toEqual([]);
  });

  it("a server that starts in the replay and does not keep the process alive", async () => {
    const { result } = await strictReplay(async () => {
      const server = http.createServer((_request, response) => response.end("own")).unref();
      await once(server.listen(0, "127.0.0.1"), "listening");
      return get(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`).finally(() => {
        server.close();
        server.closeAllConnections();
      });
    });
    expect(result).toBe("own");
  });

  it.each([[["127.0.0.1"]], [["127.0.0.1:*"]], [[host]], [[/^http:\/\/127\.0\.0\.1/]], [["other.example", host]]])(
    "the hosts %j",
    async (allowHosts) => {
      const { result, report } = await strictReplay(() => get(servers.http), { allowHosts });
      expect(result).toBe("{}");
      expect(report.unrecorded).toEqual([]);
    },
  );

  it("everything, with network: allow", async () => {
    const { result, report } = await strictReplay(() => get(servers.http), { network: "allow" });
    expect(result).toBe("{}");
    expect(report.unrecorded).toEqual([]);
  });

  it("requests that rewindFetch excludes by an option", async () => {
    const ask = rewindFetch(undefined, { ignore: ["127.0.0.1/health"] });
    const { result } = await strictReplay(() => ask(`${servers.http}/health`).then((response) => response.text()));
    expect(result).toBe("{}");
  });

  it("nothing else: other hosts and ports are refused", async () => {
    for (const allowHosts of [["other.example"], ["127.0.0.1:1"], ["localhost"]]) {
      expect(await strictReplay(() => get(servers.http), { allowHosts })).toMatchObject({ refused: true });
    }
    expect(await servers.received()).toEqual([]);
  });
});

describe("telemetry", () => {
  it("is dropped in a strict replay, which goes on", async () => {
    const { result, report } = await strictReplay(async () => {
      const sent = await fetch(`${servers.http}/api/1/envelope/`, { method: "POST", body: "{}" }).catch(
        () => "dropped",
      );
      return [sent, "done"];
    });
    expect(result).toEqual(["dropped", "done"]);
    expect(report.unrecorded).toEqual([]);
    expect(error).not.toHaveBeenCalled();
    expect(await servers.received()).toEqual([]);
  });
});

describe("reported, not refused", () => {
  it("with network: report, each request; a warning names each host once", async () => {
    const { result, report } = await strictReplay(
      async () => {
        for (const path of ["a", "a", "b"]) await get(`${servers.http}/${path}?token=secret`);
        return "done";
      },
      { network: "report" },
    );
    expect(result).toBe("done");
    expect(report.unrecorded).toMatchObject([
      { method: "GET", host, path: "/a", count: 2 },
      { method: "GET", host, path: "/b", count: 1 },
    ]);
    expect(warn.mock.calls.flat().filter((line) => String(line).includes(host))).toHaveLength(1);
    expect(JSON.stringify([report, warn.mock.calls])).not.toContain("secret");
  });

  it("a connection to a database, new or open before", async () => {
    const warm = net.connect(servers.database, "127.0.0.1");
    await once(warm, "connect");
    const ask = async (socket: net.Socket, query: string): Promise<string> => {
      socket.write(query);
      return String(((await once(socket, "data")) as [Buffer])[0]);
    };
    const { result, report } = await strictReplay(async () => {
      const cold = net.connect(servers.database, "127.0.0.1");
      const rows = [await ask(cold, "users"), await ask(warm, "orders"), await ask(warm, "orders")];
      cold.destroy();
      return rows;
    });
    warm.destroy();
    expect(result).toEqual(["rows of users", "rows of orders", "rows of orders"]);
    const call = { method: "TCP", host: `127.0.0.1:${servers.database}` };
    expect(report.unrecorded.filter((entry) => entry.method === call.method && entry.host === call.host)).toHaveLength(
      report.unrecorded.length,
    );
    expect(report.unrecorded.reduce((sum, { count }) => sum + count, 0)).toBe(2);
  });

  it("an MCP client over stdio", async () => {
    const { result, report } = await strictReplay(async () => {
      const client = new Client({ name: "c", version: "1" });
      const server = fileURLToPath(new URL("../mcp/server.mjs", import.meta.url));
      await client.connect(new StdioClientTransport({ command: process.execPath, args: [server], stderr: "ignore" }));
      const { tools } = await client.listTools();
      await client.close();
      return tools.length;
    });
    expect(result).toBeGreaterThan(0);
    expect(report.unrecorded).toMatchObject([
      { method: "initialize", host: expect.stringMatching(/^stdio: .*server\.mjs$/) as unknown, count: 1 },
      { method: "notifications/initialized" },
      { method: "tools/list", count: 1 },
    ]);
    // As when `rewindClients` wrapped another copy of the class.
    expect(warn.mock.calls).toEqual([
      [expect.stringMatching(/initialize, stdio: .*server\.mjs \(sent by .*\) is not recorded\. .*rewindClients\(\)/)],
    ]);
  });

  it("at most 100 entries", async () => {
    const { report } = await strictReplay(
      async () => {
        for (let index = 0; index < 120; index++) await get(`${servers.http}/${index}`);
      },
      { network: "report" },
    );
    expect(report.unrecorded).toHaveLength(100);
  });
});

describe("what wrappers send passes, with network: refuse", () => {
  const live = (fn: () => Promise<unknown>): Promise<unknown> => runWith(fn, { network: "refuse" });

  it("requests of rewindFetch, live and in a resumed run", async () => {
    const ask = (path: string): Promise<string> =>
      rewindFetch()(`${servers.http}/${path}`).then((response) => response.text());
    const snapshot = (await live(async () => {
      await ask("first");
      return dumpSnapshot();
    })) as ReturnType<typeof dumpSnapshot>;
    const both = async (): Promise<string[]> => [await ask("first"), await ask("second")];
    expect(await resume(both, { snapshot, network: "refuse" })).toEqual(["{}", "{}"]);
    expect(await servers.received()).toEqual(["GET /first", "GET /second"]);
  });

  it("requests inside journalCall", async () => {
    const call = { kind: "http", name: "search", request: {} };
    expect(await live(() => journalCall(call, () => get(servers.http)))).toBe("{}");
  });

  it.each(["streamable HTTP", "SSE"] as const)("an MCP client over %s with rewindTransport", async (kind) => {
    await using server = await mcpHttpServer(kind);
    // The servers of this process are allowed, so another name is used for it.
    const transport = server.transport((input, init) => {
      const url = input instanceof Request ? input.url : input.toString();
      return fetch(url.replace("127.0.0.1", "127.0.0.2"), init);
    });
    const names = await live(async () => {
      const client = new Client({ name: "c", version: "1" });
      await client.connect(rewindTransport(transport) as never);
      const { tools } = await client.listTools();
      await client.close();
      return tools.length;
    }).catch((cause: unknown) => String(cause));
    expect(String(names)).not.toContain("UnrecordedRequestError");
  });

  it("but not other requests, next to them", async () => {
    await expect(live(() => get(servers.http))).rejects.toMatchObject({ name: "UnrecordedRequestError" });
  });
});

describe("the run that a request belongs to", () => {
  it("is that of its context: a replay fails, a run and the code outside next to it do not", async () => {
    const [inReplay, inRun] = await Promise.all([
      strictReplay(() => get(servers.http)),
      runWith(() => runFrame({ id: "a", input: 1 }, () => get(servers.http))),
    ]);
    expect(inReplay.refused).toBe(true);
    expect(inRun).toBe("{}");
  });

  it("is every open run without a context, if all of them are strict replays", async () => {
    let replaying!: () => void;
    const inside = new Promise<void>((resolve) => (replaying = resolve));
    let end!: () => void;
    const held = new Promise<void>((resolve) => (end = resolve));
    const replayed = strictReplay(async () => {
      replaying();
      await held;
    });
    await inside;
    expect(await runWith(() => get(servers.http))).toBe("{}");
    // A live run is open too, so the request may be one of it.
    let other!: () => void;
    const live = runWith(() => new Promise<void>((resolve) => (other = resolve)));
    expect(await get(servers.http)).toBe("{}");
    other();
    await live;
    await expect(get(servers.http)).rejects.toMatchObject({ cause: { name: "UnrecordedRequestError" } });
    end();
    expect(await replayed).toMatchObject({ refused: true });
    expect(await get(servers.http)).toBe("{}");
  });

  it("does not guard after its end: work that it left running is not refused later", async () => {
    let later!: () => Promise<string>;
    await strictReplay(() => {
      const context = new AsyncResource("left");
      later = () => context.runInAsyncScope(() => get(servers.http));
      return Promise.resolve();
    });
    expect(await later()).toBe("{}");
  });

  it("may be one of another copy of the package", async () => {
    const copy = createRequire(import.meta.url)("agent-rewind") as { replay: typeof replay };
    const outcomes = await Promise.allSettled([
      copy.replay(() => get(servers.http), { snapshot: emptySnapshot }),
      replay(() => get(servers.http), { snapshot: emptySnapshot }),
    ]);
    for (const outcome of outcomes)
      expect(outcome).toMatchObject({ status: "rejected", reason: { name: "UnrecordedRequestError" } });
    expect(await servers.received()).toEqual([]);
  });
});

describe("options", () => {
  it.each<[object, string]>([
    [{ network: "deny" }, 'runWith: options.network must be one of "refuse", "report", "allow", received "deny"'],
    [{ allowHosts: "localhost" }, "runWith: options.allowHosts must be a list of at least one URL pattern"],
    [{ allowHosts: [5] }, "runWith: options.allowHosts[0] must be a RegExp or a pattern"],
    [{ allowHost: ["localhost"] }, 'runWith: options.allowHost is unknown; did you mean "allowHosts"?'],
  ])("rejects %j", async (options, message) => {
    const all = { snapshot: emptySnapshot, mode: "replay", ...options } as RunWithOptions;
    await expect(runWith(() => 1, all)).rejects.toThrow(message);
  });
});

describe("mocks of node:http", () => {
  it("answer what never reaches the network", async () => {
    /** As MSW and nock do it: a socket that is not connected. */
    class Mocking extends http.Agent {
      override createConnection(): net.Socket {
        const socket = new net.Socket();
        socket.write = ((_chunk: unknown, encoding: unknown, done: unknown) => {
          setImmediate(() => socket.push("HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nmocked"));
          for (const given of [encoding, done]) if (typeof given === "function") (given as () => void)();
          return true;
        }) as typeof socket.write;
        socket._final = (done) => done();
        return socket;
      }
    }
    const { result, report } = await strictReplay(
      () =>
        new Promise((resolve, reject) => {
          http
            .get("http://model.example/", { agent: new Mocking() }, (response) => {
              response.on("data", (chunk) => resolve(String(chunk)));
            })
            .on("error", reject);
        }),
    );
    expect(result).toBe("mocked");
    expect(report.unrecorded).toEqual([]);
  });

  it("do not open a way out: their real connections are refused", async () => {
    class Passing extends http.Agent {}
    Object.defineProperty(Passing.prototype, "createConnection", {
      value: (options: net.NetConnectOpts) => net.connect(options),
    });
    const { refused } = await strictReplay(
      () =>
        new Promise((resolve, reject) => {
          http.get(servers.http, { agent: new Passing() }, resolve).on("error", reject);
        }),
    );
    expect(refused).toBe(true);
    expect(await servers.received()).toEqual([]);
  });
});
