// Reproduces the vectors that were recorded with the Python original.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

import {
  ContextManager,
  modelLimit,
  pythonJson,
  verifyPayload,
  warningsOf,
  type BoundaryCapture,
} from "agent-rewind/context";
import { describe, expect, it } from "vitest";

interface Case {
  id: string;
  message_hash: string;
  tools_hash: string;
  message_sha256: string;
  tools_sha256: string;
  messages_source: string | null;
  tools_source: string | null;
  python_json: string;
  js: { reproducible_from: string };
  wrong_hashes?: Record<string, string>;
  same_as?: string;
  differs_from?: string;
}

const read = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../fixtures/snapshot-hooks/${name}`, import.meta.url), "utf8"));

const { cases } = read("hash-vectors.json") as { cases: Case[] };
const from = (origin: string): Case[] => cases.filter(({ js }) => js.reproducible_from === origin);

/** The vectors that need a value that JSON lacks. */
const VALUES: Record<string, unknown> = {
  "num-bigint-2p53p1": [{ x: 9007199254740993n }],
  "num-bigint-2p63m1": [{ x: 9223372036854775807n }],
  "num-bigint-neg2p63m1": [{ x: -9223372036854775809n }],
  "num-nan-inf": [{ a: Number.NaN, b: Number.POSITIVE_INFINITY, c: Number.NEGATIVE_INFINITY }],
};

/**
 * The vectors that JavaScript cannot reproduce. Each needs a Python value written by `default=str`, or a non-string
 * key.
 */
const NOT_FROM_JAVASCRIPT = {
  "py-bytearray": "bytearray, written by its repr",
  "py-complex": "complex, written by str",
  "py-dataclass": "an instance of a class, written by its repr",
  "py-datetime": "datetime, written by str with a space for the T",
  "py-datetime-utc": "datetime, written by str with a space for the T",
  "py-decimal": "Decimal, written by str with its zeros",
  "py-decimal-nan": "Decimal, written by str",
  "py-dict-keys": "a view of keys, written by its repr",
  "py-int-keys": "keys that are integers, and sort as such",
  "py-path": "Path, written by str",
  "py-set-empty": "set, written by its repr",
  "py-time": "time, written by str",
};

const capture = (messages: unknown, tools: unknown): BoundaryCapture =>
  new ContextManager().captureLlmBoundary(messages as unknown[], tools as unknown[]);

function hashes(data: BoundaryCapture): object {
  const { messageHash, toolsHash, messageSha256, toolsSha256 } = data;
  return { messageHash, toolsHash, messageSha256, toolsSha256 };
}

const wanted = ({ message_hash, tools_hash, message_sha256, tools_sha256 }: Case): object => ({
  messageHash: message_hash,
  toolsHash: tools_hash,
  messageSha256: message_sha256,
  toolsSha256: tools_sha256,
});

describe("hashes of the recorded vectors", () => {
  it("are all covered by one of the groups below", () => {
    expect(cases).toHaveLength(86);
    expect(from("plain JS values")).toHaveLength(62);
    expect(from("JS values (js_expr)").map(({ id }) => id)).toEqual(Object.keys(VALUES));
    expect(from("JSON source text only")).toHaveLength(8);
    expect(
      from("not from JavaScript")
        .map(({ id }) => id)
        .sort(),
    ).toEqual(Object.keys(NOT_FROM_JAVASCRIPT));
  });

  it.each(from("plain JS values"))("match when computed from values: $id", (vector) => {
    const data = capture(JSON.parse(vector.messages_source ?? ""), JSON.parse(vector.tools_source ?? ""));
    expect(hashes(data)).toEqual(wanted(vector));
    expect(Object.values(vector.wrong_hashes ?? {})).not.toContain(data.messageHash);
    expect(verifyPayload(data.messages, vector.message_hash)).toBe(true);
    expect(pythonJson(data.messages)).toBe(vector.python_json ?? pythonJson(data.messages));
  });

  it.each(from("JS values (js_expr)"))("match when computed from values that JSON lacks: $id", (vector) => {
    const data = capture(VALUES[vector.id], []);
    expect(hashes(data)).toEqual(wanted(vector));
    expect(data.messages).toEqual(VALUES[vector.id]);
    expect(verifyPayload(VALUES[vector.id], vector.message_sha256)).toBe(true);
  });

  it.each(cases.filter(({ messages_source }) => messages_source !== null))(
    "match when computed from source text: $id",
    (vector) => {
      const text = `{ "tools": ${vector.tools_source}, "model":"m",\n"messages": ${vector.messages_source} }`;
      expect(hashes(new ContextManager().captureRequestText(text))).toEqual(wanted(vector));
    },
  );

  it("are equal and different as recorded", () => {
    const byId = new Map(cases.map((vector) => [vector.id, vector]));
    const pairs = cases.filter((vector) => byId.has(vector.same_as ?? vector.differs_from ?? ""));
    expect(pairs.length).toBeGreaterThan(0);
    for (const vector of pairs) {
      const other = byId.get(vector.same_as ?? vector.differs_from ?? "") as Case;
      const same = vector.message_hash === other.message_hash && vector.tools_hash === other.tools_hash;
      expect(same).toBe(vector.same_as !== undefined);
    }
  });
});

describe("hashes of values that JSON.stringify changes", () => {
  it.each([
    ["dropped members", [{ a: undefined, b: () => 1, c: [undefined, () => 1], d: Symbol("d") }], [{ c: [null, null] }]],
    ["dates", [{ at: new Date(0) }], [{ at: "1970-01-01T00:00:00.000Z" }]],
    ["toJSON", [{ toJSON: () => ({ b: 1n, a: Number.NaN }) }], [{ b: 1n, a: Number.NaN }]],
  ])("match the sent JSON: %s", (_what, given, sent) => {
    expect(pythonJson(given)).toBe(pythonJson(sent));
  });

  it("treat a number with an integral value as an integer with all digits", () => {
    expect(pythonJson([1e21, 2 ** 60, -(2 ** 70), 1e23, 0.1, 1e16, -0, 1e-7])).toBe(
      "[1000000000000000000000, 1152921504606846976, -1180591620717411303424, 99999999999999991611392, 0.1, " +
        "10000000000000000, -0.0, 1e-07]",
    );
  });

  it("use the last of duplicated keys in a text, as JSON parsers do", () => {
    const doubled = new ContextManager().captureRequestText(
      '{"messages":[{"role":"user","content":1,"content":"hi"}]}',
    );
    expect(doubled.messageHash).toBe("5aced9397fc4a6ba");
    expect(doubled.ledger.history).toBe(8);
    expect(doubled.contentHash).toMatch(/^[0-9a-f]{64}$/);
  });
});

const python = spawnSync("python3", ["--version"]).status === 0;

describe("comparison with python3", () => {
  it.skipIf(!python)("produces the same text and hash for all values that JavaScript can send", () => {
    const values = [
      ...from("plain JS values").map(({ messages_source }) => JSON.parse(messages_source ?? "") as unknown),
      [{ x: [0, -1, 0.5, 1e-7, 1e15, 123456789012345.6, 5e-324, 1.7976931348623157e308 / 3, 1e-5, 0.0001] }],
      [{ "\u{1f600}": 1, "\uffee": 2, "\ud83d": 3, é: 4, a: 5 }],
      [{ content: Array.from({ length: 0x2100 }, (_, index) => String.fromCodePoint(index)).join("") }],
    ];
    const script = [
      "import sys, json, hashlib",
      "for line in sys.stdin:",
      "    text = json.dumps(json.loads(line), sort_keys=True, default=str)",
      "    print(hashlib.sha256(text.encode()).hexdigest())",
    ].join("\n");
    const lines = values.map((value) => JSON.stringify(value));
    const { stdout, status } = spawnSync("python3", ["-c", script], { input: lines.join("\n"), encoding: "utf8" });
    expect(status).toBe(0);
    const manager = new ContextManager();
    const ours = lines.map((line) => manager.captureRequestText(`{"messages":${line}}`).messageSha256);
    expect(ours).toEqual(stdout.trim().split("\n"));
  });

  it.runIf(!python)("is skipped because python3 is not installed", () => {
    expect(python).toBe(false);
  });
});

interface LedgerCase {
  id: string;
  model: string;
  system_prompt: string;
  messages: unknown[];
  tools: unknown[];
  ledger: Record<string, number>;
  ledger_total: number;
  budget: Record<string, number>;
  utilization: number;
  ledger_warnings: string[];
  process: {
    optimized: boolean;
    tokens_before: number;
    tokens_after: number;
    tokens_saved: number;
    utilization: number;
  };
  hook_to_dict_without_timestamp: Record<string, unknown>;
}

const ledgers = read("ledger.json") as {
  cases: LedgerCase[];
  text_estimates: { text: string | null; repeat: [string, number] | null; tokens: number }[];
};

describe("ledger and budget of the recorded vectors", () => {
  it.each(ledgers.cases)("match: $id", (vector) => {
    const manager = new ContextManager({ model: vector.model, config: { autoCompact: false, snapshotTiming: "both" } });
    const result = manager.process(vector.messages, { systemPrompt: vector.system_prompt, tools: vector.tools });
    for (const snapshot of [result.pre, result.post]) {
      expect(snapshot?.toDict()).toMatchObject({ ledger: vector.ledger, budget: vector.budget });
      expect(snapshot?.ledger.total).toBe(vector.ledger_total);
    }
    expect({
      optimized: result.optimized,
      tokens_before: result.tokensBefore,
      tokens_after: result.tokensAfter,
      tokens_saved: result.tokensSaved,
      utilization: result.utilization,
      warnings: result.warnings,
    }).toEqual({ ...vector.process, warnings: vector.ledger_warnings });
    const { timestamp, ...dict } = manager.captureLlmBoundary(vector.messages, vector.tools).toDict();
    expect(timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    const { ledger, ...others } = vector.hook_to_dict_without_timestamp;
    expect(dict).toMatchObject(others);
    // The source continues the numbering of `process` in a capture. This package numbers only captures.
    expect(dict.ledger).toEqual({ ...(ledger as object), system_prompt: 0 });
  });

  it.each(ledgers.text_estimates)("estimates $tokens tokens", ({ text, repeat, tokens }) => {
    const content = text ?? repeat?.[0].repeat(repeat[1]);
    const { ledger } = capture([{ content }], []);
    expect(ledger.history).toBe(tokens + 4 + 3);
  });

  it("warn like the source", () => {
    const budget = capture([], []).budget;
    const at = (total: number, toolOutputs = 0): string[] =>
      warningsOf({ ...capture([], []).ledger, total, toolOutputs }, budget);
    expect(at(95_999)).toEqual([]);
    expect(at(96_000)).toEqual(["NOTICE: Context at 80.0% of usable budget"]);
    expect(at(108_000)).toEqual(["WARNING: Context at 90.0% of usable budget"]);
    expect(at(130_000, 18_000)).toEqual([
      "CRITICAL: Context overflow! 108.3% of usable budget",
      "Tool outputs at 90.0% of budget",
    ]);
  });
});

/**
 * The source takes the first key contained anywhere in the name. For these names the longest prefix gives another key.
 */
const OTHER_LIMITS: Record<string, number> = {
  "gpt-5": 400_000,
  "gpt-5-chat": 128_000,
  "gpt-4-32k": 32_768,
  "gpt-4.5-preview": 128_000,
  o1: 200_000,
  "claude-3-7-sonnet-latest": 200_000,
  "claude-opus-4-1": 200_000,
  yolo3: 128_000,
  "gpt-4-vision-preview": 128_000,
};

describe("context limits of models", () => {
  it.each(read("models.json") as { model: string; limit: number; context_manager_budget: object }[])(
    "match for $model",
    ({ model, limit, context_manager_budget }) => {
      expect(modelLimit(model)).toBe(OTHER_LIMITS[model] ?? limit);
      if (model in OTHER_LIMITS) return;
      expect(new ContextManager({ model }).captureLlmBoundary([]).toDict().budget).toEqual(context_manager_budget);
    },
  );

  it("use the longest matching prefix, and the user's own names first", () => {
    expect(modelLimit("openai/GPT-4o-2024-08-06")).toBe(128_000);
    expect(modelLimit("us.anthropic.claude-sonnet-4-v1:0")).toBe(200_000);
    expect(modelLimit("o30")).toBe(128_000);
    const models = { "my-model": 32_000, "my-model-long": 64_000, "gpt-4o": 1_000 };
    expect(modelLimit("my-model-2", models)).toBe(32_000);
    expect(modelLimit("my-model-long-2", models)).toBe(64_000);
    expect(new ContextManager({ model: "gpt-4o-mini", models }).captureLlmBoundary([]).budget.modelLimit).toBe(1_000);
  });
});
