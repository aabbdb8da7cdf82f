// Which parts of a request count, and that secrets are recorded as digests.
import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer, request as httpRequest, type IncomingMessage } from "node:http";
import { connect as connectHttp2, createServer as createHttp2Server } from "node:http2";
import type { AddressInfo, Server } from "node:net";

import { isReplayMissError, replay, runWith, type AgentSnapshot, type ReplayReport } from "agent-rewind";
import { collectTrace, dumpSnapshot, parseSnapshot, restoreSnapshot } from "agent-rewind/debugger";
import { rewindFetch, type RewindFetchOptions } from "agent-rewind/fetch";
import { HttpRequest, VOLATILE_PARTS } from "agent-rewind/integration";
import { describe, expect, it } from "vitest";

import { record, replayed } from "../support/recorded.js";

type Ask = () => Promise<string>;

let answers = 0;
/** A request whose live answer differs each time. */
const asking =
  (url: string, init?: RequestInit, options?: RewindFetchOptions): Ask =>
  async () =>
    (await rewindFetch(async () => new Response(`answer ${answers++}`), options)(url, init)).text();

const withHeaders = (headers: Record<string, string>, options?: RewindFetchOptions): Ask =>
  asking("http://api.test/v1", { headers }, options);
const posting = (body: NonNullable<RequestInit["body"]>, type?: string): Ask =>
  asking("http://api.test/v1", {
    method: "POST",
    body,
    ...(type === undefined ? {} : { headers: { "content-type": type } }),
  });

async function isAnswered(recorded: Ask, asked: Ask): Promise<boolean> {
  const { value, snapshot } = await record(recorded);
  try {
    expect(await replayed(asked, snapshot)).toBe(value);
    return true;
  } catch (error) {
    expect(isReplayMissError(error)).toBe(true);
    return false;
  }
}

describe("headers", () => {
  it.each([
    ["range", "bytes=0-9", "bytes=10-19"],
    ["accept-language", "de", "fr"],
    ["openai-organization", "org-a", "org-b"],
    ["x-tenant", "1", "2"],
    ["cookie", "session=1", "session=2"],
    ["x-session-token", "one", "two"],
    ["x-forward", "a", "b"],
    ["accept", "text/plain", "*/*"],
  ])("count: %s", async (name, recorded, asked) => {
    const [one, other, none] = [{ [name]: recorded }, { [name]: asked }, {}].map((headers) => withHeaders(headers));
    expect(await isAnswered(one as Ask, one as Ask)).toBe(true);
    expect(await isAnswered(one as Ask, other as Ask)).toBe(false);
    expect(await isAnswered(one as Ask, none as Ask)).toBe(false);
  });

  const exampleOf = (name: string): string => name.replace("*", "some");
  it.each([...VOLATILE_PARTS.headers, ...VOLATILE_PARTS.credentials].map(exampleOf))(
    "do not count: %s",
    async (name) => {
      const [one, other] = [withHeaders({ [name]: "value-1" }), withHeaders({ [name]: "value-2" })];
      expect(await isAnswered(one, other)).toBe(true);
      expect(await isAnswered(one, withHeaders({}))).toBe(true);
      const listed = { requestHeaders: [name] };
      const counted = (value: string): Ask => withHeaders({ [name]: value }, listed);
      expect(await isAnswered(counted("value-1"), counted("value-1"))).toBe(true);
      expect(await isAnswered(counted("value-1"), counted("value-2"))).toBe(false);
    },
  );

  it("count as credentials only if the option says so", async () => {
    const keyed = (key: string, credentials = false): Ask => withHeaders({ authorization: key }, { credentials });
    expect(await isAnswered(keyed("Bearer key-1"), keyed("Bearer key-2"))).toBe(true);
    expect(await isAnswered(keyed("Bearer key-1", true), keyed("Bearer key-1", true))).toBe(true);
    expect(await isAnswered(keyed("Bearer key-1", true), keyed("Bearer key-2", true))).toBe(false);
    expect(await isAnswered(keyed("Bearer key-1", true), withHeaders({}, { credentials: true }))).toBe(false);
    expect((await record(keyed("Bearer key-1", true))).text).not.toContain("key-1");
    expect(() => rewindFetch(undefined, { credentials: 1 as never })).toThrow(
      new TypeError("rewindFetch: options.credentials must be a boolean, received number"),
    );
  });

  it("are named by a miss", async () => {
    const { snapshot } = await record(withHeaders({ range: "bytes=0-9" }));
    await expect(replayed(withHeaders({ range: "bytes=10-19" }), snapshot)).rejects.toThrow(
      /\/input\/headers\/range: .*bytes=0-9.*bytes=10-19/,
    );
  });

  it("count in any case and order, joined", async () => {
    const headers = (...list: [string, string][]): Ask => asking("http://api.test/", { headers: list });
    const one = headers(["X-A", "1"], ["x-b", "2"], ["x-a", "3"]);
    expect(await isAnswered(one, headers(["x-b", "2"], ["x-a", "1"], ["X-a", "3"]))).toBe(true);
    expect(await isAnswered(one, headers(["x-b", "2"], ["x-a", "3"], ["x-a", "1"]))).toBe(false);
  });
});

it.each([
  ["redirect", "manual"],
  ["method", "patch"],
] as const)("a request counts with its %s", async (field, value) => {
  const ask = (init: RequestInit): Ask => asking("http://api.test/", init);
  const other = field === "method" ? "PATCH" : "follow";
  expect(await isAnswered(ask({ [field]: value }), ask({ [field]: value }))).toBe(true);
  expect(await isAnswered(ask({ [field]: value }), ask({ [field]: other }))).toBe(false);
});

describe("secrets in a URL", () => {
  const get = (query: string): Ask => asking(`http://kv.test/item?${query}`);

  it.each(["key", "token", "sig", "signature", "api_key", "apiKey", "access-token", "client_secret", "auth"])(
    "count by a digest: %s",
    async (name) => {
      const alpha = get(`a=1&${name}=alpha-value&b=2`);
      expect(await isAnswered(alpha, alpha)).toBe(true);
      expect(await isAnswered(alpha, get(`a=1&${name}=beta-value&b=2`))).toBe(false);
      expect(await isAnswered(alpha, get("a=1&b=2"))).toBe(false);
      const { text } = await record(alpha);
      expect(text).not.toContain("alpha-value");
      expect(text).toMatch(new RegExp(`a=1&${name}=\\[digest:[0-9a-f]{64}\\]&b=2`));
    },
  );

  it("find the answers of their own requests in any order", async () => {
    const { value, snapshot } = await record(() => Promise.all([get("key=alpha")(), get("key=beta")()]));
    expect(await replayed(() => Promise.all([get("key=beta")(), get("key=alpha")()]), snapshot)).toEqual(
      value.toReversed(),
    );
  });

  it("do not count where the key only says who pays, and in signatures", async () => {
    const google = (query: string): Ask => asking(`https://generativelanguage.googleapis.com/v1${query}`);
    expect(await isAnswered(google("?alt=sse&key=one"), google("?alt=sse&key=two"))).toBe(true);
    expect(await isAnswered(google("?key=one"), google(""))).toBe(true);
    expect(await isAnswered(google("?token=one"), google("?token=two"))).toBe(false);
    expect(await isAnswered(get("X-Amz-Date=1&X-Amz-Signature=2&v=3"), get("X-Amz-Date=4&X-Amz-Signature=5&v=3"))).toBe(
      true,
    );
  });

  it("have digests under the key of their recording", async () => {
    const { snapshot, text } = await record(get("token=alpha"));
    const salt = snapshot.recorder?.salt;
    expect(salt).toMatch(/^[0-9a-f]{32}$/);
    expect(text).toContain(
      `[digest:${createHmac("sha256", salt ?? "")
        .update("alpha")
        .digest("hex")}]`,
    );
    expect((await record(get("token=alpha"))).snapshot.recorder?.salt).not.toBe(salt);
    expect((await record(get("q=alpha"))).snapshot.recorder?.salt).toBeUndefined();
  });

  it("are digests in traces too, and replay from them", async () => {
    const trace = collectTrace();
    const value = await runWith(get("token=alpha-value"));
    const events = trace.stop();
    expect(JSON.stringify(events)).not.toContain("alpha-value");
    const snapshot = restoreSnapshot(events);
    expect(await replayed(get("token=alpha-value"), snapshot)).toBe(value);
    await expect(replayed(get("token=beta-value"), snapshot)).rejects.toThrow("no answer");
  });

  it("keep their digest under redaction", async () => {
    const ask = async (): Promise<string[]> => [
      await withHeaders({ cookie: "session=abcdefghijklmnop123456" })(),
      await get("access_token=abcdefghijklmnop123456")(),
    ];
    const options = { enableSnapshot: true, redact: true };
    const { value, text } = await runWith(
      async () => ({ value: await ask(), text: JSON.stringify(dumpSnapshot()) }),
      options,
    );
    expect(text).not.toContain("abcdefghijklmnop");
    expect(text.match(/\[digest:[0-9a-f]{64}\]/g)).toHaveLength(2);
    expect(await replay(ask, { snapshot: parseSnapshot(text), redact: true })).toEqual(value);
    const other = withHeaders({ cookie: "session=other-and-other123456" });
    await expect(replay(other, { snapshot: parseSnapshot(text), redact: true })).rejects.toThrow("no answer");
  });

  it("continue under the key of a resumed recording", async () => {
    const { value, snapshot } = await record(get("token=alpha"));
    const both = async (): Promise<string[]> => [await get("token=alpha")(), await get("token=beta")()];
    const resumed = await runWith(async () => ({ values: await both(), snapshot: dumpSnapshot() }), { snapshot });
    expect(resumed.values[0]).toBe(value);
    expect(resumed.snapshot.recorder).toEqual(snapshot.recorder);
    expect(await replayed(both, resumed.snapshot)).toEqual(resumed.values);
  });
});

describe("bodies", () => {
  it.each([
    ['{"id":154284075601887489}', '{"id":154284075601887490}'],
    ['{"id":12345678901234567890}', '{"id":12345678901234567891}'],
    ['{"n":1e400}', '{"n":2e400}'],
    ['{"n":1e-400}', '{"n":0}'],
    ['{"n":-0}', '{"n":0}'],
    ['{"n":0.1}', '{"n":0.10000000000000000001}'],
    ['{"model":"a","model":"m"}', '{"model":"m"}'],
    ['{"a":{"b":1,"\\u0062":2}}', '{"a":{"b":2}}'],
    ['"text"', "text"],
    [`${"[".repeat(2_000)}1${"]".repeat(2_000)}`, `${"[".repeat(2_000)}2${"]".repeat(2_000)}`],
  ])("of JSON count with what JSON.parse loses: %.40s", async (one, other) => {
    const post = (body: string): Ask => posting(body, "application/json");
    expect(await isAnswered(post(one), post(one))).toBe(true);
    expect(await isAnswered(post(one), post(other))).toBe(false);
    expect(await isAnswered(post(other), post(one))).toBe(false);
  });

  it.each([
    ['{"a":1,"b":[1e2,0.5]}', ' {"b": [100.0, 5e-1],\n"a":1.0}'],
    ['{"id":12345678901234567000}', '{"id":12345678901234567000.0}'],
    ['{"a":"\\u00e9/"}', '{"a":"é\\/"}'],
    ['{"2":0,"1":0}', '{"1":0,"2":0}'],
  ])("of JSON count by content: %s", async (one, other) => {
    const post = (body: string): Ask => posting(body, "application/json");
    expect(await isAnswered(post(one), post(other))).toBe(true);
    expect(await isAnswered(post(other), post(one))).toBe(true);
    expect(await isAnswered(post(one), posting(Buffer.from(other), "application/json"))).toBe(true);
  });

  it("of URL parameters have digests in place of secrets", async () => {
    const post = (secret: string): Ask => posting(new URLSearchParams({ grant: "x y", client_secret: secret }));
    expect(await isAnswered(post("alpha-value"), post("alpha-value"))).toBe(true);
    expect(await isAnswered(post("alpha-value"), post("beta-value"))).toBe(false);
    expect((await record(post("alpha-value"))).text).not.toContain("alpha-value");
  });

  const form = (change: { name?: string; file?: string; type?: string; bytes?: Uint8Array; field?: string }) => {
    const {
      name = "file",
      file = "ä.png",
      type = "image/png",
      bytes = Uint8Array.of(255, 13, 10, 45, 45, 0),
      field = "1",
    } = change;
    return (): FormData => {
      const data = new FormData();
      data.append("field", field);
      data.append(name, new Blob([bytes as Uint8Array<ArrayBuffer>], { type }), file);
      return data;
    };
  };
  it.each([{ name: "other" }, { file: "b.png" }, { type: "image/gif" }, { bytes: Uint8Array.of(1) }, { field: "2" }])(
    "of forms count by their fields and files: %j",
    async (change) => {
      expect(await isAnswered(posting(form({})()), posting(form({})()))).toBe(true);
      expect(await isAnswered(posting(form({})()), posting(form(change)()))).toBe(false);
    },
  );

  it("of forms of another implementation count by their content", async () => {
    class OtherForm {
      readonly #form: FormData;
      readonly [Symbol.toStringTag] = "FormData";

      constructor(made: FormData) {
        this.#form = made;
      }

      [Symbol.iterator](): ReturnType<FormData["entries"]> {
        return this.#form.entries();
      }
    }
    const post = (field: string): Ask => posting(new OtherForm(form({ field })()) as never);
    expect(await isAnswered(post("1"), post("1"))).toBe(true);
    expect(await isAnswered(post("1"), post("2"))).toBe(false);
  });

  it("that are not text differ by each byte", async () => {
    const post = (...bytes: number[]): Ask =>
      posting(
        Buffer.concat([
          Buffer.from('--b\r\ncontent-disposition: form-data; name="a"\r\n\r\n'),
          Buffer.from(bytes),
          Buffer.from("\r\n--b--\r\n"),
        ]),
        "multipart/form-data; boundary=b",
      );
    expect(await isAnswered(post(0xff), post(0xff))).toBe(true);
    expect(await isAnswered(post(0xff), post(0xfe))).toBe(false);
  });
});

describe("recordings without replay flag 7", () => {
  const old = (snapshot: AgentSnapshot): AgentSnapshot => {
    const flags = snapshot.recorder?.flags.filter((flag) => flag !== 7) ?? [];
    return parseSnapshot(JSON.stringify({ ...snapshot, recorder: { ...snapshot.recorder, flags } }));
  };
  /** A recording by the older rule, with its own answer. */
  const recordOld = async (ask: Ask): Promise<{ value: string; snapshot: AgentSnapshot }> => {
    const { snapshot: empty } = await record(async () => "");
    return runWith(async () => ({ value: await ask(), snapshot: dumpSnapshot() }), { snapshot: old(empty) });
  };
  const reportOf = async (ask: Ask, snapshot: AgentSnapshot): Promise<{ value: string; report: ReplayReport }> => {
    let report!: ReplayReport;
    const value = await replay(ask, { snapshot, onReport: (given) => (report = given) });
    return { value, report };
  };
  const json = { "content-type": "application/json" };
  const REQUESTS: [string, string, RequestInit][] = [
    ["text", "http://api.test/?key=1&b=2", { method: "POST", body: "text", headers: { accept: "text/plain" } }],
    ["JSON", "http://api.test/", { method: "POST", body: '{"a":[1,{"b":null}]}', headers: json }],
    ["bytes", "http://api.test/", { method: "PUT", body: Uint8Array.of(255, 1) }],
    ["parameters", "http://api.test/", { method: "POST", body: new URLSearchParams({ a: "1" }) }],
  ];

  it.each(REQUESTS)("have the older document: %s", async (_name, url, init) => {
    const { value, snapshot } = await recordOld(asking(url, init));
    expect(snapshot.recorder?.flags).not.toContain(7);
    expect(await replayed(asking(url, init), snapshot)).toBe(value);
    const other = asking(url, { ...init, headers: { ...json, accept: "other" } });
    await expect(replayed(other, snapshot)).rejects.toThrow("no answer");
  });

  it("answer whatever the headers, and the report names what was not compared", async () => {
    const ask = (range: string, token: string): Ask =>
      asking(`http://api.test/?token=${token}`, { headers: { range } });
    const { value, snapshot } = await recordOld(ask("bytes=0-9", "a"));
    const { value: answered, report } = await reportOf(ask("bytes=10-19", "b"), snapshot);
    expect(answered).toBe(value);
    expect(report.inexact).toEqual([
      {
        callId: "root/fetch:api.test:0",
        reason: "recorded without replay flag 7, so not compared: the header range, secrets in the URL",
      },
    ]);
    const { snapshot: now } = await record(ask("bytes=0-9", "a"));
    expect((await reportOf(ask("bytes=0-9", "a"), now)).report.inexact).toEqual([]);
  });
});

describe("the document", () => {
  it("is the same by fetch, node:http, HTTP/2 and a proxy", async () => {
    const body = JSON.stringify({ model: "m", messages: [{ role: "user", content: "héllo" }] });
    const headers = {
      "Content-Type": "application/json",
      "X-Feature": "a, b",
      Authorization: "Bearer key-1",
      cookie: "a=1; b=2",
    };
    const documents: string[] = [];
    const textOf = (request: HttpRequest): string => request.text((secret) => `hash of ${secret}`);
    const note = (message: IncomingMessage, list: readonly string[], url: string, bytes: Buffer): void => {
      const pairs = list.flatMap((name, index): [string, string][] =>
        index % 2 === 0 ? [[name, list[index + 1] ?? ""]] : [],
      );
      documents.push(textOf(new HttpRequest({ method: message.method ?? "", url, headers: pairs, body: bytes })));
    };
    const receive = async (message: IncomingMessage, url: string): Promise<void> => {
      const chunks: Buffer[] = [];
      for await (const chunk of message) chunks.push(chunk as Buffer);
      note(message, message.rawHeaders, url, Buffer.concat(chunks));
    };
    const listen = async (server: Server): Promise<string> => {
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    };
    const url = "http://api.test/v1/chat?x=1";
    const plain = createServer((message, response) => void receive(message, url).then(() => response.end("ok")));
    const second = createHttp2Server((message, response) => {
      void receive(message as never, url).then(() => response.end("ok"));
    });
    const [base, base2] = [await listen(plain), await listen(second as never)];
    try {
      documents.push(textOf(new HttpRequest({ method: "POST", url, headers: Object.entries(headers), body })));
      await (await fetch(base, { method: "POST", headers, body })).text();
      await new Promise<void>((resolve, reject) => {
        const sent = httpRequest(base, { method: "POST", headers: { ...headers, accept: ["*/*"], TE: "trailers" } });
        sent.on("response", (response) => response.resume().on("end", resolve)).on("error", reject);
        sent.end(body);
      });
      await new Promise<void>((resolve, reject) => {
        // As through a proxy: an absolute path, and the headers that proxies add.
        const added = { Via: "1.1 proxy", "X-Forwarded-For": "10.0.0.1", "Proxy-Connection": "keep-alive" };
        const sent = httpRequest(base, { method: "POST", path: url, headers: { ...headers, ...added } });
        sent.on("response", (response) => response.resume().on("end", resolve)).on("error", reject);
        sent.end(body);
      });
      const client = connectHttp2(base2);
      await new Promise<void>((resolve, reject) => {
        const sent = client.request({ ":method": "POST", ":path": "/v1/chat?x=1", ...headers, cookie: ["a=1", "b=2"] });
        sent.on("error", reject).on("end", resolve).resume().end(body);
      });
      client.close();
    } finally {
      plain.close();
      second.close();
    }
    expect(documents).toHaveLength(5);
    expect(new Set(documents)).toEqual(
      new Set([
        `{"method":"POST","url":"${url}","headers":{"content-type":"application/json","cookie":"[digest:hash of a=1; b=2]","x-feature":"a, b"},"body":${body}}`,
      ]),
    );
  });

  it("leaves out what the documentation lists", () => {
    const page = readFileSync(new URL("../../docs/fetch.md", import.meta.url), "utf8");
    const listed = (start: string, end: string): string[] =>
      Array.from(
        page.slice(page.indexOf(start), page.indexOf(end, page.indexOf(start))).matchAll(/`([^`]+)`/g),
        ([, part = ""]) => part,
      );
    const table = listed("| versions and machines |", "| values that a layer adds |");
    expect(table).toEqual(VOLATILE_PARTS.headers);
    const values = Object.entries(VOLATILE_PARTS.defaults).flatMap(([name, list]) =>
      list.map((value) => (value === "" ? name : `${name}: ${value}`)),
    );
    expect(listed("| values that a layer adds |", "| URL parameters |")).toEqual(values);
    expect(listed("| URL parameters |", "\n\n")).toEqual(VOLATILE_PARTS.parameters);
    const credentials = [...VOLATILE_PARTS.credentials, "key", ...VOLATILE_PARTS.keyHosts, "credentials: true"];
    expect(listed("| credentials that only say who pays", "\n")).toEqual(credentials);
  });
});
