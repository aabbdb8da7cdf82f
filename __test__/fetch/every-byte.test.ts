// Streams cut at every byte: the user of a client sees the same parts on replay as in the live run.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { rewindFetch } from "agent-rewind/fetch";
import { describe, expect, it } from "vitest";

import { CLIENT_STREAMS, type ClientStream } from "../support/client-streams.js";
import { record, replayed } from "../support/recorded.js";

const fetch = rewindFetch();
/** The number of parallel requests, limited by the available sockets. */
const AT_ONCE = 50;

/** The way a stream is served: in two pieces, or its beginning followed by a closed connection. */
type Cut = "split" | "broken";

/** Serves a stream. The request path contains the position of the cut. */
async function cuttingServer(
  body: Buffer,
): Promise<{ url: string; stop: () => Promise<void>; requests: () => number }> {
  let requests = 0;
  const server = createServer((request, response) => {
    requests += 1;
    const [, cut, place] = (request.url ?? "").split("/");
    request.resume();
    // Values that differ from response to response would hide differences between cuts.
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

/** The parts seen for each cut position of the stream, in order of the positions. */
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

  it("replays the same parts for every split into two pieces", { timeout: 60_000 }, async () => {
    const server = await cuttingServer(body);
    const { value, snapshot } = await record(() => atEveryByte(stream, "split", server.url));
    await server.stop();
    // The client sees the same parts wherever the stream is split.
    const [whole] = value;
    expect(whole?.parts.length).toBeGreaterThan(2);
    for (const [at, parts] of value.entries()) expect(parts, `split at ${at}`).toEqual(whole);
    expect(await replayed(() => atEveryByte(stream, "split", server.url), snapshot)).toEqual(value);
    expect(server.requests()).toBe(Buffer.byteLength(stream.own));
  });

  it("replays the same parts for every position where the connection breaks", { timeout: 60_000 }, async () => {
    const server = await cuttingServer(body);
    const { value, snapshot } = await record(() => atEveryByte(stream, "broken", server.url));
    await server.stop();
    // Some clients have received everything they need before the last byte.
    expect(value.filter(({ error }) => error !== undefined).length).toBeGreaterThan(value.length / 2);
    const again = await replayed(() => atEveryByte(stream, "broken", server.url), snapshot);
    for (const [at, parts] of value.entries()) expect(again[at], `broken off at ${at}`).toEqual(parts);
    expect(server.requests()).toBe(Buffer.byteLength(stream.own));
  });
});
