// Which requests are equal and share their recordings.
import { callTool, isReplayMissError, journalCall, resume, runWith } from "agent-rewind";
import { dumpSnapshot } from "agent-rewind/debugger";
import { rewindFetch } from "agent-rewind/fetch";
import OpenAI, { toFile } from "openai";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { chatCompletion, json, modelServer } from "../support/model-server.js";
import { record, replayed } from "../support/recorded.js";

const fetch = rewindFetch();
type Params = OpenAI.ChatCompletionCreateParamsNonStreaming;

const BASE: Params = {
  model: "gpt-x",
  messages: [
    { role: "system", content: "Be brief." },
    { role: "user", content: "hi" },
  ],
};
const image = (data: string): Params => ({
  ...BASE,
  messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: `data:image/png;base64,${data}` } }] }],
});
const VARIANTS: Params[] = [
  { ...BASE, messages: [{ role: "system", content: "Be long." }, ...BASE.messages.slice(1)] },
  { ...BASE, temperature: 0.5 },
  { ...BASE, tools: [{ type: "function", function: { name: "f", parameters: { type: "object" } } }] },
  image("AAAA"),
  { ...BASE, messages: [...BASE.messages, { role: "assistant", content: "yes" }, { role: "user", content: "more" }] },
];

function asker(url: string) {
  const client = new OpenAI({ apiKey: "sk-key", baseURL: url, fetch, maxRetries: 0 });
  return async (params: Params) => (await client.chat.completions.create(params)).choices[0]?.message.content;
}

const counting = () => modelServer((_request, index) => json(chatCompletion(`answer ${index}`)));

describe("requests of a client", () => {
  it("that differ in any part are recorded separately and never answer each other", async () => {
    await using server = await counting();
    const ask = asker(server.url);
    const askAll = async (list: Params[]) => {
      const answers = [];
      for (const params of list) answers.push(await ask(params));
      return answers;
    };
    const { value, snapshot } = await record(() => askAll(VARIANTS));
    await server.stop();
    expect(new Set(value).size).toBe(5);
    expect(await replayed(() => askAll(VARIANTS), snapshot)).toEqual(value);
    expect(await replayed(() => askAll(VARIANTS.toReversed()), snapshot)).toEqual(value.toReversed());
    for (const other of [BASE, image("AAAB"), { ...BASE, temperature: 0.6 }]) {
      const missed = await replayed(() => ask(other), snapshot).catch((error: unknown) => error);
      expect(isReplayMissError(missed)).toBe(true);
    }
    // The order of keys does not matter.
    const { messages, model } = BASE;
    expect(await replayed(() => ask({ temperature: 0.5, messages, model }), snapshot)).toBe(value[1]);
  });

  it("that are equal are answered in order, sequentially and in parallel", async () => {
    await using server = await counting();
    const ask = asker(server.url);
    const inTurn = async () => [await ask(BASE), await ask(BASE), await ask(BASE)];
    const inParallel = () => Promise.all([ask(BASE), ask(BASE), ask(BASE)]);
    for (const program of [inTurn, inParallel]) {
      const { value, snapshot } = await record(program);
      expect(new Set(value).size).toBe(3);
      expect(await replayed(program, snapshot)).toEqual(value);
      expect(await replayed(program, snapshot)).toEqual(value);
    }
    expect(server.requests).toHaveLength(6);
  });

  it("miss with a diff that names the change", async () => {
    await using server = await counting();
    const ask = asker(server.url);
    const { snapshot } = await record(() => ask(BASE));
    const changed = {
      ...BASE,
      messages: [{ role: "system" as const, content: "Be kind." }, ...BASE.messages.slice(1)],
    };
    await expect(replayed(() => ask(changed), snapshot)).rejects.toThrow(
      '/input/body/messages/0/content: a text (recorded "Be brief.", now "Be kind.")',
    );
  });

  it("are recorded without their keys", async () => {
    await using server = await counting();
    const program = async () => {
      await asker(server.url)(BASE);
      const url = new URL(`${server.url}/x?key=sk-one&b=2`);
      url.username = "sk-two";
      await (
        await fetch(String(url).replace("sk-two@", ""), { headers: { "x-api-key": "sk-three", cookie: "sk-four" } })
      ).text();
    };
    const { text } = await record(program);
    expect(text).not.toContain("sk-");
    expect(server.requests[1]?.path).toBe("/x?key=sk-one&b=2");
  });
});

describe("request bodies", () => {
  const bytes = (seed: number) => Uint8Array.from({ length: 500 }, (_, index) => (index * seed) % 256);
  const form = (seed: number) => {
    const data = new FormData();
    data.append("purpose", "test");
    data.append("file", new Blob([bytes(seed)], { type: "image/png" }), "a.png");
    return data;
  };
  const stream = (seed: number) =>
    new ReadableStream({
      start(controller) {
        controller.enqueue(bytes(seed).slice(0, 100));
        controller.enqueue(bytes(seed).slice(100));
        controller.close();
      },
    });
  const BODIES: Record<string, (seed: number) => RequestInit & { duplex?: "half" }> = {
    bytes: (seed) => ({ body: bytes(seed) }),
    "an ArrayBuffer": (seed) => ({ body: bytes(seed).buffer }),
    "a Blob": (seed) => ({ body: new Blob([bytes(seed)]) }),
    "a form with a file": (seed) => ({ body: form(seed) }),
    "a stream": (seed) => ({ body: stream(seed), duplex: "half" }),
    "URL parameters": (seed) => ({ body: new URLSearchParams({ seed: String(seed) }) }),
    text: (seed) => ({ body: `text ${seed}` }),
    "a multipart body with a boundary of its own": (seed) => {
      const boundary = `x${seed}${"-".repeat(seed)}`;
      return {
        headers: { "content-type": `multipart/form-data; boundary=${boundary}` },
        body: Buffer.from(
          `--${boundary}\r\ncontent-disposition: form-data; name="a"\r\n\r\n${seed % 10}\r\n--${boundary}--\r\n`,
        ),
      };
    },
  };

  it.each(Object.entries(BODIES))("are distinguished by content: %s", async (_name, make) => {
    await using server = await modelServer((request) => ({ body: `${request.body.length}` }));
    const ask = (seed: number) => async () => (await fetch(server.url, { method: "POST", ...make(seed) })).text();
    const { value, snapshot } = await record(ask(1));
    await server.stop();
    expect(Number(value)).toBeGreaterThan(0);
    expect(await replayed(ask(1), snapshot)).toBe(value);
    await expect(replayed(ask(2), snapshot)).rejects.toThrow("The recording has no answer for the fetch call");
  });

  it("of multipart forms are hashed without their boundary", async () => {
    await using server = await modelServer(() => ({ body: "ok" }));
    const ask = (seed: number) => async () =>
      (
        await fetch(server.url, { method: "POST", ...BODIES["a multipart body with a boundary of its own"]?.(seed) })
      ).text();
    const { snapshot } = await record(ask(3));
    expect(await replayed(ask(13), snapshot)).toBe("ok");
  });

  it("uploaded by a client are sent unchanged", async () => {
    await using server = await modelServer(() => json({ id: "file-1" }));
    const client = new OpenAI({ apiKey: "k", baseURL: server.url, fetch, maxRetries: 0 });
    const upload = (text: string) => async () =>
      (await client.files.create({ file: await toFile(Buffer.from(text), "a.txt"), purpose: "assistants" })).id;
    const { snapshot } = await record(upload("content of the file"));
    expect(server.requests[0]?.body).toContain("content of the file");
    expect(await replayed(upload("content of the file"), snapshot)).toBe("file-1");
    await expect(replayed(upload("other content"), snapshot)).rejects.toThrow("no answer");
  });

  it("of Request objects are hashed and sent too", async () => {
    await using server = await modelServer((request) => ({ body: `${request.method} ${request.body}` }));
    const ask = (body: string) => async () => (await fetch(new Request(server.url, { method: "PUT", body }))).text();
    const { value, snapshot } = await record(ask("one"));
    expect(value).toBe("PUT one");
    expect(await replayed(ask("one"), snapshot)).toBe(value);
    await expect(replayed(ask("two"), snapshot)).rejects.toThrow("no answer");
  });
});

it.each([5, true, {}, null])("converts a request body of %j as fetch does", async (body) => {
  const sent = async (...args: Parameters<typeof globalThis.fetch>) => {
    const request = new Request(...args);
    return new Response(`${request.method} ${request.headers.get("content-type")} ${await request.text()}`);
  };
  const ask = async (by: typeof globalThis.fetch) =>
    (await by("http://host/", { method: "POST", body: body as never })).text();
  const plain = await ask(sent);
  const { value, snapshot } = await record(() => ask(rewindFetch(sent)));
  expect(value).toBe(plain);
  expect(await replayed(() => ask(rewindFetch(sent)), snapshot)).toBe(plain);
});

describe("rewindFetch", () => {
  it("is the given fetch outside of runs", async () => {
    await using server = await modelServer(() => ({ body: "plain" }));
    const given = (...args: Parameters<typeof globalThis.fetch>) => globalThis.fetch(...args);
    expect(await (await rewindFetch(given)(server.url)).text()).toBe("plain");
    expect(() => rewindFetch(1 as never)).toThrow(TypeError);
    expect(() => rewindFetch(undefined, { timing: "slow" as never })).toThrow('"instant" or "recorded"');
    for (const option of ["requestHeaders", "responseHeaders"]) {
      expect(() => rewindFetch(undefined, { [option]: ["x-mine", "no name"] })).toThrow(
        new TypeError(`rewindFetch: options.${option}[1] must be a header name, received "no name"`),
      );
      expect(() => rewindFetch(undefined, { [option]: [123] })).toThrow(
        new TypeError(`rewindFetch: options.${option}[0] must be a header name, received number`),
      );
      expect(() => rewindFetch(undefined, { [option]: "x-mine" })).toThrow(
        new TypeError(`rewindFetch: options.${option} must be an array of header names, received "x-mine"`),
      );
    }
  });

  it("marks an earlier failure as handled when the program sends a request, also while a body is read", async () => {
    const ask = rewindFetch(async () => new Response("plain"));
    const liveCalls: string[] = [];
    const program = async (dumpNow: () => void): Promise<string> => {
      const failing = journalCall({ kind: "step", name: "fails", request: {} }, () => {
        liveCalls.push("fails");
        throw new RangeError("too far");
      });
      await failing.catch(() => {});
      const asked = ask(new Request("http://host/", { method: "POST", body: "sent" }));
      dumpNow();
      return (await asked).text();
    };
    let snapshot!: ReturnType<typeof dumpSnapshot>;
    const dumpNow = (): void => void (snapshot = dumpSnapshot());
    await runWith(() => program(dumpNow));
    expect(snapshot.root.calls).toHaveLength(1);
    expect(await resume(() => program(() => {}), { snapshot })).toBe("plain");
    expect(liveCalls).toHaveLength(1);
  });

  it("records requests inside a tool as a part of it, and none inside a call that is a leaf", async () => {
    await using server = await modelServer(() => ({ body: "plain" }));
    const tool = {
      name: "get",
      description: "",
      parameters: z.object({}),
      handler: async () => (await fetch(server.url)).text(),
    };
    const leaf = { kind: "http", name: "get", request: {}, leaf: true };
    const snapshot = await runWith(async () => {
      expect(await callTool(tool, {})).toBe("plain");
      expect(await journalCall(leaf, async () => (await fetch(server.url)).text())).toBe("plain");
      return dumpSnapshot();
    });
    const inside = snapshot.root.calls?.map(({ kind, within }) => [kind, within]);
    expect(inside).toEqual([
      ["tool", undefined],
      ["fetch", "root/tool:get:0"],
      ["http", undefined],
    ]);
  });
});
