import vm from "node:vm";
import * as otherCopy from "agent-rewind";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import * as errors from "../../ts/errors/index.js";
import { errorInfoText, fromErrorInfo, toErrorInfo } from "../../ts/values/error-info.js";

/** Records an error and restores it from the recording. */
function roundTrip(error: unknown): any {
  return fromErrorInfo(JSON.parse(errorInfoText(error)));
}

class HttpError extends Error {
  override name = "HttpError";
  constructor(
    message: string,
    readonly status: number,
    readonly headers: Record<string, string>,
  ) {
    super(message);
  }
}

describe("toErrorInfo and fromErrorInfo", () => {
  it.each([
    new Error("plain"),
    new Error(""),
    new TypeError("wrong type"),
    new RangeError("upstream 503"),
    new HttpError("not found", 404, { "retry-after": "3" }),
    Object.assign(new Error("nameless"), { name: "" }),
    Object.assign(new Error("coded"), { code: "ECONNRESET", errno: -104, list: [1, { a: null }] }),
    new AggregateError([new TypeError("a"), "b"], "all failed"),
    new DOMException("stop", "AbortError"),
    vm.runInNewContext("new SyntaxError('foreign')") as Error,
    z.string().safeParse(1).error,
  ])("preserve name, message, stack and string form of %s", (error) => {
    const back = roundTrip(error);
    expect(back).toBeInstanceOf(Error);
    expect(back.name).toBe(error?.name);
    expect(back.message).toBe(error?.message);
    expect(back.stack).toBe(error?.stack);
    expect(String(back)).toBe(String(error));
    expect(toErrorInfo(back)).toEqual(toErrorInfo(error));
  });

  it("restore built-in error classes", () => {
    expect(roundTrip(new TypeError("a"))).toBeInstanceOf(TypeError);
    expect(roundTrip(vm.runInNewContext("new URIError('a')"))).toBeInstanceOf(URIError);
    const aggregate = roundTrip(new AggregateError([new RangeError("a"), 7], "b"));
    expect(aggregate).toBeInstanceOf(AggregateError);
    expect(aggregate.errors[0]).toBeInstanceOf(RangeError);
    expect(aggregate.errors[1]).toBe(7);
  });

  it("preserve own fields that can be recorded and omit the others", () => {
    const socket = { on: () => 1 };
    const error = Object.assign(new Error("x"), { code: "E", socket, body: "y".repeat(20_000), gone: undefined });
    expect(toErrorInfo(error)).toMatchObject({ details: { code: "E" } });
    expect(toErrorInfo(error)).not.toHaveProperty("detailsTypes");
    expect(roundTrip(new HttpError("a", 404, { b: "c" }))).toMatchObject({ status: 404, headers: { b: "c" } });
    expect(Object.keys(roundTrip(new HttpError("a", 404, {})))).toEqual(["status", "headers"]);
  });

  it("preserve fields of all types, at their paths in the error", () => {
    const fields = {
      "a/b~c": [new Date(0), { none: undefined }],
      big: 10n ** 30n,
      bytes: new Uint8Array([1, 255]),
      headers: new Map([["set-cookie", new Set(["a", "b"])]]),
      ratio: Number.NaN,
      url: new URL("https://host/path?q=1"),
    };
    const back = roundTrip(Object.assign(new Error("x", { cause: Object.assign(new Error("y"), fields) }), fields));
    for (const error of [back, (back as Error).cause]) {
      expect(Object.fromEntries(Object.entries(error as object))).toStrictEqual(fields);
    }
  });

  it("preserve fields named __proto__ as data", () => {
    const error = Object.defineProperty(new Error("x"), "__proto__", { value: { a: 1 }, enumerable: true });
    const back = roundTrip(error);
    expect(Object.getOwnPropertyDescriptor(back, "__proto__")?.value).toEqual({ a: 1 });
    expect(Object.getPrototypeOf(back)).toBe(Error.prototype);
  });

  it("preserve the chain of causes up to 16 levels", () => {
    let error = new Error("0");
    for (let level = 1; level <= 40; level++) error = new Error(String(level), { cause: error });
    const messages: string[] = [];
    for (let at = roundTrip(error) as Error | undefined; at !== undefined; at = at.cause as Error | undefined)
      messages.push(at.message);
    expect(messages).toEqual(Array.from({ length: 17 }, (_, index) => String(40 - index)));
    expect(roundTrip(new Error("a", { cause: { reason: 5n } })).cause).toEqual({ reason: 5n });
  });

  it("stop at circular references", () => {
    const first = new Error("first");
    const second = new Error("second", { cause: first });
    first.cause = second;
    expect(toErrorInfo(first)).toMatchObject({ message: "first", cause: { message: "second" } });
    expect(toErrorInfo(first).cause).not.toHaveProperty("cause");
    const self = new AggregateError([], "self");
    self.errors.push(self);
    expect(toErrorInfo(self).errors).toEqual([]);
  });

  it("limit the size of branching causes", () => {
    let error = new AggregateError([], "leaf");
    for (let level = 0; level < 15; level++)
      error = new AggregateError([error, error, error], "node", { cause: error });
    expect(errorInfoText(error).match(/"message"/g)?.length).toBeLessThanOrEqual(128);
  });

  it.each([
    ["a text"],
    [7],
    [null],
    [undefined],
    [true],
    [10n],
    [{ code: 1, at: new Date(0) }],
    [[1, undefined]],
    [{ name: "X", message: "y" }],
  ])("restore the thrown value %o, which is not an error", (thrown) => {
    expect(roundTrip(thrown)).toStrictEqual(thrown);
  });

  it("replace values that cannot be recorded by an Error", () => {
    const back = roundTrip(Symbol("s"));
    expect(back).toBeInstanceOf(Error);
    expect(String(back)).toBe("Symbol(s)");
  });

  it("never throw", () => {
    const hostile = new Proxy(new Error("x"), {
      get: () => {
        throw new Error("no");
      },
      ownKeys: () => {
        throw new Error("no");
      },
    });
    expect(toErrorInfo(hostile)).toMatchObject({ name: "Error" });
    const { proxy, revoke } = Proxy.revocable(new Error("x"), {});
    revoke();
    expect(JSON.parse(errorInfoText(proxy))).toMatchObject({ name: "NonError" });
    for (const info of [undefined, null, "text", {}, { name: 1, message: {} }, { errors: 3, details: [] }]) {
      expect(fromErrorInfo(info)).toBeInstanceOf(Error);
    }
  });
});

describe("errors of this package", () => {
  const samples: Record<string, Error> = {
    RewindError: new errors.RewindError("base", "ERR_REWIND_X"),
    ContextNotFoundError: new errors.ContextNotFoundError("equipTool"),
    AfterPromptAgentError: new errors.AfterPromptAgentError("equipSystem"),
    NestedRunError: new errors.NestedRunError(),
    MaxDepthExceededError: new errors.MaxDepthExceededError(50, "a"),
    AbortError: new errors.AbortError("user left"),
    ModelNotFoundError: new errors.ModelNotFoundError("a"),
    ModelRegistryNotFoundError: new errors.ModelRegistryNotFoundError("m", "a", []),
    ModelCallError: new errors.ModelCallError("m", new TypeError("fetch failed"), { provider: "p" }),
    AttemptsExhaustedError: new errors.AttemptsExhaustedError("a", 4, ["x: Required"], { rawText: "{}" }),
    TurnBudgetExceededError: new errors.TurnBudgetExceededError("a", 10),
    MaxRebornsExceededError: new errors.MaxRebornsExceededError("a", 100),
    SnapshotDisabledError: new errors.SnapshotDisabledError({ source: "dump" }),
    InvalidRecordingError: new errors.InvalidRecordingError("a.jsonl", 2, "no JSON"),
    RecordingMissingError: new errors.RecordingMissingError("t", "a.jsonl", "a call"),
    RecordingStaleError: new errors.RecordingStaleError("t", "a.jsonl", "It asked more.", ["- a", "+ b"], {
      kind: "chat",
      name: "m",
      callId: "root/chat:m:0",
      accept: "vitest -u",
    }),
    SecretInRecordingError: new errors.SecretInRecordingError("a.jsonl", [
      { rule: "openai-key", place: "root/chat:m:0", pointer: "/output" },
    ]),
    McpCallEndedError: new errors.McpCallEndedError("tools/call", "cancelled", "user left"),
    StreamCutError: new errors.StreamCutError("http://host/"),
    ForkError: new errors.ForkError("changes.0.at", "no call", { at: "c", known: ["d"] }),
    RestoreError: new errors.RestoreError("Restore failed: Trace is empty.", { spanId: "s" }),
    InvalidSnapshotError: new errors.InvalidSnapshotError([{ path: "root.callId", message: "Required" }]),
    LimitError: new errors.LimitError("too deep", { path: "root", limit: 1000 }),
    CaptureError: new errors.CaptureError("cannot be written", { cause: new TypeError("cycle") }),
    NormalizeError: new errors.NormalizeError("the rule threw"),
    AuditLogError: new errors.AuditLogError("it is locked", { path: "a.jsonl" }),
    RedactError: new errors.RedactError("recorded under other rules"),
    JsonSchemaNotFoundError: new errors.JsonSchemaNotFoundError({
      owner: "promptAgent",
      remedy: "jsonSchema",
      vendor: "x",
    }),
    ReplayMissError: new errors.ReplayMissError({
      kind: "tool",
      name: "search",
      callId: "c",
      contentHash: "h",
      reason: "not-recorded",
    }),
    InvalidToolOutputError: new errors.InvalidToolOutputError("t", "/a", "function"),
    NativeMissingError: new errors.NativeMissingError(new Error("no file")),
    UnrecordedRequestError: new errors.UnrecordedRequestError(
      { method: "GET", host: "a.example", path: "/", callSite: "ask (a.ts:1:2)" },
      "Record it.",
    ),
    StoreVersionError: new errors.StoreVersionError(7, 1),
    StoreOpenError: new errors.StoreOpenError("The SQLite file runs.db cannot be opened."),
    RunLeasedError: new errors.RunLeasedError("order-1", "host:1", new Date(0)),
    RunVersionError: new errors.RunVersionError("order-1", "1", "2"),
    LeaseLostError: new errors.LeaseLostError("order-1", "it could not be renewed in time"),
    UncertainEffectError: new errors.UncertainEffectError({
      callId: "root/tool:charge:0",
      tool: "charge",
      input: { amount: 1 },
      idempotencyKey: "ab",
      startedAt: new Date(0),
    }),
    TraceReadError: new errors.TraceReadError("/tmp/t.jsonl", 3, "it is not JSON"),
    UnsupportedNodeError: new errors.UnsupportedNodeError("Node.js 20.19.0", "agent-rewind/register"),
    TraceWriteError: new errors.TraceWriteError("/tmp/t.jsonl", new Error("ENOSPC")),
  };
  const guards = errors as unknown as Record<string, (value: unknown) => boolean>;
  const classes = errors as unknown as Record<string, new (...args: never[]) => Error>;

  it("are all covered by this test", () => {
    expect(Object.keys(samples).toSorted()).toEqual(
      Object.keys(errors)
        .filter((name) => name.endsWith("Error") && !name.startsWith("is"))
        .toSorted(),
    );
  });

  it.each(Object.entries(samples))("%s has a stable name and code and is restored as its class", (name, error) => {
    expect(error).toMatchObject({ name, code: expect.stringMatching(/^ERR_REWIND_[A-Z_]+$/) as unknown });
    expect(error).toBeInstanceOf(errors.RewindError);
    expect(error.stack).toMatch(new RegExp(`^${name}: `));
    expect(Object.keys(error)).not.toContain("name");
    const back = roundTrip(error);
    expect(back).toBeInstanceOf(classes[name]);
    expect(JSON.parse(JSON.stringify(back))).toEqual(JSON.parse(JSON.stringify(error)));
    expect(String(back)).toBe(String(error));
  });

  it.each(Object.keys(samples).filter((name) => name !== "RewindError"))("is%s compares only the name", (name) => {
    const guard = guards[`is${name}`];
    expect(guard?.(samples[name])).toBe(true);
    expect(guard?.(roundTrip(samples[name]))).toBe(true);
    expect(guard?.({ name })).toBe(true);
    expect(guard?.(vm.runInNewContext(`Object.assign(new Error("x"), { name: "${name}" })`))).toBe(true);
    for (const other of [new Error("x"), null, undefined, name, {}]) expect(guard?.(other)).toBe(false);
  });

  it("keep message texts that callers match on", () => {
    expect(new errors.AbortError("user left").message).toBe("Operation aborted: user left");
    expect(new errors.AbortError().message).toBe("Operation aborted");
    expect(new errors.AbortError(new Error("late")).message).toBe("Operation aborted: late");
    expect(new errors.NestedRunError().message).toContain("runWith can only be used at the top level");
    expect(
      new errors.InvalidSnapshotError([
        { path: "root.state.status", message: "Required" },
        { path: "version", message: "expected\n 1" },
      ]).message,
    ).toBe("Invalid Snapshot format: root.state.status: Required, version: expected 1");
  });

  it("do not accept an error of another package as their own", () => {
    const foreign = Object.assign(new Error("x"), { name: "LimitError", code: "E_OTHER" });
    expect(roundTrip(foreign)).not.toBeInstanceOf(errors.RewindError);
    expect(roundTrip(foreign).name).toBe("LimitError");
  });

  it("are instances of their class in another copy of the package", () => {
    class Derived extends errors.ModelCallError {}
    const error = new otherCopy.ModelCallError("m", new Error("x"));
    expect(Object.getPrototypeOf(error)).not.toBe(errors.ModelCallError.prototype);
    expect(error).toBeInstanceOf(errors.ModelCallError);
    expect(error).toBeInstanceOf(errors.RewindError);
    for (const other of [errors.AbortError, Derived]) expect(error).not.toBeInstanceOf(other);
    expect(new Derived("m", error)).toBeInstanceOf(errors.ModelCallError);
    for (const value of [new DOMException("x", "AbortError"), { name: "AbortError", code: "ERR_REWIND_ABORTED" }, null])
      expect(value).not.toBeInstanceOf(errors.AbortError);
  });

  it("isAbortError accepts the AbortError of the platform", () => {
    const controller = new AbortController();
    controller.abort();
    expect(errors.isAbortError(controller.signal.reason)).toBe(true);
    expect(errors.isAbortError(roundTrip(controller.signal.reason))).toBe(true);
  });
});
