// The first questions about a recorded run, each answered by one command: recordings of real clients.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { journalCall, replay, runFrame, runWith, type TraceEvent } from "agent-rewind";
import { openAuditLog } from "agent-rewind/audit";
import { dumpSnapshot, writeSnapshot } from "agent-rewind/debugger";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { cli, record } from "./support.js";

const folder = mkdtempSync(join(tmpdir(), "rewind-show-"));
const at = (name: string): string => join(folder, name);
const recordings = new URL(
  "../fixtures/recorded/0.1.0-flag-6/tests/__recordings__/recorded.test.mjs/",
  import.meta.url,
);
const recording = (name: string): string => fileURLToPath(new URL(`${name}.jsonl`, recordings));

beforeAll(async () => {
  await record(at("a.json"), at("a.jsonl"));
  await record(at("b.json"), at("b.jsonl"), "what to eat");
});
afterAll(() => rmSync(folder, { recursive: true }));

describe("recordings of real clients", () => {
  it.each([
    ["clients-an-answer-of-openai-53d41a0d", ["gpt-x", "POST /openai/chat/completions", "7 tokens", "hi → hello 🌍"]],
    ["clients-a-stream-of-openai-d8673b77", ["gpt-x", "7 tokens", 'hi → héllo wörld 🌍 語 weather({"city":"Åre"})']],
    ["clients-responses-of-openai-516585c6", ["gpt-x", "POST /openai/responses", "hi → grüß dich 🌱"]],
    ["clients-a-stream-of-anthropic-d6f5621f", ["claude-x", "12 tokens", 'smörgåsbord 🍞 weather({"city":"Åre"})']],
    ["clients-a-failure-of-openai-50bfa0ec", ["failed", "HttpStatusError: 503 Service Unavailable"]],
    ["the-ai-sdk-generatetext-with-a-tool-3b35823f", ["14 tokens", 'hi → weather({"city":"Åre"})', "→ hello 🌍"]],
    ["the-ai-sdk-streamtext-c5cf162d", ["7 tokens", 'hi → héllo wörld 🌍 語 weather({"city":"Åre"})']],
    ["mcp-53f13ae9", ["tool:tools/add:0  ok", '{"a":1,"b":2} → 3', "McpToolError: no such file"]],
    ["agents-a-tool-6902314d", ['{"city":"Rome"} → ', '"celsius":21']],
    ["fetch-bytes-and-a-large-text-ccb16d26", ["GET /bytes", "GET /large"]],
  ])("%s: what was asked, answered and used", (name, texts) => {
    const { code, out, err } = cli(["inspect", recording(name)]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    for (const text of texts) expect(out).toContain(text);
  });

  it("shows what a turn asked and what the tool gave", () => {
    const file = recording("the-ai-sdk-generatetext-with-a-tool-3b35823f");
    const { out } = cli(["show", file, "#3"]);
    const shown = out.replaceAll(/ {2,}/g, " ");
    expect(shown).toContain("root/model:gpt-x:1\n");
    expect(shown).toContain("tokens 7 3 of the prompt stop");
    expect(shown).toContain('user hi\nassistant → weather({"city":"Åre"})\ntool (weather c1)\n {"at":');
    expect(shown).toContain("── answer\nassistant hello 🌍");
    const { out: delta } = cli(["show", file, "model:gpt-x:1", "--delta"]);
    expect(delta).not.toContain("user      hi");
    expect(delta).toContain("after 1 that the previous turn had");
    expect(delta).toContain("tool      (weather c1)");
  });
});

describe("show", () => {
  it("finds a call by callId, number, span and the end of its path", () => {
    const { rows } = JSON.parse(cli(["inspect", "--json", at("a.jsonl")]).out) as {
      rows: { callId: string; spanId: string }[];
    };
    const { callId, spanId } = rows.find((row) => row.callId.endsWith("prompt:gpt:1")) as (typeof rows)[0];
    const shown = [callId, spanId, "#3", "prompt:gpt:1"].map((name) => cli(["show", at("a.jsonl"), name]).out);
    expect(new Set(shown).size).toBe(1);
    expect(shown[0]).toContain(`--span ${spanId} --anchor before`);
    expect(cli(["inspect", "--ids", at("a.jsonl")]).out).toContain(`span ${spanId}`);
    // The conversation is in three events of the trace.
    const text = (shown[0] as string).replaceAll(/ {2,}/g, " ");
    expect(text).toContain('user what to wear\nassistant → weather({"city":"Oslo"})\ntool (c1)\n {"city":"Oslo"');
    expect(JSON.parse(cli(["show", "--json", at("a.json"), "#3"]).out)).toMatchObject({
      callId,
      exchange: { api: "agent", model: "gpt", messages: [{ role: "user" }, { role: "assistant" }, { role: "tool" }] },
      request: { model: { id: "gpt" } },
    });
  });

  it("says what it does not find", () => {
    for (const [name, message] of [
      ["#99", /there is no call #99: the recording has 5 calls/],
      ["nothing", /no call or frame is named "nothing": "agent-rewind inspect --ids" lists/],
    ] as const) {
      expect(cli(["show", at("a.json"), name])).toMatchObject({
        code: 3,
        err: expect.stringMatching(message) as string,
      });
    }
    expect(cli(["show", at("a.json")])).toMatchObject({
      code: 2,
      err: expect.stringContaining("name of a call") as string,
    });
  });

  it("compares a call with that of another recording, line by line", () => {
    const { code, out } = cli(["show", at("a.json"), "#1", "--against", at("b.json")]);
    expect(code).toBe(1);
    expect(out).toMatch(/^- what to wear\n\+ what to eat$/m);
    expect(cli(["show", at("a.json"), "#1", "--against", at("a.json")])).toEqual({ code: 0, out: "", err: "" });
  });

  it("shows a frame with its props, memory and result", () => {
    const { out } = cli(["show", at("a.json"), "agent:traveller:0"]);
    for (const part of ["── props", '"question": "what to wear"', "── memory", "── result", '"a coat"'])
      expect(out).toContain(part);
  });

  it("prints control characters of recorded text as escapes", async () => {
    const file = at("hostile.json");
    await runWith(
      async () => {
        const request = { messages: [{ role: "us\u001b[31mer", content: "a\u009b2J\nb\u202e" }] };
        await journalCall({ kind: "chat", name: "m", request }, () => "c\u001b]0;x\u0007");
        await writeSnapshot(file, dumpSnapshot());
      },
      { enableSnapshot: true },
    );
    for (const args of [
      ["show", file, "#1"],
      ["show", file, "#1", "--raw"],
      ["inspect", file],
    ]) {
      const { out } = cli(args);
      expect(out.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}]/u);
      expect(out).toContain("\\u009b");
    }
  });
});

describe("inspect", () => {
  it.each([60, 100])("fits in %i columns", (columns) => {
    for (const file of ["a.json", "a.jsonl"]) {
      const { out } = cli(["inspect", "--why", at(file)], { env: { COLUMNS: String(columns) } });
      const widths = out.split("\n").map((line) => Array.from(line).length);
      expect(Math.max(...widths)).toBeLessThanOrEqual(columns);
      expect(out).toContain("prompt:gpt:1  ok");
      if (columns === 100) expect(out).toContain("█");
    }
  });

  it("prints only what failed, what contains a text, or the first levels", () => {
    const names = (...args: string[]): string[] =>
      cli(["inspect", at("a.json"), ...args])
        .out.split("\n")
        .slice(1, -1)
        .map((line) => line.split("  ").find((part) => part.includes(":") || part === "root") ?? line);
    expect(names("--failed")).toEqual(["root", expect.stringContaining("├─ http:bad"), "└─ http:slow:0"]);
    expect(names("--depth", "1")).toHaveLength(4);
    expect(cli(["inspect", at("a.json"), "--grep", "A COAT"]).out).toContain("└─ prompt:gpt:1");
    expect(cli(["inspect", at("a.json"), "--grep", "A COAT"]).out).not.toContain("http");
    expect(cli(["inspect", at("a.json"), "--depth", "x"])).toMatchObject({ code: 2 });
  });

  it("says which calls a resumed run answered, and why the others were live", async () => {
    const ask = (question: string): Promise<string> =>
      journalCall({ kind: "chat", name: "m", request: { question } }, () => "yes");
    const program = (last: string) => async () => {
      await ask("one");
      await runFrame({ id: "sub", input: {} }, () => ask(last));
      return dumpSnapshot();
    };
    const snapshot = await runWith(program("two"), { enableSnapshot: true });
    const events: TraceEvent[] = [];
    const eventBus = { emit: (event: TraceEvent) => void events.push(event) };
    await runWith(program("three"), { snapshot, eventBus, enableSnapshot: true });
    writeFileSync(at("resumed.json"), JSON.stringify(events));
    const { out } = cli(["inspect", "--why", at("resumed.json")]);
    expect(out).toMatch(/chat:m:0 {2}ok {2}replayed/);
    expect(out).toMatch(/└─ chat:m:0 {2}ok {2}(?!replayed)[^\n]*\n\s+why: no recorded answer: [^\n]*two/);
    await expect(replay(program("two"), { snapshot })).resolves.toBeDefined();
  });

  it("shows audit logs too", () => {
    const log = openAuditLog(at("log"));
    log.append({ timestamp: "2026-01-01T00:00:00Z", agent_name: "writer", messages: [] });
    log.close();
    expect(cli(["inspect", at("log")])).toEqual(cli(["context", "show", at("log")]));
    expect(cli(["inspect", at("log")]).out).toContain("writer");
  });
});
