// Responses without a body are complete as soon as their head arrives.
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

import { runWith, type TraceEvent } from "agent-rewind";
import { dumpSnapshot, restoreSnapshot } from "agent-rewind/debugger";
import { rewindFetch } from "agent-rewind/fetch";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const fetch = rewindFetch();
let server: Server;
let url: string;
let requests = 0;

beforeAll(async () => {
  server = createServer((request, response) => {
    requests += 1;
    if (request.url === "/204") response.writeHead(204).end();
    else response.end("some text");
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());

describe("replays the status of a response without a body, however early the dump is taken", () => {
  it.each([
    ["HEAD", "/", 200],
    ["GET", "/204", 204],
  ])("%s %s", async (method, path, status) => {
    const program = async (): Promise<number> => (await fetch(url + path, { method })).status;
    const events: TraceEvent[] = [];
    const { snapshot } = await runWith(async () => ({ status: await program(), snapshot: dumpSnapshot() }), {
      eventBus: { emit: (event) => void events.push(event) },
    });
    const before = requests;
    expect(await runWith(program, { snapshot, mode: "replay" })).toBe(status);
    expect(await runWith(program, { snapshot: restoreSnapshot(events), mode: "replay" })).toBe(status);
    expect(requests).toBe(before);
  });
});
