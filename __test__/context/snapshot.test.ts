import { createHash } from "node:crypto";
import { createRequire } from "node:module";

import {
  BoundaryCapture,
  ContextManager,
  createManagerConfig,
  detectDrift,
  managerConfigFromEnv,
  pythonJson,
  requestOf,
  SnapshotHookData,
  verifyPayload,
  verifyCapture,
  verifySnapshot,
  type CaptureRecord,
} from "agent-rewind/context";
import { canonicalize } from "agent-rewind/debugger";
import { describe, expect, it } from "vitest";

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
const manager = new ContextManager({ model: "gpt-4o" });
const roundTrip = (data: unknown): CaptureRecord => JSON.parse(JSON.stringify(data)) as CaptureRecord;
const BODY =
  '{"model":"gpt-4o","messages":[{"role":"user","content":"hi","n":1.0}],"system":"Be brief.","temperature":0.50,"tools":[{"name":"t"}]}';

describe("a capture", () => {
  it("shares nothing with the caller and is immutable", () => {
    const messages = [{ role: "user", content: "hi", parts: [{ a: 1 }] }];
    const tools = [{ name: "t" }];
    const data = manager.captureLlmBoundary(messages, tools);
    messages[0]!.content = "changed";
    messages.push({ role: "user", content: "more", parts: [] });
    tools.length = 0;
    expect(data.messages).toEqual([{ role: "user", content: "hi", parts: [{ a: 1 }] }]);
    expect(data.tools).toEqual([{ name: "t" }]);
    expect(data.messageHash).toBe(sha256(pythonJson(data.messages)).slice(0, 16));
    expect(verifyPayload(messages, data.messageHash)).toBe(false);
    const open = data as unknown as { messages: { parts: { a: number }[] }[]; attempt: number; ledger: { total: 0 } };
    expect(() => open.messages.push({ parts: [] })).toThrow(TypeError);
    expect(() => (open.messages[0]!.parts[0]!.a = 2)).toThrow(TypeError);
    expect(() => (open.attempt = 2)).toThrow(TypeError);
    expect(() => (open.ledger.total = 0)).toThrow(TypeError);
    expect(verifyCapture(data)).toEqual({ valid: true, faults: [] });
  });

  it("keeps its earlier names as aliases", () => {
    expect(SnapshotHookData).toBe(BoundaryCapture);
    expect(verifySnapshot).toBe(verifyCapture);
    expect(manager.registerSnapshotCallback).toBe(manager.registerCaptureCallback);
    expect(manager.captureLlmBoundary([])).toBeInstanceOf(BoundaryCapture);
  });

  it("keeps keys such as __proto__ as data", () => {
    const data = manager.captureLlmBoundary([JSON.parse('{"__proto__":{"polluted":1},"role":"user"}')]);
    expect(Object.keys(data.messages[0] as object)).toEqual(["__proto__", "role"]);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });

  it("has hashes that can be recomputed from its content", () => {
    const messages = [
      { role: "system", content: "é" },
      { content: "hi", role: "user" },
    ];
    const data = manager.captureLlmBoundary(messages, [{ name: "t", a: 1 }]);
    const document = JSON.stringify({ messages, tools: [{ name: "t", a: 1 }] });
    expect(data.messageSha256).toBe(sha256(pythonJson(messages)));
    expect(data.messageHashes).toEqual(messages.map((message) => sha256(pythonJson(message))));
    expect(data.contentHash).toBe(sha256(canonicalize(document)));
    expect(data.wireHash).toBe(sha256(document));
    expect(data.segmentHashes).toEqual({
      system: sha256("null"),
      tools: data.toolsSha256,
      messages: data.messageSha256,
      parameters: sha256("{}"),
    });
  });

  it("reads a request from its text and keeps the spelling of numbers", () => {
    const data = manager.captureRequestText(BODY);
    expect(data.messages).toEqual([{ role: "user", content: "hi", n: 1 }]);
    expect(data.messageSha256).toBe(sha256('[{"content": "hi", "n": 1.0, "role": "user"}]'));
    expect(data.segmentHashes.system).toBe(sha256('"Be brief."'));
    expect(data.segmentHashes.parameters).toBe(sha256('{"model": "gpt-4o", "temperature": 0.5}'));
    expect(data.wireHash).toBe(sha256(BODY));
    expect(data.contentHash).toBe(sha256(canonicalize(BODY)));
    expect(data.ledger).toMatchObject({ systemPrompt: 2, messageCount: 1 });
    expect(requestOf(data)).toEqual({ body: BODY });
    expect(requestOf(roundTrip(data))).toEqual({ body: BODY });
    expect(verifyCapture(roundTrip(data))).toEqual({ valid: true, faults: [] });
  });

  it("rejects values that are not requests or cannot be written as JSON", () => {
    const named = (name: string, code: string): unknown => expect.objectContaining({ name, code });
    expect(() => manager.captureRequestText("[1]")).toThrow(named("CaptureError", "ERR_REWIND_CAPTURE") as Error);
    expect(() => manager.captureRequestText("{")).toThrow(named("RewindError", "ERR_REWIND_INVALID_JSON") as Error);
    const cycle: unknown[] = [];
    cycle.push(cycle);
    expect(() => manager.captureLlmBoundary(cycle)).toThrow(named("CaptureError", "ERR_REWIND_CAPTURE") as Error);
    expect(() => verifyCapture({} as CaptureRecord)).toThrow(named("CaptureError", "ERR_REWIND_CAPTURE") as Error);
    expect(() => verifyPayload([], "5ACED9397FC4A6BA")).toThrow(TypeError);
    let deep: unknown = "end";
    for (let level = 0; level < 2_000; level++) deep = [deep];
    expect(() => manager.captureLlmBoundary([deep]).messageHash).toThrow(
      named("LimitError", "ERR_REWIND_LIMIT") as Error,
    );
  });

  it("verifies from JSON and names the wrong hash", () => {
    const data = roundTrip(manager.captureLlmBoundary([{ role: "user", content: "hi", x: -0, y: 2n ** 64n }]));
    expect(verifyCapture(data)).toEqual({ valid: true, faults: [] });
    const plain = roundTrip(manager.captureLlmBoundary([{ role: "user", content: "hi" }]));
    const changed = { ...plain, messages: [{ role: "user", content: "ho" }] };
    expect(verifyCapture(changed).faults.map(({ field }) => field)).toEqual(["messageHash", "wireHash", "contentHash"]);
  });

  it("is accepted by the other copy of the package (ESM, CommonJS)", () => {
    const required = createRequire(import.meta.url)("agent-rewind/context") as typeof import("agent-rewind/context");
    const data = manager.captureRequestText(BODY);
    expect(required.verifyCapture(data).valid).toBe(true);
    expect(required.requestOf(data)).toEqual({ body: BODY });
  });

  it("counts tokens with the user's function", () => {
    const counting = new ContextManager({ countTokens: (text) => text.length });
    const { ledger } = counting.captureLlmBoundary(
      [
        { role: "user", content: "four" },
        { role: "assistant", content: null, tool_calls: [{ id: "1", function: { name: "ab", arguments: "{}" } }] },
        { role: "tool", tool_call_id: "1", content: [{ type: "text", text: "abc" }, { type: "image_url" }] },
      ],
      [{ a: 1 }],
    );
    expect(ledger).toMatchObject({ history: 3 + (4 + 4) + (4 + 2 + 2 + 10) + (4 + 10 + 3 + 85), toolsSchema: 9 });
    expect(ledger).toMatchObject({ turnCount: 1, messageCount: 3, toolCallCount: 1 });
  });

  it("counts tokens of tool calls by the default estimate too", () => {
    const { ledger } = manager.captureLlmBoundary([
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "1", function: { name: "look", arguments: '{"a":"é"}' } }],
      },
      { role: "tool", tool_call_id: "1", content: "line\nline", name: "look" },
      { role: "user", content: "\ud83d\u0007é" },
    ]);
    expect(ledger.history).toBe(3 + (4 + 1 + 3 + 10) + (4 + 10 + 2 + 1) + (4 + 2));
  });

  it("counts tracked segments separately", () => {
    const own = new ContextManager();
    own.track("rules", 100);
    own.track("systemPrompt", "You are helpful.");
    own.trackToolOutput("12345678");
    own.trackToolOutput(18_000);
    const { ledger } = own.captureLlmBoundary([]);
    expect(ledger).toMatchObject({ rules: 100, systemPrompt: 4, toolOutputs: 18_002, toolCallCount: 2, total: 18_106 });
    expect(() => own.track("toolOutputs" as "rules", 1)).toThrow(TypeError);
  });

  it("is kept in a bounded history", () => {
    const own = new ContextManager({ historyLimit: 3 });
    for (let index = 0; index < 5; index++) own.captureLlmBoundary([index]);
    const kept = own.getHistory().map((event) => event.kind === "boundary" && event.snapshot.messages[0]);
    expect(kept).toEqual([2, 3, 4]);
  });
});

describe("contextDrift", () => {
  const history = [
    { role: "system", content: "Today is 2026-11-28." },
    { role: "user", content: "hi" },
  ];
  const capture = (messages: unknown[], tools: unknown[] = [{ name: "t", description: "d" }]) =>
    manager.captureLlmBoundary(messages, tools);

  it("finds no drift between equal requests, also from JSON", () => {
    const drift = detectDrift(capture(history), roundTrip(capture(structuredClone(history))));
    expect(drift).toMatchObject({ changed: false, differences: [], cache: { broken: false, reusableMessages: 2 } });
    expect(drift).not.toHaveProperty("first");
  });

  it("reports an intact cache prefix when messages are appended", () => {
    const drift = detectDrift(capture(history), capture([...history, { role: "assistant", content: "ho" }]));
    expect(drift).toMatchObject({ changed: true, messagesChanged: true, toolsChanged: false, first: "/messages/2" });
    expect(drift.cache).toEqual({ broken: false, reusableMessages: 2 });
  });

  it("names the message where the cached prefix breaks and the kind of value that changed", () => {
    const dated = [{ role: "system", content: "Today is 2026-11-29." }, history[1]];
    expect(detectDrift(capture(history), capture(dated))).toMatchObject({
      first: "/messages/0/content",
      cache: { broken: true, segment: "messages", pointer: "/messages/0/content", nature: "date", reusableMessages: 0 },
    });
    expect(detectDrift(capture(history), capture(history, [{ name: "t", description: "e" }])).cache).toMatchObject({
      broken: true,
      segment: "tools",
      pointer: "/tools/0/description",
      nature: "tool-schema",
    });
    const reordered = detectDrift(capture(history), capture(history, [{ description: "d", name: "t" }]));
    expect(reordered).toMatchObject({ changed: false, cache: { broken: true, segment: "tools", nature: "key-order" } });
  });

  it("compares the model, the system prompt and the parameters of complete requests", () => {
    const text = (changes: object) => manager.captureRequestText(JSON.stringify({ ...JSON.parse(BODY), ...changes }));
    const base = text({});
    expect(detectDrift(base, text({ temperature: 1 }))).toMatchObject({
      othersChanged: true,
      messagesChanged: false,
      first: "/temperature",
      cache: { broken: false },
    });
    expect(detectDrift(base, text({ model: "gpt-5" })).cache).toMatchObject({ broken: true, segment: "model" });
    expect(detectDrift(base, text({ system: "Be long." })).cache).toMatchObject({ broken: true, segment: "system" });
    const marked = [{ role: "user", content: "hi", n: 1, cache_control: { type: "ephemeral" } }];
    expect(detectDrift(base, text({ messages: marked }))).toMatchObject({ changed: true, cache: { broken: false } });
  });
});

describe("configuration", () => {
  it("has the defaults of the source and rejects unknown options", () => {
    expect(createManagerConfig()).toMatchObject({
      snapshotTiming: "post_optimization",
      monitorEnabled: false,
      monitorPath: "./context.txt",
      monitorFormat: "human",
      monitorFrequency: "turn",
      compactThreshold: 0.8,
      strategy: "smart",
      outputReserve: 8000,
      keepRecentTurns: 5,
      toolOutputMax: 10_000,
    });
    expect(() => createManagerConfig({ snapshotTimming: "both" } as object)).toThrow(/unknown field "snapshotTimming"/);
    expect(() => createManagerConfig({ snapshotTiming: "always" as "both" })).toThrow(RangeError);
    expect(() => createManagerConfig({ compactThreshold: 80 })).toThrow(/above 0 and at most 1/);
    expect(() => createManagerConfig({ monitorEnabled: "yes" as unknown as boolean })).toThrow(TypeError);
  });

  it("is read from the environment", () => {
    const env = {
      AGENT_REWIND_CONTEXT_MONITOR: "true",
      AGENT_REWIND_CONTEXT_MONITOR_PATH: "/x/context.json",
      AGENT_REWIND_CONTEXT_MONITOR_FORMAT: "json",
      AGENT_REWIND_CONTEXT_MONITOR_FREQUENCY: "overflow",
      AGENT_REWIND_CONTEXT_MONITOR_WRITE_MODE: "sync",
      AGENT_REWIND_CONTEXT_REDACT: "false",
      AGENT_REWIND_CONTEXT_AUTO_COMPACT: "0",
      AGENT_REWIND_CONTEXT_THRESHOLD: "0.5",
      AGENT_REWIND_CONTEXT_STRATEGY: "truncate",
      AGENT_REWIND_CONTEXT_OUTPUT_RESERVE: "1000",
    };
    expect(managerConfigFromEnv({ outputReserve: 2000 }, env)).toEqual({
      ...createManagerConfig(),
      monitorEnabled: true,
      monitorPath: "/x/context.json",
      monitorFormat: "json",
      monitorFrequency: "overflow",
      monitorWriteMode: "sync",
      redactSensitive: false,
      autoCompact: false,
      compactThreshold: 0.5,
      strategy: "truncate",
      outputReserve: 2000,
    });
    expect(managerConfigFromEnv({}, {})).toEqual(createManagerConfig());
    expect(() => managerConfigFromEnv({}, { AGENT_REWIND_CONTEXT_THRESHOLD: "much" })).toThrow(
      /AGENT_REWIND_CONTEXT_THRESHOLD=much/,
    );
  });
});
