// Responses with an error status are failures: replayed if the program continued after them, retried if they ended the
// run.
import Anthropic from "@anthropic-ai/sdk";
import { resume, runFrame, runWith, type TraceEvent } from "agent-rewind";
import { dumpSnapshot, restoreSnapshot, type AgentSnapshot } from "agent-rewind/debugger";
import { rewindFetch } from "agent-rewind/fetch";
import OpenAI from "openai";
import { describe, expect, it } from "vitest";

import { chatCompletion, json, modelServer, type ModelServer } from "../support/model-server.js";
import { withoutWaiting } from "../support/pauses.js";
import { outcome } from "../support/recorded.js";

const fetch = rewindFetch();
const messages = (content: string) => [{ role: "user" as const, content }];
const busy = json(
  { error: { message: "busy", code: "overloaded" } },
  { status: 503, headers: { "retry-after-ms": "1" } },
);

/** A model that is busy for questions containing "busy" while `busy` is set. */
async function busyModel(): Promise<ModelServer & { busy: boolean }> {
  const server: ModelServer = await modelServer(({ body }) =>
    state.busy && body.includes("busy") ? busy : json(chatCompletion("fine")),
  );
  const state = Object.assign(server, { busy: true });
  return state;
}

const ask = async ({ url }: ModelServer, content: string, maxRetries = 0): Promise<unknown> => {
  const client = new OpenAI({ apiKey: "key", baseURL: url, fetch, maxRetries });
  const answer = await client.chat.completions.create({ model: "m", messages: messages(content) });
  return answer.choices[0]?.message.content;
};

/** The dump and the trace of a failing program. */
async function failed(program: () => Promise<unknown>): Promise<AgentSnapshot[]> {
  const events: TraceEvent[] = [];
  let dumped: string | undefined;
  const run = runWith(() => program().finally(() => (dumped = JSON.stringify(dumpSnapshot()))), {
    eventBus: { emit: (event) => void events.push(event) },
  });
  await expect(run).rejects.toMatchObject({ status: 503 });
  return [JSON.parse(dumped ?? "") as AgentSnapshot, restoreSnapshot(events)];
}

it("a client's retries are one call in the trace too, and the outcome of the last retry counts", async () => {
  const retry = { "retry-after-ms": "1" };
  await using server = await modelServer((_request, index) =>
    index < 2
      ? json({ error: { message: "busy" } }, { status: 503, headers: retry })
      : json(chatCompletion(`try ${index}`)),
  );
  const program = async () => [await ask(server, "first", 3), await ask(server, "first", 3)];
  const events: TraceEvent[] = [];
  const value = await runWith(program, { eventBus: { emit: (event) => void events.push(event) } });
  expect(value).toEqual(["try 2", "try 3"]);
  await server.stop();
  const snapshot = restoreSnapshot(events);
  expect(snapshot.root.calls).toHaveLength(2);
  expect(snapshot.warnings).toBeUndefined();
  expect(await runWith(program, { snapshot, mode: "replay" })).toEqual(value);
  // Killed while the client waits for its next retry: the call is in flight.
  const second = events.findIndex(({ type }, at) => type === "call:start" && at > 3);
  const killed = restoreSnapshot(events.slice(0, second + 1));
  expect(killed.root.calls?.map(({ endOrder }) => endOrder)).toEqual([undefined]);
});

it("replays the result that a custom fetch returns for a network error", async () => {
  const program = async (): Promise<unknown[]> => {
    const response = await rewindFetch(async () => Response.error())("https://model.test/");
    return [response.type, response.status, response.ok, response.body, await response.text(), [...response.headers]];
  };
  const { value, snapshot } = await runWith(async () => ({ value: await program(), snapshot: dumpSnapshot() }));
  expect(value).toEqual(["error", 0, false, null, "", []]);
  expect(await runWith(program, { snapshot, mode: "replay" })).toEqual(value);
});

describe("an error status that ended the run", () => {
  it.each([0, 2])("is retried on resume, and nothing else is (%i retries)", async (retries) => {
    await using server = await busyModel();
    const program = async () => [await ask(server, "first", retries), await ask(server, "busy", retries)];
    for (const snapshot of await failed(program)) {
      server.busy = false;
      const liveCalls = server.requests.length;
      server.busy = false;
      expect(await resume(program, { snapshot })).toEqual(["fine", "fine"]);
      expect(server.requests).toHaveLength(liveCalls + 1);
      expect(server.requests.at(-1)?.body).toContain("busy");
      // A strict replay fails as the run did, with the same body.
      await expect(runWith(program, { snapshot, mode: "replay" })).rejects.toMatchObject({
        status: 503,
        code: "overloaded",
      });
      expect(server.requests).toHaveLength(liveCalls + 1);
    }
  });

  it("is retried in an agent's frame too", async () => {
    await using server = await busyModel();
    const program = async () => [
      await ask(server, "first"),
      await runFrame({ id: "a", input: {} }, () => ask(server, "busy")),
    ];
    for (const snapshot of await failed(program)) {
      const liveCalls = server.requests.length;
      server.busy = false;
      expect(await resume(program, { snapshot })).toEqual(["fine", "fine"]);
      expect(server.requests).toHaveLength(liveCalls + 1);
      server.busy = true;
    }
  });

  it("is retried if its body was not read too", async () => {
    await using server = await busyModel();
    const status = async (path: string) =>
      (await fetch(`${server.url}/${path}`, { method: "POST", body: path })).status;
    const program = async () => {
      await status("first");
      const got = await status("busy");
      if (got !== 200) throw Object.assign(new Error("no"), { status: got });
      return got;
    };
    for (const snapshot of await failed(program)) {
      const liveCalls = server.requests.length;
      server.busy = false;
      expect(await resume(program, { snapshot })).toBe(200);
      expect(server.requests).toHaveLength(liveCalls + 1);
      server.busy = true;
    }
  });
});

it("an error status after which the program continued is replayed, also on resume", async () => {
  await using server = await busyModel();
  const program = async () => [await outcome(ask(server, "busy")), await ask(server, "second")];
  const events: TraceEvent[] = [];
  const { value, snapshot } = await runWith(async () => ({ value: await program(), snapshot: dumpSnapshot() }), {
    eventBus: { emit: (event) => void events.push(event) },
  });
  expect(value).toMatchObject([{ error: { status: 503, code: "overloaded" } }, "fine"]);
  await server.stop();
  for (const recording of [snapshot, restoreSnapshot(events)]) {
    expect(await resume(program, { snapshot: recording })).toEqual(value);
    expect(await runWith(program, { snapshot: recording, mode: "replay" })).toEqual(value);
  }
  expect(server.requests).toHaveLength(2);
});

it("replays a response with an error status, whatever it contains", async () => {
  const bytes = new Uint8Array([0, 255, 1]);
  await using server = await modelServer(() => ({ status: 404, body: bytes, headers: { "x-mine": "1" } }));
  const mine = rewindFetch(undefined, { responseHeaders: ["x-mine"] });
  const program = async () => {
    const response = await mine(server.url);
    const { status, ok, statusText, url, headers } = response;
    return {
      status,
      ok,
      statusText,
      url,
      mine: headers.get("x-mine"),
      bytes: new Uint8Array(await response.arrayBuffer()),
    };
  };
  const { value, snapshot } = await runWith(async () => ({ value: await program(), snapshot: dumpSnapshot() }));
  expect(value).toMatchObject({ status: 404, ok: false, mine: "1", bytes });
  await server.stop();
  expect(snapshot.root.calls?.[0]?.error).toMatchObject({ name: "HttpStatusError", message: "404 Not Found" });
  expect(await runWith(program, { snapshot, mode: "replay" })).toEqual(value);
});

it.each([200, 500])("replays the redacted placeholder of a response as bytes (%i)", async (status) => {
  const bytes = Uint8Array.from({ length: 3000 }, (_, at) => (at * 7919) % 256);
  await using server = await modelServer(() => ({ status, body: bytes, headers: { "content-type": "image/png" } }));
  const program = async () => {
    const response = await fetch(server.url);
    return { status: response.status, text: await response.text() };
  };
  const options = { redact: true } as const;
  const { value, snapshot } = await runWith(
    async () => ({ value: await program(), snapshot: dumpSnapshot() }),
    options,
  );
  expect(value.status).toBe(status);
  const again = await runWith(program, { snapshot, mode: "replay", ...options });
  expect(again).toEqual({ status, text: expect.stringMatching(/^\[base64:3000:[0-9a-f]{64}\]$/) as string });
});

it.each<[string, (url: string) => Promise<unknown>]>([
  ["OpenAI", (url) => new OpenAI({ apiKey: "key", baseURL: url, fetch, maxRetries: 2 }).models.list()],
  ["Anthropic", (url) => new Anthropic({ apiKey: "key", baseURL: url, fetch, maxRetries: 2 }).models.list()],
])("a client of %s that gave up also gives up on replay, without its pauses", async (_name, list) => {
  await using server = await modelServer(() => busy);
  const program = () => outcome(list(server.url));
  const { value, snapshot } = await runWith(async () => ({ value: await program(), snapshot: dumpSnapshot() }));
  expect(value).toMatchObject({ error: { status: 503 } });
  expect(server.requests).toHaveLength(3);
  await server.stop();
  const again = await withoutWaiting(() => runWith(program, { snapshot, mode: "replay" }));
  expect(again).toEqual({ result: value, pauses: [1, 1] });
});
