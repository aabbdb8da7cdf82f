// Which requests a wrapped fetch records: not telemetry, and what `only` and `ignore` say.
import { resume } from "agent-rewind";
import { rewindFetch, type RewindFetchOptions } from "agent-rewind/fetch";
import { createRequire } from "node:module";
import { describe, expect, it } from "vitest";

import { isTelemetry } from "../../ts/urls/telemetry.js";
import { json, modelServer, type ModelServer } from "../support/model-server.js";
import { record, replayed } from "../support/recorded.js";

interface LangSmith {
  createRun(run: object): Promise<void>;
  awaitPendingTraceBatches(): Promise<void>;
  readRun(id: string): Promise<{ name: string }>;
}
// A dependency of LangChain. Its types need those of a browser.
const { Client } = createRequire(createRequire(import.meta.url).resolve("langchain"))("langsmith") as {
  Client: new (options: object) => LangSmith;
};

const numbered = () => modelServer((_request, index) => json({ number: index }));
const post = { method: "POST", body: "{}" };

async function numberOf(fetch: typeof globalThis.fetch, url: string, init: RequestInit = post): Promise<number> {
  return ((await (await fetch(url, init)).json()) as { number: number }).number;
}

/** The paths of the recorded requests: those that a resumed run does not send again. */
async function recordedPaths(
  { url, requests }: ModelServer,
  paths: readonly string[],
  options: RewindFetchOptions,
): Promise<string[]> {
  const fetch = rewindFetch(undefined, options);
  const program = async () => {
    for (const path of paths) await numberOf(fetch, url + path);
  };
  const { snapshot } = await record(program);
  const before = requests.length;
  await resume(program, { snapshot });
  const again = new Set(requests.slice(before).map(({ path }) => path));
  return paths.filter((path) => !again.has(path));
}

describe("telemetry", () => {
  it("is sent, but neither recorded nor replayed", async () => {
    await using server = await numbered();
    const fetch = rewindFetch();
    const traces = { ...post, headers: { "openai-beta": "traces=v1" } };
    const exported = { ...post, headers: { "content-type": "application/x-protobuf" } };
    const program = async (batches: number) => {
      const first = await numberOf(fetch, `${server.url}/chat`);
      for (let batch = 0; batch < batches; batch++) {
        await numberOf(fetch, `${server.url}/my/traces`, traces);
        await fetch(new Request(`${server.url}/v1/traces`, exported));
        await numberOf(fetch, `${server.url}/sentry/api/42/envelope/`);
      }
      return [first, await numberOf(fetch, `${server.url}/chat/${first}`)];
    };
    const { value, snapshot } = await record(() => program(1));
    expect(server.requests).toHaveLength(5);
    expect(value).toEqual([0, 4]);
    // Another number of batches changes nothing.
    expect(await replayed(() => program(2), snapshot)).toEqual(value);
  });

  it("of LangSmith's client is recognized among its queries", async () => {
    const id = "0b0a8c3e-8f5e-4d38-9f0e-2a0a4c1de111";
    await using server = await modelServer(({ method, path }, index) =>
      method === "GET" && path.includes("/runs/")
        ? json({ id, name: `run ${index}` })
        : json({ version: "1", batch_ingest_config: { use_multipart_endpoint: true } }),
    );
    const program = async () => {
      const options = { apiUrl: server.url, apiKey: "none", fetchImplementation: rewindFetch() };
      const client = new Client(options);
      const start = { id, trace_id: id, dotted_order: `20260101T000000000000Z${id}`, start_time: 1 };
      await client.createRun({ ...start, name: "chain", run_type: "chain", inputs: { q: 1 } });
      await client.awaitPendingTraceBatches();
      return (await client.readRun(id)).name;
    };
    const { value, snapshot } = await record(program);
    const sent = server.requests.map(({ method, path }) => `${method} ${path}`);
    expect(sent.some((line) => line.startsWith("POST /runs"))).toBe(true);
    const journaled = Object.values(snapshot.root.journal.other?.["fetch"] ?? {}).flat();
    expect(journaled).toHaveLength(1);
    expect(await replayed(program, snapshot)).toBe(value);
  });

  it.each<[boolean, string, string, Record<string, string>?]>([
    [true, "POST", "https://api.openai.com/v1/traces/ingest"],
    [false, "POST", "https://api.openai.com/v1/responses"],
    [true, "POST", "https://o1.ingest.de.sentry.io/api/7/envelope/?sentry_key=k"],
    [false, "GET", "https://sentry.io/api/0/issues/"],
    [true, "POST", "https://us.i.posthog.com/batch/"],
    [true, "POST", "https://us.posthog.com/batch/"],
    [false, "POST", "https://us.i.posthog.com/flags/?v=2"],
    [false, "POST", "https://notposthog.com/batch/"],
    [true, "POST", "http://localhost:4318/v1/traces"],
    [true, "POST", "https://otlp.example.com/otlp/v1/metrics", { "user-agent": "OTel-OTLP-Exporter-JavaScript/0.2" }],
    [false, "POST", "https://api.example.com/v1/logs", { "content-type": "application/json" }],
    [true, "POST", "http://collector:4317/opentelemetry.proto.collector.trace.v1.TraceService/Export"],
    [
      true,
      "PATCH",
      "https://api.smith.langchain.com/runs/0b0a8c3e-8f5e-4d38-9f0e-2a0a4c1de111",
      { "user-agent": "langsmith-js/0.12.0" },
    ],
    [false, "POST", "https://api.smith.langchain.com/runs/query", { "user-agent": "langsmith-js/0.12.0" }],
    [true, "POST", "https://cloud.langfuse.com/api/public/ingestion"],
    [true, "POST", "https://llmobs-intake.datadoghq.com/api/v2/llmobs"],
    [false, "POST", "https://api.datadoghq.com/api/v1/query"],
  ])("%s: %s %s", (expected, method, url, headers = {}) => {
    expect(isTelemetry({ url: new URL(url), method, header: (name) => headers[name] })).toBe(expected);
  });
});

describe("options.only and options.ignore", () => {
  it("take hosts, ports, paths and regular expressions", async () => {
    await using server = await numbered();
    const host = server.url.replace("http://", "");
    const [chat, embeddings, search] = ["/v1/chat", "/v1/embeddings?x=1", "/search"] as const;
    const paths = (options: RewindFetchOptions) => recordedPaths(server, [chat, embeddings, search], options);
    expect(await paths({})).toEqual([chat, embeddings, search]);
    expect(await paths({ only: [`${host}/v1/*`] })).toEqual([chat, embeddings]);
    expect(await paths({ only: ["127.0.0.1"], ignore: [/embed/g] })).toEqual([chat, search]);
    expect(await paths({ only: ["*.0.0.1/*?x=1", "http://127.*/search"] })).toEqual([embeddings, search]);
    expect(await paths({ only: ["127.0.0.1:1", "https://127.0.0.1", "0.0.1", "127.0.0.1/v"] })).toEqual([]);
    expect(await paths({ ignore: [host] })).toEqual([]);
  });

  it("leave the other requests to the program, on resume too", async () => {
    await using server = await numbered();
    const fetch = rewindFetch(undefined, { ignore: ["*/live"] });
    const program = async () => [
      await numberOf(fetch, `${server.url}/kept`),
      await numberOf(fetch, new URL("/live", server.url).href),
    ];
    const { value, snapshot } = await record(program);
    expect(value).toEqual([0, 1]);
    expect(await resume(program, { snapshot })).toEqual([0, 2]);
  });

  it("must be patterns", () => {
    const made = (options: object) => () => rewindFetch(undefined, options);
    expect(made({ only: [] })).toThrow("rewindFetch: options.only must be a list of at least one URL pattern");
    expect(made({ ignore: "api.openai.com" })).toThrow(
      new TypeError("rewindFetch: options.ignore must be a list of at least one URL pattern, received string"),
    );
    expect(made({ ignore: ["a.com", "b c"] })).toThrow(
      'rewindFetch: options.ignore[1] must be a RegExp or a pattern such as "api.example.com/v1/*", received "b c"',
    );
    expect(made({ only: [7] })).toThrow("received number");
  });
});
