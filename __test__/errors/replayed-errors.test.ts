import { readFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { inspect } from "node:util";
import vm from "node:vm";
import OpenAI from "openai";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";

import { dumpSnapshot, forkSnapshot, restoreSnapshot } from "../../ts/debugger.js";
import {
  createAgent,
  createEventBus,
  isReplayMissError,
  journalCall,
  ModelCallError,
  promptAgent,
  replay,
  resume,
  runFrame,
  runWith,
} from "../../ts/index.js";
import { createOpenAIModel, OpenAIModelError } from "../../ts/openai/index.js";
import { fromErrorInfo } from "../../ts/values/error-info.js";
import type { AgentSnapshot, ErrorClass, ReplayReport, TraceEvent } from "../../ts/index.js";

let warn: ReturnType<typeof vi.spyOn>;
beforeEach(() => {
  warn = vi.spyOn(console, "warn").mockImplementation(() => {});
});
afterEach(() => warn.mockRestore());

interface Recorded {
  dump: AgentSnapshot;
  restored: AgentSnapshot;
  events: TraceEvent[];
}

/** A program that catches what its call throws, and returns what `look` sees of it. */
function program<T>(fail: () => unknown, look: (error: any) => T, errors?: readonly ErrorClass[]): () => Promise<T> {
  return async () => {
    try {
      await journalCall({ kind: "job", name: "it", request: {}, ...(errors && { errors }) }, fail);
    } catch (error) {
      return look(error);
    }
    throw new Error("the call did not fail");
  };
}

/** Records the program, and returns what it saw together with the snapshots of both ways. */
async function record<T>(run: () => Promise<T>): Promise<Recorded & { seen: T }> {
  const events: TraceEvent[] = [];
  const eventBus = createEventBus();
  eventBus.subscribe("*", (event) => void events.push(structuredClone(event)));
  let dump: AgentSnapshot | undefined;
  const body = async (): Promise<T> => {
    const seen = await run();
    dump = dumpSnapshot();
    return seen;
  };
  const seen = await runWith(body, { enableSnapshot: true, eventBus });
  return { seen, dump: dump as AgentSnapshot, restored: restoreSnapshot(events), events };
}

/** Asserts that a replay from the dump and from the trace sees the same, and returns the report. */
async function expectSame(
  fail: () => unknown,
  look: (error: any) => unknown,
  errors: readonly ErrorClass[] = [],
): Promise<ReplayReport> {
  const run = program(fail, look);
  const { seen, dump, restored } = await record(run);
  let report: ReplayReport | undefined;
  for (const snapshot of [dump, restored]) {
    const again = await replay(run, { snapshot, errors, onReport: (given) => void (report = given) });
    expect(again).toStrictEqual(seen);
  }
  return report as ReplayReport;
}

/** Asserts that the replayed error lacks nothing, and has the same own members. */
async function expectExact(
  fail: () => unknown,
  look: (error: any) => unknown,
  errors: readonly ErrorClass[] = [],
): Promise<void> {
  const whole = (error: any): unknown => [
    look(error),
    String(error),
    Reflect.ownKeys(error as object)
      .filter((key) => error[key] !== undefined && key !== "stack" && key !== "toString")
      .map(String)
      .toSorted(),
    Object.keys(error as object)
      .filter((key) => error[key] !== undefined && key !== "name")
      .toSorted(),
    error.stack,
  ];
  const report = await expectSame(fail, whole, errors);
  expect(report.incompleteErrors).toEqual([]);
}

class ShopError extends Error {
  override name = "ShopError";
  readonly shop = "corner";
  get isTemporary(): boolean {
    return false;
  }
}
class OutOfStock extends ShopError {
  constructor(readonly item: string) {
    if (item === undefined) throw new Error("the constructor must not run on replay");
    super(`no ${item} left`);
  }
  override get isTemporary(): boolean {
    return true;
  }
}
class SoldOut extends OutOfStock {}

const named = (made: ErrorClass, name: string): ErrorClass => Object.defineProperty(made, "name", { value: name });

const raise = (error: unknown) => (): never => {
  throw error;
};

describe("errors of the platform come back as themselves without being named", () => {
  it("a DOMException of an aborted signal", () =>
    expectExact(
      () => {
        const controller = new AbortController();
        controller.abort();
        controller.signal.throwIfAborted();
      },
      (error) => [
        error instanceof DOMException,
        error.name,
        error.code,
        error.message,
        error.code === DOMException.ABORT_ERR,
      ],
    ));

  it("a DOMException of a timeout, of structuredClone, and one with a cause", async () => {
    const look = (error: any) => [error instanceof DOMException, error.name, error.code, inspect(error.cause)];
    await expectExact(raise(new DOMException("too late", "TimeoutError")), look);
    await expectExact(() => structuredClone(() => 1), look);
    await expectExact(raise(new DOMException("a", { name: "DataError", cause: { at: new Date(0) } })), look);
  });

  it("system errors of the file system", () =>
    expectExact(
      () => readFile("/no/such/file"),
      ({ code, errno, syscall, path }) => ({ code, errno, syscall, path }),
    ));

  it("errors of Node with codes, which have prototypes of their own", () =>
    expectExact(
      () => Buffer.from(5 as never),
      (error) => [error instanceof TypeError, error.code, error.name],
    ));

  it("an AggregateError, one by one, with their causes", () =>
    expectExact(
      () =>
        Promise.any([
          Promise.reject(new RangeError("a", { cause: new DOMException("b", "AbortError") })),
          Promise.reject(Object.assign(new AggregateError([7, new TypeError("c")], "d"), { code: "E" })),
        ]),
      ({ errors }) => [
        errors[0] instanceof RangeError,
        errors[0].cause instanceof DOMException,
        errors[0].cause.code,
        errors[1] instanceof AggregateError,
        errors[1].code,
        errors[1].errors[0],
        errors[1].errors[1] instanceof TypeError,
      ],
    ));

  it("an error of another realm", () =>
    expectExact(raise(vm.runInNewContext("new RangeError('far')")), (error) => [error.name, error.message]));

  it("a frozen error", () =>
    expectExact(raise(Object.freeze(Object.assign(new Error("cold"), { code: 5 }))), (error) => error.code));
});

describe("members of errors", () => {
  it("keep their types", () =>
    expectExact(
      raise(
        Object.assign(new Error("typed"), {
          at: new Date(5),
          seen: new Map([["a", new Set([1])]]),
          bytes: new Uint8Array([1, 2]),
          big: 10n,
          nothing: null,
          url: new URL("https://host/p"),
        }),
      ),
      ({ at, seen, bytes, big, nothing, url }) => ({ at, seen, bytes, big, nothing, url }),
    ));

  it("keep Headers by their entries, without credentials", async () => {
    const headers = new Headers({ "Retry-After": "7", authorization: "Bearer abc", "x-request-id": "r" });
    headers.append("set-cookie", "session=1");
    const fail = raise(Object.assign(new Error("429"), { headers }));
    await expectSame(fail, (error) => [
      error.headers instanceof Headers,
      error.headers.get("retry-after"),
      error.headers.get("X-Request-Id"),
    ]);
    const { dump } = await record(program(fail, () => 0));
    expect(JSON.stringify(dump)).not.toMatch(/Bearer|session=/);
  });

  it("keep a Response without its body, which fails instead of being empty", async () => {
    const response = new Response("gone", { status: 410, statusText: "Gone", headers: { etag: "e" } });
    const fail = raise(Object.assign(new Error("http"), { response }));
    const report = await expectSame(fail, ({ response: { status, statusText, ok, headers, bodyUsed } }) => [
      status,
      statusText,
      ok,
      headers.get("etag"),
      bodyUsed,
    ]);
    expect(report.incompleteErrors).toEqual([
      { callId: "root/job:it:0", name: "Error", lost: ["/response/body: the body of a Response"] },
    ]);
    const { dump } = await record(program(fail, () => 0));
    const reading = program(fail, (error) => error.response.text() as Promise<string>);
    await expect(replay(reading, { snapshot: dump })).rejects.toThrow("not recorded");
  });

  it("keep errors inside of them", () => {
    const inner = new RangeError("inner", { cause: new TypeError("deep") });
    return expectSame(
      raise(Object.assign(new Error("outer"), { lastError: inner, tries: [{ error: inner }, { error: "text" }] })),
      ({ lastError, tries }) => [
        lastError instanceof RangeError,
        lastError.cause instanceof TypeError,
        tries[0].error instanceof RangeError,
        tries[1].error,
      ],
    );
  });

  it("are kept one by one beside those that cannot be kept", async () => {
    class Socket {
      readonly handle = (): number => 1;
    }
    const fail = raise(
      Object.assign(new Error("http"), {
        socket: new Socket(),
        response: {
          status: 503,
          data: { reason: "busy" },
          retry: () => 1,
          list: [1, Symbol("s"), { deep: [2, () => 3] }],
        },
        config: { auth: { password: "secret" }, adapter: () => 1 },
      }),
    );
    const report = await expectSame(fail, ({ response: { status, data, list } }) => [
      status,
      data,
      list[0],
      list[2].deep[0],
    ]);
    expect(report.incompleteErrors).toEqual([
      {
        callId: "root/job:it:0",
        name: "Error",
        lost: [
          "/socket: instance of Socket",
          "/response/retry: function",
          "/response/list/1: symbol",
          "/response/list/2/deep/1: function",
          "/config: /adapter: function",
        ],
      },
    ]);
    const { dump } = await record(program(fail, () => 0));
    expect(JSON.stringify(dump)).not.toContain("secret");
    const absent = program(fail, ({ response, socket }) => ["retry" in response, response.list[1], socket]);
    expect(await replay(absent, { snapshot: dump })).toEqual([false, undefined, undefined]);
  });

  it("keep the members of an instance that has only data, and say that its class is missing", async () => {
    class ResponseHeaders {
      "retry-after" = "7";
      "set-cookie" = "session=1";
    }
    const response = { status: 429, headers: new ResponseHeaders(), request: { headers: new ResponseHeaders() } };
    const fail = raise(Object.assign(new Error("http"), { response }));
    const report = await expectSame(fail, (error) => [error.response.status, error.response.headers["retry-after"]]);
    expect(report.incompleteErrors[0]?.lost).toEqual([
      "/response/headers: instance of ResponseHeaders (came back as Object)",
      "/response/request: /headers: instance of ResponseHeaders",
    ]);
    const { dump } = await record(program(fail, () => 0));
    expect(JSON.stringify(dump)).not.toContain("session=1");
  });

  it("are marked where an array or an object has more than JSON keeps", async () => {
    const match = Object.assign(["a"], { index: 3 });
    const holder = { code: 5, [Symbol("mine")]: 1, fn: () => 1 };
    const fail = raise(Object.assign(new Error("x"), { match, holder, all: [holder, 1] }));
    const report = await expectSame(fail, (error) => [error.holder.code, error.all[0].code, error.all[1]]);
    expect(report.incompleteErrors[0]?.lost).toEqual([
      '/match: array with the property "index" in addition to its elements',
      "/holder/fn: function",
      "/holder/Symbol(mine): a member with a symbol as its name",
      "/all/0/fn: function",
      "/all/0/Symbol(mine): a member with a symbol as its name",
    ]);
  });

  it("are marked if they are too large or too many", async () => {
    const fail = raise(
      Object.assign(new Error("large"), {
        body: "x".repeat(20_000),
        handlers: Array.from({ length: 1_000 }, () => () => 1),
        code: 5,
      }),
    );
    const report = await expectSame(fail, ({ code }) => code);
    expect(report.incompleteErrors[0]?.lost).toEqual([
      "/body: longer than 16384 characters",
      "/handlers: more than 32 parts cannot be recorded",
    ]);
  });

  it("keep those that are not enumerable, and registered symbols", () => {
    const key = Symbol.for("agent-rewind.test.marker");
    const fail = raise(Object.defineProperty(Object.assign(new Error("x"), { [key]: true }), "issues", { value: [1] }));
    return expectExact(fail, (error) => [error.issues, error[key]]);
  });

  it("mark symbols that another process does not have", async () => {
    const key = Symbol("mine");
    const report = await expectSame(raise(Object.assign(new Error("x"), { [key]: 1 })), ({ message }) => message);
    expect(report.incompleteErrors[0]?.lost).toEqual(["/Symbol(mine): a member with a symbol as its name"]);
  });

  it("keep the issues of a ZodError, by which zod recognizes it", async () => {
    const schema = z.object({ age: z.number(), tags: z.array(z.string()) });
    const report = await expectSame(
      () => schema.parse({ age: "x", tags: [1] }),
      (error) => [
        error.name,
        error.issues,
        error.message,
        error instanceof z.ZodError,
        z.flattenError(error as z.ZodError),
      ],
    );
    // zod exports no class that has the methods of its errors.
    expect(report.incompleteErrors[0]?.lost[0]).toContain("the class ZodError (came back as Error");
  });

  it("end at 16 causes, and say so", async () => {
    let error = new Error("0");
    for (let level = 1; level <= 20; level++) error = new Error(String(level), { cause: error });
    const report = await expectSame(raise(error), ({ message }) => message);
    expect(report.incompleteErrors[0]?.lost[0]).toMatch(/^(?:\/cause){17}: part of the error itself, deeper than 16/);
  });
});

describe("the option errors", () => {
  const branch = (error: any): unknown => [
    error instanceof SoldOut,
    error instanceof OutOfStock,
    error instanceof ShopError,
    error instanceof Error,
    error.isTemporary,
    error.item,
    error.shop,
    error.name,
    error.constructor.name,
  ];

  it("brings own classes back, without their constructors", () =>
    expectExact(raise(new OutOfStock("tea")), branch, [OutOfStock, SoldOut, ShopError]));

  it("of a call brings them back too, before those of the run", async () => {
    const Other = named(class extends ShopError {}, "OutOfStock");
    const run = program(raise(new OutOfStock("tea")), branch, [OutOfStock]);
    const { seen, dump } = await record(run);
    expect(await replay(run, { snapshot: dump, errors: [Other] })).toEqual(seen);
  });

  it("finds causes and inner errors", () =>
    expectExact(
      raise(new AggregateError([new OutOfStock("tea")], "all", { cause: new SoldOut("milk") })),
      ({ errors, cause }) => [branch(errors[0]), branch(cause)],
      [OutOfStock, SoldOut],
    ));

  it("finds classes of errors that are not Errors", () => {
    class Refused {
      constructor(readonly code: number) {}
      isFinal(): boolean {
        return this.code > 5;
      }
    }
    return expectExact(
      raise(new Refused(7)),
      (error) => [error instanceof Refused, error.isFinal(), error instanceof Error],
      [Refused],
    );
  });

  it("returns the nearest class that is named, and reports it", async () => {
    const run = program(raise(new SoldOut("tea")), branch);
    const { dump } = await record(run);
    const reports: ReplayReport[] = [];
    const options = { snapshot: dump, onReport: (report: ReplayReport) => void reports.push(report) };
    expect(await replay(run, { ...options, errors: [OutOfStock] })).toEqual([
      false,
      true,
      true,
      true,
      true,
      "tea",
      "corner",
      "ShopError",
      "OutOfStock",
    ]);
    expect(await replay(run, options)).toEqual([
      false,
      false,
      false,
      true,
      undefined,
      "tea",
      "corner",
      "ShopError",
      "Error",
    ]);
    expect(reports.map(({ incompleteErrors }) => incompleteErrors[0])).toEqual([
      {
        callId: "root/job:it:0",
        name: "SoldOut",
        lost: ["the class SoldOut (came back as OutOfStock: it is not in `errors`)"],
      },
      {
        callId: "root/job:it:0",
        name: "SoldOut",
        lost: ["the class SoldOut (came back as Error: it is not in `errors`)"],
      },
    ]);
  });

  it("does not take a class with the same name and other ancestors, nor choose between two", async () => {
    const Foreign = named(class extends Error {}, "OutOfStock");
    const Twin = named(class extends ShopError {}, "OutOfStock");
    const run = program(raise(new OutOfStock("tea")), branch);
    const { dump } = await record(run);
    expect((await replay(run, { snapshot: dump, errors: [Foreign] })) as unknown[]).toContain("Error");
    let report: ReplayReport | undefined;
    const onReport = (given: ReplayReport): void => void (report = given);
    await replay(run, { snapshot: dump, errors: [OutOfStock, Twin], onReport });
    expect(report?.incompleteErrors[0]?.lost[0]).toContain("`errors` names several such classes");
  });

  it("does not take a class of JavaScript for one of the program with its name", async () => {
    const OwnEvalError = named(class extends Error {}, "EvalError");
    const look = (error: any): unknown => [error instanceof EvalError, error instanceof OwnEvalError];
    const fail = (): never => {
      throw Reflect.construct(OwnEvalError as new () => object, ["x"]);
    };
    await expectExact(fail, look, [OwnEvalError]);
    const { dump } = await record(program(fail, look));
    expect(await replay(program(fail, look), { snapshot: dump })).toEqual([false, false]);
  });

  it("is not needed for what the fetch of Node throws", async () => {
    const fail = async (): Promise<never> => {
      const server = createServer((request) => request.socket.destroy());
      await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
      try {
        return (await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)) as never;
      } finally {
        server.close();
      }
    };
    const report = await expectSame(fail, ({ name, message, cause }) => [name, message, cause.code, cause.message]);
    expect(report.incompleteErrors).toEqual([]);
  });

  it("brings a failure back that a fork puts in", async () => {
    const run = program(() => 1, branch);
    const good = await record(() => run().catch(() => "no failure"));
    const snapshot = forkSnapshot(good.dump, [{ at: "root/job:it:0", error: new OutOfStock("tea") }]);
    expect(await replay(run, { snapshot, errors: [OutOfStock] })).toContain("OutOfStock");
  });

  it("reports private members, which nothing can copy", async () => {
    class Vault extends Error {
      readonly #pin = 7;
      pin(): number {
        return this.#pin;
      }
    }
    const report = await expectSame(raise(new Vault("locked")), (error) => error instanceof Vault, [Vault]);
    expect(report.incompleteErrors[0]?.lost).toEqual(["/#: private members of the class Vault"]);
    expect(String(warn.mock.calls[0])).toContain("private members of the class Vault");
  });

  it("refuses what is not a class", async () => {
    await expect(runWith(() => 1, { errors: OutOfStock as never })).rejects.toThrow(
      "runWith: options.errors must be an array",
    );
    await expect(runWith(() => 1, { errors: [OutOfStock, "x"] as never })).rejects.toThrow(
      'runWith: options.errors[1] must be a class, received "x"',
    );
    const call = runWith(() => journalCall({ kind: "a", name: "b", request: 1, errors: [() => 1] as never }, () => 1));
    await expect(call).rejects.toThrow("journalCall: call.errors[0] must be a class, received function");
  });

  it("stays right through a chain of resumes without it", async () => {
    const run = program(raise(new OutOfStock("tea")), branch);
    const first = await record(run);
    const events: TraceEvent[] = [];
    const eventBus = createEventBus();
    eventBus.subscribe("*", (event) => void events.push(structuredClone(event)));
    let dump: AgentSnapshot | undefined;
    const body = async (): Promise<void> => {
      await run();
      dump = dumpSnapshot();
    };
    await resume(body, { snapshot: first.dump, enableSnapshot: true, eventBus });
    for (const snapshot of [dump as AgentSnapshot, restoreSnapshot(events)]) {
      expect(await replay(run, { snapshot, errors: [OutOfStock] })).toEqual(first.seen);
    }
  });

  it("warns once per class and place", async () => {
    const run = async (): Promise<void> => {
      for (const id of [1, 2]) {
        await journalCall(
          { kind: "job", name: "it", request: { id } },
          raise(new (class OnceOnly extends Error {})("x")),
        ).catch(() => 0);
      }
    };
    const { dump } = await record(run);
    expect(warn).not.toHaveBeenCalled();
    await replay(run, { snapshot: dump });
    expect(warn.mock.calls.map(String)).toEqual([expect.stringContaining("(OnceOnly) lacks")]);
  });
});

describe("thrown values that are not errors", () => {
  class Custom {
    constructor(readonly message: string) {}
    readonly retry = (): number => 1;
  }
  it("keep what can be kept", async () => {
    const report = await expectSame(raise(new Custom("disk full")), (error) => error.message);
    expect(report.incompleteErrors[0]?.lost).toEqual([
      "the class Custom (came back as Object: it is not in `errors`)",
      "/retry: function",
    ]);
    await expectSame(raise({ code: 5, fix: () => 1, list: [1, () => 2] }), (error) => [error.code, error.list[0]]);
    await expectSame(raise([1, () => 2]), (error) => [Array.isArray(error), error[0], error.length]);
    await expectExact(raise({ code: 5, at: new Date(1) }), ({ code, at }) => [code, at]);
    await expectSame(raise(new Response(null, { status: 404 })), (error) => [error instanceof Response, error.status]);
  });

  it.each([
    ["a function", () => 1],
    ["a symbol", Symbol("stop")],
    ["a promise", Promise.resolve(1)],
    ["a Map with a function", new Map([["a", () => 1]])],
  ])("are a miss later if nothing of them can be kept: %s", async (_what, thrown) => {
    const run = program(raise(thrown), (error) => (error === thrown ? "the same" : error.name));
    const { seen, dump, restored } = await record(run);
    expect(seen).toBe("the same");
    expect(warn.mock.calls.length).toBeLessThanOrEqual(1);
    for (const snapshot of [dump, restored]) {
      expect(await resume(run, { snapshot })).toBe("the same");
      const error = await replay(run, { snapshot }).catch((miss: unknown) => miss);
      expect(isReplayMissError(error) && error.reason).toBe("tombstone");
    }
  });
});

describe("the errors of a client", () => {
  let server: Server;
  let client: OpenAI;
  beforeAll(async () => {
    server = createServer((_request, response) => {
      response.writeHead(429, {
        "content-type": "application/json",
        "retry-after": "7",
        "set-cookie": "a=secret-cookie",
      });
      response.end('{"error":{"message":"slow down","code":"rate_limit"}}');
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    const { port } = server.address() as AddressInfo;
    client = new OpenAI({ apiKey: "k", baseURL: `http://127.0.0.1:${port}`, maxRetries: 0 });
  });
  afterAll(() => void server.close());

  const look = (error: any): unknown => [
    error instanceof OpenAI.RateLimitError,
    error instanceof OpenAI.APIError,
    error instanceof OpenAI.AuthenticationError,
    error.status,
    error.code,
    error.error,
    error.headers.get("retry-after"),
  ];
  const fail = (): Promise<unknown> => client.chat.completions.create({ model: "m", messages: [] });

  it.each([
    ["by the class", [OpenAI.RateLimitError]],
    ["by the client", [OpenAI]],
  ])("come back as themselves if they are named %s", async (_how, errors) => {
    const report = await expectSame(fail, look, errors as ErrorClass[]);
    expect(report.incompleteErrors).toEqual([]);
  });

  it("come back as the ancestor that is named, without cookies", async () => {
    const run = program(fail, look);
    const { dump } = await record(run);
    expect(JSON.stringify(dump)).not.toContain("secret-cookie");
    const seen = (await replay(run, { snapshot: dump, errors: [OpenAI.APIError] })) as unknown[];
    expect(seen.slice(0, 4)).toEqual([false, true, false, 429]);
  });

  it("come back as themselves from a model with the client", async () => {
    const model = createOpenAIModel({ model: "m", client });
    const agent = createAgent({ id: "a", handler: () => promptAgent(z.string()) });
    const run = (): Promise<unknown> =>
      agent().catch((error: any) => [
        error instanceof ModelCallError,
        error.cause instanceof OpenAIModelError,
        error.cause.status,
        error.cause.cause instanceof OpenAI.RateLimitError,
        error.cause.cause.headers.get("retry-after"),
      ]);
    let dump: AgentSnapshot | undefined;
    const body = async (): Promise<unknown> => {
      const seen = await run();
      dump = dumpSnapshot();
      return seen;
    };
    const seen = await runWith(body, { enableSnapshot: true, model });
    expect(seen).toEqual([true, true, 429, true, "7"]);
    let report: ReplayReport | undefined;
    const onReport = (given: ReplayReport): void => void (report = given);
    expect(await replay(run, { snapshot: dump as AgentSnapshot, model, onReport })).toEqual(seen);
    expect(report?.incompleteErrors).toEqual([]);
  });
});

it("redacts all parts of a recorded failure", async () => {
  // Assembled, so that the repository contains no key.
  const token = ["ghp", "aB3dE5gH7jK9mN1pQ2sT4vW6xZ8yC0fLa1b2"].join("_");
  const inner = Object.assign(new RangeError(`inner ${token}`), { note: token });
  const fail = raise(
    Object.assign(new AggregateError([inner], token, { cause: { token } }), {
      [Symbol.for("agent-rewind.test.token")]: token,
      headers: new Headers({ "x-note": token }),
      response: new Response(null, { status: 500, headers: { "x-note": token } }),
      last: [inner, () => 1],
    }),
  );
  const look = ({ headers, response, last }: any): unknown => [
    headers instanceof Headers,
    response.status,
    last[0] instanceof RangeError,
  ];
  const events: TraceEvent[] = [];
  const eventBus = createEventBus();
  eventBus.subscribe("*", (event) => void events.push(structuredClone(event)));
  const run = program(fail, look);
  let dump: AgentSnapshot | undefined;
  const body = async (): Promise<unknown> => {
    const seen = await run();
    dump = dumpSnapshot();
    return seen;
  };
  expect(await runWith(body, { enableSnapshot: true, redact: true, eventBus })).toEqual([true, 500, true]);
  expect(JSON.stringify(dump)).not.toContain(token);
  expect(JSON.stringify(dump)).toContain("[redacted:github-key");
  expect(JSON.stringify(events)).not.toContain(token);
  for (const snapshot of [dump as AgentSnapshot, restoreSnapshot(events)]) {
    expect(await replay(run, { snapshot, redact: true })).toEqual([true, 500, true]);
  }
});

it("finds the classes of a completed frame that is reused", async () => {
  const frame = (): Promise<unknown> => runFrame({ id: "buyer", input: {} }, raise(new OutOfStock("tea")));
  const run = (): Promise<unknown> => frame().catch((error: any) => [error instanceof OutOfStock, error.item]);
  const { seen, dump } = await record(run);
  const options = { snapshot: dump, completedFrames: "reuse" as const, errors: [OutOfStock] };
  expect(await replay(run, options)).toEqual(seen);
  expect(seen).toEqual([true, "tea"]);
});

it("runs a frame again that ended with something that cannot be thrown again", async () => {
  const stop = Symbol("stop");
  const run = (): Promise<unknown> =>
    runFrame({ id: "stopper", input: {} }, raise(stop)).catch((error: unknown) => error === stop);
  const { dump } = await record(run);
  expect(await replay(run, { snapshot: dump, completedFrames: "reuse" })).toBe(true);
});

it("reads the failures of older recordings as before", () => {
  const info = { name: "RateLimitError", message: "429", details: { status: 429 } };
  const error = fromErrorInfo(info, { classes: [[OpenAI]], onLost: () => expect.unreachable() }) as Error;
  expect(Object.getPrototypeOf(error)).toBe(Error.prototype);
  expect(error).toMatchObject(info.details);
  const aborted = fromErrorInfo({ name: "AbortError", message: "stop" });
  expect(aborted).not.toBeInstanceOf(DOMException);
  expect(fromErrorInfo({ name: "NonError", message: "1", details: { value: 1 } })).toBe(1);
});
