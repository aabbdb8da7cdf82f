// Bodies that have not ended when the recording is taken, or that are never read.
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

import { isReplayMissError, resume, runFrame, runWith, type TraceEvent } from "agent-rewind";
import { dumpSnapshot, restoreSnapshot, type AgentSnapshot } from "agent-rewind/debugger";
import { rewindFetch } from "agent-rewind/fetch";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";

import { temporaryFolder } from "../support/process.js";

const fetch = rewindFetch();
let server: Server;
let url: string;
let requests: string[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    requests.push(request.url ?? "");
    response.setHeader("content-type", "text/plain");
    if (request.url === "/slow") response.write(`one ${requests.length}`);
    else response.writeHead(201).end(`body ${requests.length}`);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
beforeEach(() => void (requests = []));
afterAll(() => {
  server.close();
  server.closeAllConnections();
});

/** The dump of a run, and the snapshot restored from its events. */
async function recordings(program: () => Promise<unknown>): Promise<AgentSnapshot[]> {
  const events: TraceEvent[] = [];
  const dumped = await runWith(
    async () => {
      await program();
      return dumpSnapshot();
    },
    { eventBus: { emit: (event) => void events.push(event) } },
  );
  return [JSON.parse(JSON.stringify(dumped)) as AgentSnapshot, restoreSnapshot(events)];
}

const post = (path = "/"): Promise<Response> => fetch(url + path, { method: "POST", body: "x" });

describe("a body that is never read", () => {
  const program = async (): Promise<unknown> => {
    const { status, headers } = await post();
    return { status, type: headers.get("content-type"), next: await (await fetch(`${url}/next`)).text() };
  };
  const expected = { status: 201, type: "text/plain", next: "body 2" };

  it("does not prevent the replay of its head, from a dump or a trace, in replay and resume mode", async () => {
    for (const snapshot of await recordings(program)) {
      requests = [];
      expect(await runWith(program, { snapshot, mode: "replay" })).toEqual(expected);
      expect(await resume(program, { snapshot })).toEqual(expected);
      expect(requests).toEqual([]);
    }
  });

  it("keeps its position among parallel calls", async () => {
    const race = async (): Promise<unknown> => {
      const first = post().then(({ status }) => status);
      const second = first.then(async () => (await fetch(`${url}/next`)).text());
      return Promise.race([first, second]);
    };
    for (const snapshot of await recordings(async () => [await race(), await (await fetch(`${url}/next`)).text()])) {
      expect(await runWith(race, { snapshot, mode: "replay" })).toBe(201);
    }
  });

  it("is a miss for a reader in replay mode and is requested in resume mode", async () => {
    const reading = async (): Promise<unknown> => {
      const response = await post();
      return [response.status, await response.text()];
    };
    for (const snapshot of await recordings(program)) {
      requests = [];
      const miss: unknown = await runWith(reading, { snapshot, mode: "replay" }).catch((error: unknown) => error);
      expect(isReplayMissError(miss)).toBe(true);
      expect(miss).toMatchObject({ reason: "in-flight" });
      expect(requests).toEqual([]);
      // The requested body is in the dump of the resumed run and in its trace.
      const events: TraceEvent[] = [];
      const eventBus = { emit: (event: TraceEvent) => void events.push(event) };
      const { value, again } = await resume(async () => ({ value: await reading(), again: dumpSnapshot() }), {
        snapshot,
        eventBus,
      });
      expect(value).toEqual([201, "body 1"]);
      for (const whole of [again, restoreSnapshot(events)]) {
        expect(await runWith(reading, { snapshot: whole, mode: "replay" })).toEqual(value);
      }
      expect(requests).toEqual(["/"]);
    }
  });

  it("is not read from a response with a different head", async () => {
    const [snapshot] = await recordings(program);
    const other = rewindFetch(async () => new Response("busy", { status: 503 }));
    const reading = async (): Promise<unknown> => {
      const response = await other(url + "/", { method: "POST", body: "x" });
      return [response.status, await response.text().catch(({ message }: Error) => message)];
    };
    const { value, again } = await resume(async () => ({ value: await reading(), again: dumpSnapshot() }), {
      snapshot: snapshot as AgentSnapshot,
    });
    expect(value).toEqual([201, expect.stringContaining("returned status 503") as string]);
    expect(await runWith(reading, { snapshot: again, mode: "replay" })).toEqual(value);
  });

  it("lets the requesting frame end", async () => {
    const inFrame = async (): Promise<unknown> => {
      const status = await runFrame({ id: "asker", input: {} }, async () => (await post()).status);
      return [status, await (await fetch(`${url}/next`)).text()];
    };
    for (const snapshot of await recordings(inFrame)) {
      requests = [];
      expect(await runWith(inFrame, { snapshot, mode: "replay" })).toEqual([201, "body 2"]);
      expect(await resume(inFrame, { snapshot })).toEqual([201, "body 2"]);
      expect(requests).toEqual([]);
    }
  });
});

it("is unaffected by hundreds of parallel bodies, some read and some not", async () => {
  const program = async (): Promise<unknown> =>
    Promise.all(
      Array.from({ length: 300 }, async (_, at) => {
        const response = await post(`/${at}`);
        return at % 2 === 0 ? response.status : (await response.text()).length > 5;
      }),
    );
  for (const snapshot of await recordings(program)) {
    requests = [];
    expect(await runWith(program, { snapshot, mode: "replay" })).toEqual(
      Array.from({ length: 300 }, (_, at) => (at % 2 === 0 ? 201 : true)),
    );
    expect(requests).toEqual([]);
  }
});

describe("a body that is read", () => {
  it("after the requesting frame has ended is complete in the trace too", async () => {
    const program = async (): Promise<string> => (await runFrame({ id: "asker", input: {} }, () => post())).text();
    for (const snapshot of await recordings(program)) {
      expect(await runWith(program, { snapshot, mode: "replay" })).toBe("body 1");
    }
  });

  it("through a clone of its response is complete", async () => {
    const program = async (): Promise<unknown> => {
      const response = await post();
      return [response.status, await response.clone().text()];
    };
    for (const snapshot of await recordings(program)) {
      const reading = async (): Promise<unknown> => (await post()).text();
      requests = [];
      expect(await runWith(reading, { snapshot, mode: "replay" })).toBe("body 1");
      expect(requests).toEqual([]);
    }
  });

  it("long after other calls is complete", async () => {
    const program = async (): Promise<unknown> => {
      const responses = [await post("/a"), await post("/b"), await post("/c")];
      const later = await post("/d");
      return [await later.text(), ...(await Promise.all(responses.map((response) => response.text())))];
    };
    const value = ["body 4", "body 1", "body 2", "body 3"];
    for (const snapshot of await recordings(program)) {
      expect(await runWith(program, { snapshot, mode: "replay" })).toEqual(value);
    }
  });

  it("and cancelled by its reader is recorded as left", async () => {
    const program = async (): Promise<unknown> => {
      const response = await post();
      await response.body?.cancel();
      return response.status;
    };
    const reading = async (): Promise<unknown> => (await post()).text();
    for (const snapshot of await recordings(program)) {
      requests = [];
      expect(await runWith(program, { snapshot, mode: "replay" })).toBe(201);
      await expect(runWith(reading, { snapshot, mode: "replay" })).rejects.toSatisfy(isReplayMissError);
      expect(requests).toEqual([]);
      expect(await resume(program, { snapshot })).toBe(201);
      expect(requests).toEqual([]);
      expect(await resume(reading, { snapshot })).toBe("body 1");
      expect(requests).toHaveLength(1);
    }
  });
});

describe("a body that is still arriving when the recording is taken", () => {
  const program = async (): Promise<unknown> => {
    const response = await post("/slow");
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const { value } = await reader.read();
    return { text: Buffer.from(value ?? []).toString(), reader };
  };

  it("is replayed up to the recorded part", async () => {
    const kept: unknown[] = [];
    for (const snapshot of await recordings(async () => kept.push(await program()))) {
      requests = [];
      expect(await runWith(program, { snapshot, mode: "replay" })).toMatchObject({ text: "one 1" });
      const reading = async (): Promise<unknown> => {
        const { reader } = (await program()) as { reader: ReadableStreamDefaultReader };
        return reader.read();
      };
      await expect(runWith(reading, { snapshot, mode: "replay" })).rejects.toMatchObject({ reason: "in-flight" });
      expect(requests).toEqual([]);
    }
    expect(kept).toHaveLength(1);
  });

  it("is requested again from the start on resume", async () => {
    const kept: unknown[] = [];
    for (const snapshot of await recordings(async () => kept.push(await program()))) {
      requests = ["before"];
      expect(await resume(program, { snapshot })).toMatchObject({ text: "one 2" });
      expect(requests).toEqual(["before", "/slow"]);
    }
    expect(kept).toHaveLength(1);
  });
});

it("a response that the program drops is recorded as left, and its connection is closed", { timeout: 60_000 }, () => {
  const script = `
    import { createServer } from "node:http";
    import { once } from "node:events";
    import { runWith } from "agent-rewind";
    import { dumpSnapshot } from "agent-rewind/debugger";
    import { rewindFetch } from "agent-rewind/fetch";
    const server = createServer((request, response) => response.write("some"));
    await once(server.listen(0, "127.0.0.1"), "listening");
    let open = 0;
    server.on("connection", (socket) => { open += 1; socket.on("close", () => (open -= 1)); });
    const url = "http://127.0.0.1:" + server.address().port;
    const fetch = rewindFetch();
    const ask = async (at) => (await fetch(url + "/" + at)).status;
    await runWith(async () => {
      for (let at = 0; at < 5; at++) await ask(at);
      for (let turn = 0; open > 0 && turn < 2000; turn++) {
        globalThis.gc();
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      const ends = Object.values(dumpSnapshot().root.journal.other.fetch).map(({ output }) => output.end);
      console.log(JSON.stringify({ open, ends }));
    }, { enableSnapshot: true });
    process.exit();
  `;
  const folder = temporaryFolder();
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "dropped.mjs"), script);
  const printed = execFileSync(process.execPath, ["--expose-gc", join(folder, "dropped.mjs")], { encoding: "utf8" });
  expect(JSON.parse(printed)).toEqual({ open: 0, ends: Array.from({ length: 5 }, () => "left") });
});

it.each([
  ["of JSON", 'Response.json({ some: "json" })'],
  ["of text", 'new Response("some text")'],
])("dropped replayed responses %s leave no listener on a long-lived signal", { timeout: 60_000 }, (_, responseCode) => {
  const script = `
    import { getEventListeners } from "node:events";
    import { runWith } from "agent-rewind";
    import { dumpSnapshot } from "agent-rewind/debugger";
    import { rewindFetch } from "agent-rewind/fetch";
    const { signal } = new AbortController();
    const fetch = rewindFetch(async () => ${responseCode});
    const ask = () => fetch("http://host/", { signal });
    const snapshot = await runWith(async () => {
      for (let at = 0; at < 5; at++) await (await ask()).text();
      return dumpSnapshot();
    }, { enableSnapshot: true });
    const count = () => getEventListeners(signal, "abort").length;
    const before = count();
    await runWith(async () => {
      for (let at = 0; at < 5; at++) await ask();
      const asked = count();
      for (let turn = 0; count() > before && turn < 2000; turn++) {
        globalThis.gc();
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      console.log(JSON.stringify({ listened: asked > before, left: count() - before }));
    }, { snapshot, mode: "replay" });
  `;
  const folder = temporaryFolder();
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "outlived.mjs"), script);
  const printed = execFileSync(process.execPath, ["--expose-gc", join(folder, "outlived.mjs")], { encoding: "utf8" });
  expect(JSON.parse(printed)).toEqual({ listened: true, left: 0 });
});
