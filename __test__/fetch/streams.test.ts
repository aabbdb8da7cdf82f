// Streamed bodies: their timing, their ends and their readers.
import { isReplayMissError, runFrame, runWith } from "agent-rewind";
import { dumpSnapshot } from "agent-rewind/debugger";
import { rewindFetch } from "agent-rewind/fetch";
import { describe, expect, it } from "vitest";

import { deferred } from "../support/deferred.js";
import { modelServer } from "../support/model-server.js";
import { outcome, record, replayed } from "../support/recorded.js";

const fetch = rewindFetch();

async function chunksOf(response: Response): Promise<string[]> {
  const chunks: string[] = [];
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    chunks.push(Buffer.from(chunk).toString("latin1"));
  }
  return chunks;
}

/** A fetch whose body arrives when the test says so. */
function manual(): {
  fetch: typeof globalThis.fetch;
  push(text: string): void;
  close(): void;
  cancelled: () => boolean;
} {
  let controller!: ReadableStreamDefaultController<Uint8Array>;
  let cancelled = false;
  const body = new ReadableStream<Uint8Array>({
    start: (given) => void (controller = given),
    cancel: () => void (cancelled = true),
  });
  return {
    fetch: async () => new Response(body, { headers: { "content-type": "text/plain" } }),
    push: (text) => controller.enqueue(Buffer.from(text)),
    close: () => controller.close(),
    cancelled: () => cancelled,
  };
}

describe("while recording", () => {
  it("passes on each chunk before the next one arrives", async () => {
    const source = manual();
    const { snapshot } = await record(async () => {
      const response = await rewindFetch(source.fetch)("http://host/");
      const reader = (response.body as ReadableStream<Uint8Array>).getReader();
      for (const text of ["one", "two"]) {
        source.push(text);
        expect(Buffer.from((await reader.read()).value ?? []).toString()).toBe(text);
      }
      source.close();
      expect((await reader.read()).done).toBe(true);
    });
    const program = async () => chunksOf(await rewindFetch(source.fetch)("http://host/"));
    expect(await replayed(program, snapshot)).toEqual(["one", "two"]);
  });

  it("keeps the boundaries of chunks, even inside a character", async () => {
    await using server = await modelServer(() => ({ body: "é語🌍", cut: 1 }));
    const program = async () => chunksOf(await fetch(server.url));
    const { value, snapshot } = await record(program);
    await server.stop();
    expect(value.join("")).toBe(Buffer.from("é語🌍").toString("latin1"));
    expect(await replayed(program, snapshot)).toEqual(value);
  });

  it("records bytes that are not text", async () => {
    const body = Uint8Array.from({ length: 256 }, (_, index) => index);
    await using server = await modelServer(() => ({ body, cut: 50, headers: { "content-type": "audio/x" } }));
    const program = async () => new Uint8Array(await (await fetch(server.url)).arrayBuffer());
    const { snapshot } = await record(program);
    await server.stop();
    expect(await replayed(program, snapshot)).toEqual(body);
  });
});

describe("a stream that its reader leaves early", () => {
  it("is recorded up to there, ends the request and has no further chunks on replay", async () => {
    const source = manual();
    const client = rewindFetch(source.fetch);
    const first = async () => {
      for await (const chunk of (await client("http://host/")).body as unknown as AsyncIterable<Uint8Array>) {
        return Buffer.from(chunk).toString();
      }
    };
    source.push("one");
    const { snapshot } = await record(first);
    expect(source.cancelled()).toBe(true);
    expect(await replayed(first, snapshot)).toBe("one");
    const error = await replayed(async () => (await client("http://host/")).text(), snapshot).catch((cause) => cause);
    expect(isReplayMissError(error)).toBe(true);
  });

  it("by an abort fails in the same way on replay", async () => {
    await using server = await modelServer(() => ({ body: "some", endless: true }));
    const program = (abort: boolean) => async () => {
      const controller = new AbortController();
      const response = await fetch(server.url, { signal: controller.signal });
      const reader = (response.body as ReadableStream<Uint8Array>).getReader();
      const { value } = await reader.read();
      if (abort) controller.abort();
      return { text: Buffer.from(value ?? []).toString(), rest: await outcome(reader.read()) };
    };
    const { value, snapshot } = await record(program(true));
    expect(value).toMatchObject({ text: "some", rest: { error: { name: "AbortError" } } });
    await server.stop();
    expect(await replayed(program(true), snapshot)).toEqual(value);
    // Nobody aborts during the replay: the recording simply ends here.
    expect(await replayed(program(false), snapshot)).toEqual(value);
  });
});

describe("on replay", () => {
  it("honors an abort before the request, while waiting for the response and while reading the body", async () => {
    await using server = await modelServer(() => ({ body: "some text", cut: 4 }));
    const { snapshot } = await record(async () => (await fetch(server.url)).text());
    await server.stop();
    const reason = new Error("enough");
    const aborted = AbortSignal.abort(reason);
    await expect(replayed(() => fetch(server.url, { signal: aborted }), snapshot)).rejects.toBe(reason);
    const meanwhile = async () => {
      const controller = new AbortController();
      const asked = fetch(server.url, { signal: controller.signal });
      controller.abort(reason);
      return asked;
    };
    await expect(replayed(meanwhile, snapshot)).rejects.toBe(reason);
    const reading = async () => {
      const controller = new AbortController();
      const response = await fetch(server.url, { signal: controller.signal });
      const reader = (response.body as ReadableStream<Uint8Array>).getReader();
      await reader.read();
      controller.abort(reason);
      return reader.read();
    };
    await expect(replayed(reading, snapshot)).rejects.toBe(reason);
  });

  it("delivers the chunks with their recorded timing if the option asks for it", async () => {
    const source = manual();
    const { snapshot } = await record(async () => {
      const response = await rewindFetch(source.fetch)("http://host/");
      setTimeout(() => source.push("one"), 30);
      setTimeout(() => source.push("two"), 60);
      setTimeout(() => source.close(), 61);
      return response.text();
    });
    const { chunks = [] } = snapshot.root.calls?.[0]?.meta?.stream ?? {};
    const program = async () => {
      const startedAt = performance.now();
      const response = await rewindFetch(source.fetch, { timing: "recorded" })("http://host/");
      const texts = await chunksOf(response);
      return { texts, took: performance.now() - startedAt };
    };
    const { texts, took } = await replayed(program, snapshot);
    expect(texts).toEqual(["one", "two"]);
    // A timer may fire up to a millisecond early.
    expect(took).toBeGreaterThanOrEqual((chunks.at(-1)?.[1] ?? Infinity) - 2);
  });

  it("restores status, headers and URL, and can clone the response", async () => {
    const headers = { "content-type": "text/plain", "x-request-id": "r1", "set-cookie": "a=b", "x-mine": "1" };
    await using server = await modelServer((request) =>
      request.path === "/old"
        ? { status: 302, headers: { location: "/new" }, body: "" }
        : { status: 207, headers, body: "text" },
    );
    const mine = rewindFetch(undefined, { responseHeaders: ["X-Mine"] });
    const program = async () => {
      const response = await mine(`${server.url}/old`);
      const copy = response.clone();
      const { status, statusText, url, redirected, ok } = response;
      const seen = [...response.headers].filter(([name]) => name !== "set-cookie");
      return {
        status,
        statusText,
        url,
        redirected,
        ok,
        seen,
        copied: copy.url,
        texts: [await response.text(), await copy.text()],
      };
    };
    const { value, snapshot, text } = await record(program);
    await server.stop();
    expect(value).toMatchObject({ status: 207, url: `${server.url}/new`, redirected: true, texts: ["text", "text"] });
    expect(await replayed(program, snapshot)).toEqual(value);
    expect(text).not.toContain("a=b");
  });

  it("restores a response without a body", async () => {
    await using server = await modelServer(() => ({ status: 204, body: "" }));
    const program = async () => {
      const response = await fetch(server.url, { method: "DELETE" });
      return { status: response.status, body: response.body, text: await response.text() };
    };
    const { value, snapshot } = await record(program);
    expect(value).toEqual({ status: 204, body: null, text: "" });
    expect(await replayed(program, snapshot)).toEqual(value);
  });
});

describe("the run context", () => {
  it("stays open for a stream that is read after its agent has ended", async () => {
    await using server = await modelServer(() => ({ body: "a b c", cut: 1 }));
    const program = async () => {
      const response = await runFrame({ id: "asker", input: {} }, () => fetch(server.url));
      return response.text();
    };
    const { value, snapshot } = await record(program);
    const frame = snapshot.root.children["root/agent:asker:0"];
    expect(frame?.calls?.[0]).toMatchObject({ row: true });
    expect(frame?.state.status).toBe("completed");
    await server.stop();
    expect(await replayed(program, snapshot)).toBe(value);
  });

  it("is taken from the creation of the client if a callback has lost it", async () => {
    await using server = await modelServer(() => ({ body: "x" }));
    const outside = deferred<() => Promise<string>>();
    // This client is created before the run, so calls from here have no context.
    const caller = outside.promise.then((call) => call());
    const program = async () => {
      const client = rewindFetch();
      outside.resolve(async () => (await client(server.url)).text());
      await caller;
      return dumpSnapshot().root.calls?.length;
    };
    expect(await runWith(program)).toBe(1);
  });
});
