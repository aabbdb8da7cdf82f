// The wire cut at every byte of a stream: what a client's user sees on replay is what was seen live, part for part.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { rewindFetch } from "agent-rewind/fetch";
import { describe, expect, it } from "vitest";

import { CLIENT_STREAMS, type ClientStream } from "../support/client-streams.js";
import { record, replayed } from "../support/recorded.js";

const fetch = rewindFetch();
/** As many at once as there are sockets to spare. */
const AT_ONCE = 50;

/** What is asked of the server: the stream in two pieces, or its beginning and then no connection. */
type Cut = "split" | "broken";

/** Serves a stream; where it is cut stands in the path. */
async function cuttingServer(
  body: Buffer,
): Promise<{ url: string; stop: () => Promise<void>; requests: () => number }> {
  let requests = 0;
  const server = createServer((request, response) => {
    requests += 1;
    const [, cut, place] = (request.url ?? "").split("/");
    request.resume();
    // What differs from answer to answer would hide what differs from cut to cut.
    response.sendDate = false;
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.flushHeaders();
    const first = body.subarray(0, Number(place));
    if (cut === "split") {
      response.write(first, () => response.end(body.subarray(first.length)));
    } else if (first.length === 0) setImmediate(() => response.destroy());
    else response.write(first, () => setImmediate(() => response.destroy()));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const stop = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop, requests: () => requests };
}

interface Seen {
  readonly parts: unknown[];
  readonly error?: { name: string; message: string };
}

async function seen(asked: Promise<AsyncIterable<unknown>>): Promise<Seen> {
  const parts: unknown[] = [];
  try {
    for await (const part of await asked) parts.push(JSON.parse(JSON.stringify(part)));
  } catch (error) {
    const { name, message } = error as Error;
    return { parts, error: { name, message } };
  }
  return { parts };
}

/** What is seen of the stream cut at each of its places, by their order. */
async function atEveryByte({ common, own, ask }: ClientStream, cut: Cut, url: string): Promise<Seen[]> {
  const all: Seen[] = [];
  const from = Buffer.byteLength(common);
  const length = from + Buffer.byteLength(own);
  let next = from;
  const work = async (): Promise<void> => {
    while (next < length) {
      const place = next++;
      all[place - from] = await seen(ask(`${url}/${cut}/${place}`, fetch));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return all;
}

describe.each(Object.entries(CLIENT_STREAMS))("%s", (_name, stream) => {
  const body = Buffer.from(stream.common + stream.own);

  it("in two pieces, at every byte", { timeout: 60_000 }, async () => {
    const server = await cuttingServer(body);
    const { value, snapshot } = await record(() => atEveryByte(stream, "split", server.url));
    await server.stop();
    // The client sees the same parts wherever the pieces meet.
    const [whole] = value;
    expect(whole?.parts.length).toBeGreaterThan(2);
    for (const [at, parts] of value.entries()) expect(parts, `split at ${at}`).toEqual(whole);
    expect(await replayed(() => atEveryByte(stream, "split", server.url), snapshot)).toEqual(value);
    expect(server.requests()).toBe(Buffer.byteLength(stream.own));
  });

  it("broken off at every byte", { timeout: 60_000 }, async () => {
    const server = await cuttingServer(body);
    const { value, snapshot } = await record(() => atEveryByte(stream, "broken", server.url));
    await server.stop();
    // Some clients have seen all that they want before the last byte.
    expect(value.filter(({ error }) => error !== undefined).length).toBeGreaterThan(value.length / 2);
    const again = await replayed(() => atEveryByte(stream, "broken", server.url), snapshot);
    for (const [at, parts] of value.entries()) expect(again[at], `broken off at ${at}`).toEqual(parts);
    expect(server.requests()).toBe(Buffer.byteLength(stream.own));
  });
});
