// Responses that arrive incompletely: a truncated response must never pass for an answer.
import type { ServerResponse } from "node:http";
import { createOpenAIModel } from "agent-rewind/openai";
import { describe, expect, it, vi } from "vitest";
import { deferred } from "../support/deferred.js";
import { eventsOf, failureOf } from "./collect.js";
import { delta, finish, fragment, json, sse, startEndpoint, type Handler } from "./endpoint.js";

const CHUNKS = [
  delta({ reasoning_content: "Hm 🤔" }),
  delta({ content: "Grüße" }),
  fragment(0, "a", "f", '{"x":'),
  fragment(0, undefined, "", '"é"}'),
  finish("tool_calls"),
  { choices: [], usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 } },
];
const BYTES = Buffer.from(sse(CHUNKS));
/** Before this text, no finish reason has arrived. */
const FINISHED = Buffer.from(sse(CHUNKS.slice(0, 5))).length - "data: [DONE]\n\n".length;

const EVENT_STREAM = { "content-type": "text/event-stream" };

function model(endpoint: Awaited<ReturnType<typeof startEndpoint>>, stream = true) {
  return createOpenAIModel({ model: "m", client: endpoint.client({ logLevel: "off" }), stream });
}

/** Every position. Only a few calls of one endpoint run at once. */
async function atEvery(last: number, check: (place: number) => Promise<void>): Promise<void> {
  const places = Array.from({ length: last + 1 }, (_, place) => place);
  await Promise.all(
    Array.from({ length: 4 }, async () => {
      for (let place = places.shift(); place !== undefined; place = places.shift()) await check(place);
    }),
  );
}

describe.each([
  // The connection is destroyed: the length of the body was not known, and its end never came.
  ["destroyed", EVENT_STREAM],
  // Without framing, the end of the connection is the end of the body. Nothing shows that it came too early.
  ["closed, where that ends the body", { ...EVENT_STREAM, connection: "close", "transfer-encoding": "identity" }],
])("a connection %s after any byte", (_how, headers) => {
  it("returns a typed error or the complete answer", async () => {
    const endpoint = await startEndpoint((request, response) => {
      response.useChunkedEncodingByDefault = headers === EVENT_STREAM;
      response.writeHead(200, headers);
      response.write(BYTES.subarray(0, Number(request.headers["x-cut"])), () => response.destroy());
    });
    const cutAt = (place: number) =>
      eventsOf(
        createOpenAIModel({
          model: "m",
          client: endpoint.client({ logLevel: "off" }),
          headers: { "x-cut": String(place) },
        }),
      );
    const whole = await wholeAnswer();
    let wholeOnes = 0;
    await atEvery(BYTES.length, async (place) => {
      const outcome = await cutAt(place).catch((error: unknown) => error);
      if (Array.isArray(outcome)) {
        wholeOnes++;
        expect(place).toBeGreaterThanOrEqual(FINISHED);
        // Without the usage chunk, the answer is still complete.
        expect(outcome.filter(({ type }) => type !== "usage")).toEqual(whole.filter(({ type }) => type !== "usage"));
      } else {
        expect(outcome).toMatchObject({
          name: "OpenAIModelError",
          code: expect.stringMatching(/_(?:STREAM|REQUEST)$/),
        });
      }
    });
    if (headers !== EVENT_STREAM) expect(wholeOnes).toBe(BYTES.length - FINISHED + 1);
  }, 120_000);
});

it("returns the same answer for pieces of any size", async () => {
  let cut = 0;
  const endpoint = await startEndpoint(async (_request, response) => {
    response.writeHead(200, EVENT_STREAM);
    await written(response, BYTES.subarray(0, cut));
    response.end(BYTES.subarray(cut));
  });
  const whole = await wholeAnswer();
  for (cut = 1; cut < BYTES.length; cut++) expect(await eventsOf(model(endpoint))).toEqual(whole);
}, 120_000);

it("returns the same answer byte by byte", async () => {
  const endpoint = await startEndpoint(async (_request, response) => {
    response.writeHead(200, EVENT_STREAM);
    for (const byte of BYTES) await written(response, Buffer.from([byte]));
    response.end();
  });
  expect(await eventsOf(model(endpoint))).toEqual(await wholeAnswer());
}, 60_000);

it("returns a typed error for a complete response that is truncated after any byte", async () => {
  const body = Buffer.from(JSON.stringify({ choices: [{ message: { content: "ok" }, finish_reason: "stop" }] }));
  let cut = 0;
  const endpoint = await startEndpoint((_request, response) => {
    response.useChunkedEncodingByDefault = false;
    response.writeHead(200, { "content-type": "application/json", connection: "close" });
    response.write(body.subarray(0, cut), () => response.destroy());
  });
  for (cut = 0; cut < body.length; cut++) {
    for (const stream of [true, false]) {
      const failure = await failureOf(eventsOf(model(endpoint, stream)));
      expect(failure).toMatchObject({ name: "OpenAIModelError", code: "ERR_REWIND_OPENAI_STREAM" });
    }
  }
  expect(await eventsOf(model(endpoint))).toHaveLength(2);
}, 60_000);

const broken = (text: string, headers: Record<string, string> = EVENT_STREAM): Handler => {
  return (_request, response) => response.writeHead(200, headers).end(text);
};
const good = `data: ${JSON.stringify(delta({ content: "Half" }))}\n\n`;

it.each<[string, string, RegExp]>([
  ["not JSON", `${good}data: {"choices":[{\n\n`, /broke off: .*JSON/],
  ["null", `${good}data: null\n\n`, /violates the protocol: null/],
  ["a number", `${good}data: 7\n\n`, /violates the protocol: 7/],
  ["a list", `${good}data: []\n\n`, /violates the protocol: \[\]/],
  ["an invalid list of choices", `${good}data: {"choices":"no"}\n\n`, /violates the protocol: \{"choices":"no"\}/],
  ["an invalid choice", `${good}data: {"choices":[null]}\n\n`, /violates the protocol/],
  ["an invalid tool call", `${good}data: {"choices":[{"delta":{"tool_calls":[7]}}]}\n\n`, /an invalid tool call: 7/],
  ["an error", `${good}data: {"error":{"message":"overloaded","code":"server_error"}}\n\n`, /overloaded/],
  ["an error that is a text", `${good}data: {"error":"overloaded"}\n\n`, /overloaded/],
  ["nothing more, but the end", `${good}data: [DONE]\n\n`, /broke off: it ended without a finish_reason\.$/],
])("returns a typed error with the received part for a chunk that is %s", async (_what, text, message) => {
  const endpoint = await startEndpoint(broken(text));
  expect(await failureOf(eventsOf(model(endpoint)))).toMatchObject({
    name: "OpenAIModelError",
    code: "ERR_REWIND_OPENAI_STREAM",
    message: expect.stringMatching(message),
    partialText: "Half",
    status: 200,
  });
});

it("accepts deltas of unusual forms", async () => {
  const odd = [
    {},
    { choices: null },
    { choices: [{ delta: null }] },
    delta({ content: null, tool_calls: null, reasoning: 7 }),
  ];
  const endpoint = await startEndpoint(broken(sse([...odd, delta({ content: "x" }), finish()])));
  expect(await eventsOf(model(endpoint))).toHaveLength(2);
});

it("reports a web page that arrives instead of a stream", async () => {
  const endpoint = await startEndpoint(broken("<html>Log in</html>", { "content-type": "text/html" }));
  expect(await failureOf(eventsOf(model(endpoint)))).toMatchObject({
    code: "ERR_REWIND_OPENAI_STREAM",
    message: expect.stringContaining('its content type is "text/html"'),
  });
});

it.each([
  [
    "that is JSON",
    json({ error: { message: "too long", code: "context_length_exceeded" } }, 400, { "x-request-id": "r1" }),
    { reason: "context_length_exceeded", requestId: "r1", status: 400, message: expect.stringContaining("too long") },
  ],
  [
    "that is text",
    ((_request, response) => response.writeHead(502).end("<h1>Bad gateway</h1>")) as Handler,
    { status: 502, message: expect.stringContaining("502") },
  ],
  ["that is empty", ((_request, response) => response.writeHead(401).end()) as Handler, { status: 401 }],
])("reads the body %s of an error response", async (_what, handler, expected) => {
  const endpoint = await startEndpoint(handler);
  const failure = await failureOf(eventsOf(model(endpoint)));
  expect(failure).toMatchObject({
    name: "OpenAIModelError",
    code: "ERR_REWIND_OPENAI_REQUEST",
    model: "m",
    ...expected,
  });
  expect(failure["cause"]).toBeInstanceOf(Error);
});

it("reports an endpoint that does not exist", async () => {
  const failure = await failureOf(
    eventsOf(
      createOpenAIModel({
        model: "m",
        maxRetries: 0,
        clientOptions: { baseURL: "http://127.0.0.1:1/v1", apiKey: "k" },
      }),
    ),
  );
  expect(failure).toMatchObject({
    code: "ERR_REWIND_OPENAI_REQUEST",
    status: undefined,
    message: expect.stringMatching(/ECONNREFUSED|fetch failed|bad port/),
  });
});

describe("an abort", () => {
  it("before the call sends nothing", async () => {
    const endpoint = await startEndpoint(broken(good));
    const failure = await failureOf(eventsOf(model(endpoint), { signal: AbortSignal.abort("enough") }));
    expect(failure).toMatchObject({ name: "AbortError", reason: "enough" });
    expect(endpoint.requests).toEqual([]);
  });

  it("ends the call and the connection while the endpoint thinks or streams", async () => {
    for (const text of ["", good]) {
      const arrived = deferred();
      const closed = deferred();
      const endpoint = await startEndpoint((_request, response) => {
        if (text !== "") response.writeHead(200, EVENT_STREAM).write(text);
        response.on("close", closed.resolve);
        arrived.resolve();
      });
      const controller = new AbortController();
      const seen = vi.fn<(event: unknown) => void>();
      const call = (async () => {
        for await (const event of model(endpoint).stream([], { signal: controller.signal })) {
          seen(event);
          controller.abort("enough");
        }
      })();
      if (text === "") void arrived.promise.then(() => controller.abort("enough"));
      expect(await failureOf(call)).toMatchObject({ name: "AbortError", reason: "enough" });
      expect(seen).toHaveBeenCalledTimes(text === "" ? 0 : 1);
      await closed.promise;
    }
  });

  it("by leaving the loop closes the connection", async () => {
    const closed = deferred();
    const endpoint = await startEndpoint((_request, response) => {
      response.writeHead(200, EVENT_STREAM).write(good);
      response.on("close", closed.resolve);
    });
    for await (const event of model(endpoint).stream([])) {
      expect(event).toEqual({ type: "text", content: "Half" });
      break;
    }
    await closed.promise;
  });
});

async function wholeAnswer() {
  const endpoint = await startEndpoint(broken(BYTES.toString()));
  const events = await eventsOf(model(endpoint));
  expect(events.map(({ type }) => type)).toEqual(["reasoning", "text", "tool_call", "tool_call", "usage", "finish"]);
  return events;
}

function written(response: ServerResponse, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve) => response.write(bytes, () => setImmediate(resolve)));
}
