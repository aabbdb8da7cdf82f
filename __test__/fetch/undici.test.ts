// The fetch and the clients of undici from npm, beside the one that Node contains.
import { getMaxListeners } from "node:events";

import {
  callTool,
  createAgent,
  equipInstruction,
  getContextSignal,
  journalCall,
  promptAgent,
  runFrame,
  runWith,
} from "agent-rewind";
import { rewindFetch } from "agent-rewind/fetch";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { chatStream, json, modelServer } from "../support/model-server.js";
import { record, replayed } from "../support/recorded.js";

type Undici = typeof import("undici8");

const LOADERS: Record<string, () => Promise<unknown>> = {
  "undici 6": () => import("undici6"),
  "undici 7": () => import("undici7"),
  "undici 8": () => import("undici8"),
};
const [major = 0] = process.versions.node.split(".").map(Number);
// undici 8 needs Node 22.19.
const loadable = Object.entries(LOADERS).filter(([name]) => name !== "undici 8" || major >= 22);

const ask = (signal: AbortSignal) => ({ method: "POST", body: "{}", signal });

/** Places that hand out a signal, each of which is passed to a request. */
const PLACES: Record<string, (request: (signal: AbortSignal) => Promise<string>) => Promise<unknown>> = {
  "a journaled call": (request) =>
    journalCall({ kind: "chat", name: "m", request: {} }, ({ signal }) => request(signal)),
  "a tool": (request) =>
    callTool({ name: "t", description: "", parameters: z.object({}), handler: (_, { signal }) => request(signal) }, {}),
  "a frame": (request) => runFrame({ id: "f", input: {} }, () => request(getContextSignal() as AbortSignal)),
  "a model": (request) =>
    createAgent({
      id: "a",
      model: {
        id: "m",
        async *stream(_messages, { signal } = {}) {
          yield { type: "text" as const, content: JSON.stringify(await request(signal as AbortSignal)) };
          yield { type: "finish" as const, finishReason: "stop" as const };
        },
      },
      handler: () => {
        equipInstruction("ask");
        return promptAgent(z.string());
      },
    })(),
};

describe.each(loadable)("%s", (_name, load) => {
  it.each(Object.entries(PLACES))("fetch and request accept the signal of %s", async (place, run) => {
    const { fetch, request } = (await load()) as Undici;
    await using server = await modelServer((_received, index) => ({ body: `answer ${index}` }));
    const program = (): Promise<unknown> =>
      run(async (signal) => {
        const first = await (await fetch(server.url, ask(signal))).text();
        const second = await (await request(server.url, { ...ask(signal), method: "POST" })).body.text();
        return `${first}, ${second}`;
      });
    const { value, snapshot } = await record(program);
    expect(value).toBe("answer 0, answer 1");
    await server.stop();
    // A frame is executed again.
    if (place !== "a frame") expect(await replayed(program, snapshot)).toBe(value);
  });

  it.each([
    ["a stream in pieces", { body: chatStream(), cut: 7 }],
    ["a JSON document", json({ a: 1 })],
    ["a failure", json({ error: "busy" }, { status: 503 })],
  ])("rewindFetch records and replays %s", async (_what, answer) => {
    const undici = (await load()) as Undici;
    const fetch = rewindFetch(undici.fetch as unknown as typeof globalThis.fetch);
    await using server = await modelServer(() => answer);
    const program = async (): Promise<unknown> => {
      const response = await fetch(server.url, ask(new AbortController().signal));
      return { status: response.status, type: response.headers.get("content-type"), text: await response.text() };
    };
    const { value, snapshot } = await record(program);
    await server.stop();
    expect(await replayed(program, snapshot)).toEqual(value);
    expect(server.requests).toHaveLength(1);
  });

  it("an aborted run aborts its requests", async () => {
    const { fetch } = (await load()) as Undici;
    const controller = new AbortController();
    await using server = await modelServer(() => {
      queueMicrotask(() => controller.abort(new Error("enough")));
      return { body: "endless", endless: true };
    });
    const run = runWith(
      () => PLACES["a journaled call"]?.(async (signal) => (await fetch(server.url, ask(signal))).text()),
      {
        signal: controller.signal,
      },
    );
    await expect(run).rejects.toThrow("enough");
    expect(server.requests).toHaveLength(1);
  });
});

it.each(Object.entries(PLACES))("the signal of %s has a readable limit of listeners", async (_place, run) => {
  expect(await runWith(() => run(async (signal) => `${getMaxListeners(signal)}`))).toBe("Infinity");
});
