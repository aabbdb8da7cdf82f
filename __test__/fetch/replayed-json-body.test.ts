// A replayed response with a JSON body creates its stream only on demand. No caller may notice that.
import { runWith } from "agent-rewind";
import { dumpSnapshot, type AgentSnapshot } from "agent-rewind/debugger";
import { rewindFetch } from "agent-rewind/fetch";
import { beforeAll, describe, expect, it, vi } from "vitest";

const URL_ASKED = "http://host/v1/chat?x=1";
const TEXT = JSON.stringify({ text: "ünï 🦀", list: [1, null, { "": true }], "2": "b", "1": "a" });
const INIT = { status: 418, statusText: "Tea", headers: { "content-type": "application/json" } };

const live = (): Response => new Response(new Blob([TEXT]).stream(), INIT);
const ask = (init?: RequestInit): Promise<Response> => rewindFetch(async () => live())(URL_ASKED, init);

let snapshot: AgentSnapshot;
beforeAll(async () => {
  snapshot = await runWith(async () => {
    await (await ask()).text();
    return dumpSnapshot();
  });
});

const replayed = (init?: RequestInit): Promise<Response> => runWith(() => ask(init), { snapshot, mode: "replay" });

type Step = (response: Response) => unknown;
const all = async (stream: ReadableStream<Uint8Array>): Promise<string> => {
  let text = "";
  for await (const part of stream.pipeThrough(new TextDecoderStream())) text += part;
  return text;
};
const STEPS: Record<string, Step> = {
  text: (response) => response.text(),
  json: (response) => response.json(),
  arrayBuffer: async (response) => [...new Uint8Array(await response.arrayBuffer())],
  blob: async (response) => {
    const blob = await response.blob();
    return [blob.type, await blob.text()];
  },
  bytes: (response) => ("bytes" in response ? (response.bytes as () => unknown)() : "no bytes"),
  formData: (response) => response.formData(),
  body: (response) => all(response.body as ReadableStream<Uint8Array>),
  lock: (response) => void response.body?.getReader(),
  cancel: (response) => response.body?.cancel(),
  clone: (response) => response.clone().text(),
  "json of a clone": (response) => response.clone().json(),
  copy: (response) => new Response(response.body, response).text(),
  used: (response) => response.bodyUsed,
  locked: (response) => response.body?.locked,
};

async function outcomes(response: Response, steps: readonly string[]): Promise<unknown[]> {
  const seen: unknown[] = [];
  for (const name of steps) {
    try {
      seen.push(await STEPS[name]?.(response));
    } catch (error) {
      seen.push([(error as Error).constructor.name, (error as Error).message]);
    }
    // A stream that was read to its end is unlocked some microtasks later.
    await new Promise(setImmediate);
    seen.push(response.bodyUsed);
  }
  return seen;
}

describe("a replayed body of JSON", () => {
  const names = Object.keys(STEPS);
  const pairs = names.flatMap((first) => names.map((second) => [first, second] as const));

  it.each(pairs)("can be read by %s and then %s like a live one", async (first, second) => {
    const steps = [first, second, "used", "locked"];
    expect(await outcomes(await replayed(), steps)).toEqual(await outcomes(live(), steps));
  });

  it("belongs to a normal Response", async () => {
    const response = await replayed();
    expect(response).toBeInstanceOf(Response);
    expect(Object.prototype.toString.call(response)).toBe("[object Response]");
    expect(response.constructor).toBe(Response);
    const { status, statusText, ok, type, redirected, url, headers } = response;
    expect({ status, statusText, ok, type, redirected, url, headers: [...headers] }).toEqual({
      status: 418,
      statusText: "Tea",
      ok: false,
      type: "default",
      redirected: false,
      url: URL_ASKED,
      headers: [["content-type", "application/json"]],
    });
    const copy = response.clone();
    expect([copy.url, copy.status, copy.clone().url]).toEqual([URL_ASKED, 418, URL_ASKED]);
  });

  it("is not shared between its readers", async () => {
    const first = (await (await replayed()).json()) as { list: unknown[] };
    first.list.length = 0;
    expect(await (await replayed()).json()).toEqual(JSON.parse(TEXT));
  });

  it.each(["text", "json", "arrayBuffer", "body"])("fails with %s after its request was aborted", async (name) => {
    const controller = new AbortController();
    const response = await replayed({ signal: controller.signal });
    controller.abort(new Error("changed my mind"));
    await expect(STEPS[name]?.(response)).rejects.toThrow("changed my mind");
  });

  it("stays complete for a reader that finished before the abort", async () => {
    const controller = new AbortController();
    const response = await replayed({ signal: controller.signal });
    const text = await response.text();
    controller.abort();
    expect(text).toBe(TEXT);
    expect(response.bodyUsed).toBe(true);
  });

  it("belongs to the program's own Response class if the program replaced the global one", async () => {
    class Mine extends Response {}
    vi.stubGlobal("Response", Mine);
    try {
      expect(await replayed()).toBeInstanceOf(Mine);
      const readBy = (read: () => unknown): Promise<unknown[]> =>
        Promise.all(names.map(async (name) => [name, ...(await outcomes((await read()) as Response, [name]))]));
      expect(await readBy(replayed)).toEqual(await readBy(live));
    } finally {
      vi.unstubAllGlobals();
    }
    expect(await replayed()).not.toBeInstanceOf(Mine);
  });

  it.each(["#", "#part"])("has the URL without the fragment %s, like a live one", async (fragment) => {
    const asked = (): Promise<Response> => rewindFetch(async () => live())(`${URL_ASKED}${fragment}`);
    expect((await runWith(asked, { snapshot, mode: "replay" })).url).toBe(URL_ASKED);
  });
});
