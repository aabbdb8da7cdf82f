import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { journalCall, runFrame, runWith, type TraceEvent } from "agent-rewind";
import { openAuditLog } from "agent-rewind/audit";
import { contentHash, dumpSnapshot, parseSnapshot, readSnapshot } from "agent-rewind/debugger";
import { createRedactor } from "agent-rewind/redact";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { BIN, cli, record, shell } from "./support.js";

const folder = mkdtempSync(join(tmpdir(), "rewind-cli-"));
const at = (name: string): string => join(folder, name);

beforeAll(async () => {
  await record(at("a.json"), at("a.jsonl"));
  await record(at("same.json"), at("same.jsonl"));
  await record(at("b.json"), at("b.jsonl"), "what to eat");
  writeFileSync(at("cut.json"), readFileSync(at("a.json")).subarray(0, 500));
  writeFileSync(at("empty"), "");
  writeFileSync(at("text"), "hello\n");
  writeFileSync(at("null.json"), "null");
  writeFileSync(at("binary"), Buffer.from([0xff, 0xfe, 0, 1, 2, 3]));
});
afterAll(() => rmSync(folder, { recursive: true }));

const inFolder = { cwd: folder };

describe("agent-rewind", () => {
  it("says how it is used", () => {
    for (const args of [["--help"], ["-h"], ["help"], ["inspect", "--help"], ["context", "-h"]]) {
      const { code, out } = cli(args);
      expect(code).toBe(0);
      expect(out).toMatch(/^Usage: agent-rewind/);
    }
    expect(cli(["--version"]).out).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it.each([
    [[], /there is no command/],
    [["explode"], /there is no command "explode"/],
    [["constructor"], /there is no command "constructor"/],
    [["inspect"], /inspect takes 1 file, received 0/],
    [["inspect", "a", "b"], /inspect takes 1 file, received 2/],
    [["inspect", "a", "--wrong"], /Unknown option '--wrong'\n/],
    [["hash"], /hash takes at least 1 file, received 0/],
    [["diff", "a"], /diff takes 2 files/],
    [["diff", "-", "-"], /standard input can be read once/],
    [["restore", "a", "--anchor", "middle"], /--anchor must be/],
    [["restore", "a", "--anchor", "before"], /--anchor goes with --span/],
    [["context"], /context is followed by/],
    [["context", "toString"], /context is followed by/],
    [["context", "verify", "a", "--head", "x"], /--head must be/],
    [["context", "verify", "a", "--key-env", "NOT_SET_AT_ALL"], /no environment variable NOT_SET_AT_ALL/],
  ])("ends with 2 for %j", (args, message) => {
    const { code, out, err } = cli(args, inFolder);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toMatch(message);
  });

  it.each([
    ["inspect", "none.json"],
    ["inspect", "."],
    ["inspect", "cut.json"],
    ["inspect", "empty"],
    ["inspect", "text"],
    ["inspect", "null.json"],
    ["inspect", "binary"],
    ["restore", "a.json"],
    ["restore", "a.jsonl", "--span", "0000000000000000"],
    ["restore", "a.jsonl", "-o", "no/such/folder/x.json"],
    ["diff", "a.json", "none.json"],
    ["hash", "text"],
    ["hash", "binary"],
    ["hash", "empty"],
    ["context", "show", "text"],
    ["context", "show", "a.jsonl"],
    ["context", "diff", "a.jsonl", "b.jsonl"],
    ["context", "diff", "none.jsonl", "none.jsonl"],
    ["context", "verify", "none.jsonl"],
    ["context", "verify", "text", "--key-file", "none"],
  ])("ends with 3, and one line that names the input, for %s %s", (...args) => {
    const { code, out, err } = cli(args, inFolder);
    expect({ code, out }).toEqual({ code: 3, out: "" });
    expect(err.trimEnd().split("\n")).toHaveLength(1);
    expect(err).toMatch(/^agent-rewind: /);
    expect(err).not.toMatch(/\n\s+at /);
  });

  it("reads standard input", () => {
    const input = readFileSync(at("a.json"));
    expect(cli(["inspect", "-"], { input }).out).toBe(cli(["inspect", at("a.json")]).out);
    expect(cli(["inspect", "-"], { input: "" })).toMatchObject({ code: 3 });
    expect(cli(["hash", "-"], { input: '{"b":1,"a":2}' }).out).toBe(`${contentHash('{"a":2,"b":1}')}  -\n`);
    expect(cli(["diff", at("a.json"), "-"], { input })).toEqual({ code: 0, out: "", err: "" });
  });

  it("ends quietly when nobody reads on", async () => {
    for (let index = 0; index < 3_000; index += 1)
      appendFileSync(
        at("long.jsonl"),
        `${JSON.stringify({ timestamp: String(index), agent_name: "x".repeat(100) })}\n`,
      );
    const shown = await shell("rewind context show long.jsonl | head -1", folder);
    expect(shown).toEqual({ code: 0, out: expect.stringMatching(/^0 /), err: "" });
    const json = await shell("rewind context show --json long.jsonl | head -c 10", folder);
    expect(json).toMatchObject({ code: 0, err: "" });
    const restored = await shell("rewind restore a.jsonl | head -c 1", folder);
    expect(restored).toEqual({ code: 0, out: "{", err: "" });
    // What it found out counts nevertheless.
    const differing = await shell("rewind diff --json a.json b.json | head -c 1", folder);
    expect(differing).toEqual({ code: 1, out: "{", err: "" });
    expect(await shell("rewind inspect a.json > /dev/full", folder)).toMatchObject({
      code: expect.toSatisfy((code) => code !== 0),
    });
  });

  it("colors for terminals only, and not with NO_COLOR", () => {
    expect(cli(["inspect", at("a.json")]).out).not.toContain("\u001b");
    const inTerminal = (env: Record<string, string>): string =>
      spawnSync("script", ["-qec", `"${process.execPath}" "${BIN}" inspect "${at("a.json")}"`, "/dev/null"], {
        encoding: "utf8",
        env: { ...process.env, TERM: "xterm", NO_COLOR: "", ...env },
      }).stdout;
    expect(inTerminal({})).toContain("\u001b[1m");
    expect(inTerminal({ NO_COLOR: "1" })).not.toContain("\u001b");
    expect(inTerminal({ TERM: "dumb" })).not.toContain("\u001b");
  });
});

describe("inspect", () => {
  it("prints the tree, with status, time and tokens", () => {
    const { code, out } = cli(["inspect", "a.json"], inFolder);
    expect(code).toBe(0);
    const lines = out
      .trimEnd()
      .split("\n")
      .map((line) => line.replace(/\d+ ms/, "0 ms"));
    expect(lines[0]).toMatch(/^snapshot 0af7651916cd43dd8448eb211c80319c  \d{4}-/);
    expect(lines.slice(1)).toEqual([
      "root  running  2 calls  34 tokens",
      "├─ agent:traveller:0  completed  3 calls  34 tokens",
      "│  ├─ prompt:gpt:0  ok  0 ms  17 tokens",
      "│  ├─ tool:weather:0  ok  0 ms",
      "│  └─ prompt:gpt:1  ok  0 ms  17 tokens",
      "├─ http:bad\\u001b[31m:0  failed  0 ms  RangeError: no\\nsuch page",
      "└─ http:slow:0  in flight",
    ]);
  });

  it("prints names whole that have a slash", async () => {
    const trace: TraceEvent[] = [];
    const snapshot = await runWith(
      async () => {
        await runFrame({ id: "team/writer", input: {} }, () =>
          journalCall({ kind: "tool", name: "weather/forecast", request: {} }, () => 1),
        );
        await journalCall({ kind: "model", name: "openai/gpt-5", request: {} }, () => 2);
        return dumpSnapshot();
      },
      { enableSnapshot: true, eventBus: { emit: (event) => void trace.push(event) } },
    );
    for (const recording of [snapshot, trace]) {
      const { out } = cli(["inspect", "-"], { input: JSON.stringify(recording) });
      const names = out.split("\n").map((text) => text.replace(/ {2}(?:ok|completed|running).*/, ""));
      expect(names.slice(2, -1)).toEqual([
        "├─ agent:team/writer:0",
        "│  └─ tool:weather/forecast:0",
        "└─ model:openai/gpt-5:0",
      ]);
    }
  });

  it("does the same for a trace, as lines or as a list", () => {
    const { out } = cli(["inspect", "a.jsonl"], inFolder);
    expect(out).toMatch(/^trace restore:latest:\d+/);
    expect(out).toContain("│  ├─ tool:weather:0  ok");
    expect(out).toMatch(/http:bad\\u001b\[31m:0 {2}failed {2}\d+ ms {2}RangeError/);
    const events = readFileSync(at("a.jsonl"), "utf8").trimEnd().split("\n");
    expect(
      cli(["inspect", "-"], { input: ` [${events.join(",")}]` })
        .out.split("\n")
        .slice(1),
    ).toEqual(out.split("\n").slice(1));
  });

  it("gives JSON", () => {
    const { out } = cli(["inspect", "--json", "a.json"], inFolder);
    const given = JSON.parse(out) as { kind: string; metadata: object; rows: Record<string, unknown>[] };
    expect(given).toMatchObject({ kind: "snapshot", metadata: { release: "1.2.3" }, warnings: [] });
    expect(given.rows.map(({ row, depth, status }) => [row, depth, status])).toEqual([
      ["frame", 0, "running"],
      ["frame", 1, "completed"],
      ["call", 2, "ok"],
      ["call", 2, "ok"],
      ["call", 2, "ok"],
      ["call", 1, "failed"],
      ["call", 1, "in flight"],
    ]);
    expect(given.rows[2]).toMatchObject({ kind: "prompt", callId: "root/agent:traveller:0/prompt:gpt:0", tokens: 17 });
    expect(given.rows[2]).not.toHaveProperty("output");
  });

  it("takes huge files: 60 MB of them", { timeout: 60_000 }, () => {
    const snapshot = JSON.parse(readFileSync(at("a.json"), "utf8")) as ReturnType<typeof parseSnapshot>;
    const call = snapshot.root.calls?.[0] as NonNullable<typeof snapshot.root.calls>[number];
    const { request: _request, ...plain } = call;
    snapshot.root.calls = Array.from({ length: 30_000 }, (_, index) => ({
      ...plain,
      callId: `root/http:n:${index}`,
      error: { name: "E", message: "x".repeat(2_000) },
    }));
    writeFileSync(at("huge.json"), JSON.stringify(snapshot));
    const { code, out, err } = cli(["inspect", "huge.json"], inFolder);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out.split("\n").length).toBeGreaterThan(30_000);
    rmSync(at("huge.json"));
    const trace = readFileSync(at("a.jsonl"), "utf8");
    const start = trace.slice(0, trace.indexOf("\n"));
    writeFileSync(
      at("huge.jsonl"),
      `${trace}${`${JSON.stringify({ ...(JSON.parse(start) as object), type: "sys:log", message: "x".repeat(6_000) })}\n`.repeat(10_000)}`,
    );
    expect(cli(["inspect", "huge.jsonl"], inFolder)).toMatchObject({ code: 0, err: "" });
    rmSync(at("huge.jsonl"));
  });
});

describe("restore", () => {
  it("writes a snapshot to a file, or prints it", async () => {
    expect(cli(["restore", "a.jsonl", "-o", "restored.json"], inFolder)).toEqual({ code: 0, out: "", err: "" });
    const restored = await readSnapshot(at("restored.json"));
    expect(Object.keys(restored.root.children)).toEqual(["root/agent:traveller:0"]);
    const printed = parseSnapshot(cli(["restore", "a.jsonl"], inFolder).out);
    expect(printed.root).toEqual(restored.root);
    expect(JSON.parse(cli(["restore", "a.jsonl", "-o", "r.json", "--json"], inFolder).out)).toMatchObject({
      file: "r.json",
      warnings: [],
    });
  });

  it("goes to a span, before or after", () => {
    const events = readFileSync(at("a.jsonl"), "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { type: string; trace: { spanId: string } });
    const span = events.find(({ type }) => type === "tool:call:start")?.trace.spanId as string;
    const toolRows = (anchor: string): number =>
      Object.keys(
        parseSnapshot(cli(["restore", "a.jsonl", "--span", span, "--anchor", anchor], inFolder).out).root.journal.tool,
      ).length;
    expect([toolRows("before"), toolRows("after")]).toEqual([0, 1]);
  });

  it("tells of what was repaired on standard error", () => {
    writeFileSync(at("damaged.jsonl"), `${readFileSync(at("a.jsonl"), "utf8")}{"type":"agent:st`);
    const { code, out, err } = cli(["restore", "damaged.jsonl"], inFolder);
    expect(code).toBe(0);
    expect(err).toMatch(/^[a-z-]+: /);
    expect(parseSnapshot(out).warnings ?? []).toBeDefined();
  });
});

describe("diff", () => {
  it("ends with 0 where nothing differs but times, and 1 where something does", () => {
    expect(cli(["diff", "a.json", "same.json"], inFolder)).toEqual({ code: 0, out: "", err: "" });
    const { code, out } = cli(["diff", "a.json", "b.json"], inFolder);
    expect(code).toBe(1);
    expect(out).toContain("~ root/agent:traveller:0/prompt:gpt:0  request");
    expect(out).toMatch(/\/messages\/0\/content\/0\/text\n\s+- "what to wear"\n\s+\+ "what to eat"/);
    const { equal, changes } = JSON.parse(cli(["diff", "--json", "a.json", "b.json"], inFolder).out) as {
      equal: boolean;
      changes: { change: string; callId: string }[];
    };
    expect(equal).toBe(false);
    expect(changes.map(({ change, callId }) => [change, callId])).toEqual([
      ["request", "root/agent:traveller:0/prompt:gpt:0"],
      ["request", "root/agent:traveller:0/prompt:gpt:1"],
    ]);
  });

  it("names calls that are in one only, other outputs and other ends", () => {
    const snapshot = JSON.parse(readFileSync(at("a.json"), "utf8")) as ReturnType<typeof parseSnapshot>;
    snapshot.root.calls = snapshot.root.calls?.filter(({ callId }) => !callId.includes("slow")) ?? [];
    const child = snapshot.root.children["root/agent:traveller:0"] as typeof snapshot.root;
    const row = Object.values(child.journal.tool)[0] as { output: unknown };
    row.output = { city: "Oslo", celsius: 20 };
    child.state = { status: "failed", error: { name: "Error", message: "x" } };
    writeFileSync(at("edited.json"), JSON.stringify(snapshot));
    const { code, out } = cli(["diff", "a.json", "edited.json"], inFolder);
    expect(code).toBe(1);
    expect(out).toContain("- root/http:slow:0");
    expect(out).toMatch(/tool:weather:0 {2}output\n\s+\/celsius\n\s+- -3\n\s+\+ 20/);
    expect(out).toMatch(/traveller:0 {2}status\n\s+completed\n\s+failed: Error: x/);
    expect(cli(["diff", "edited.json", "a.json"], inFolder).out).toContain("+ root/http:slow:0");
  });
});

describe("context", () => {
  /** As Python's json.dumps(messages, sort_keys=True) writes them, by hand. */
  const hashFor = (text: string): string =>
    createHash("sha256")
      .update(`[{"content": "be kind", "role": "system"}, {"content": "${text}", "role": "user"}]`)
      .digest("hex")
      .slice(0, 16);
  const line = (agent: string, text: string, hash = hashFor(text)): string =>
    JSON.stringify({
      timestamp: "2026-11-29T17:51:48.011766Z",
      session_id: String(Math.floor(text.length)),
      agent_name: agent,
      messages: [
        { role: "system", content: "be kind" },
        { role: "user", content: text },
      ],
      tools: [],
      message_hash: hash,
      tools_hash: "4f53cda18c2baa0c",
    });

  beforeAll(() => {
    writeFileSync(at("one.jsonl"), `${line("writer", "hi")}\n${line("critic", "no")}\n`);
    writeFileSync(at("two.jsonl"), `${line("critic", "no")}\n${line("writer", "hi")}\n`);
    writeFileSync(at("three.jsonl"), `${line("writer", "hello")}\n`);
    for (const [name, text, mode] of [
      ["audit", "hi", "full"],
      ["hashes", "hi", "hashes"],
      ["changed-hashes", "ho", "hashes"],
    ] as const) {
      const log = openAuditLog(at(`${name}.jsonl`), { mode });
      for (const agent of ["writer", "critic"])
        log.append(JSON.parse(line(agent, agent === "critic" ? "no" : text)) as object);
      log.close();
    }
  });

  it("show lists what was sent, from either kind of log", () => {
    const { out } = cli(["context", "show", "one.jsonl", "hashes.jsonl"], inFolder);
    expect(out.trimEnd().split("\n")).toEqual([
      `2026-11-29T17:51:48.011766Z  writer  2  2 messages ${hashFor("hi")}  0 tools 4f53cda18c2baa0c`,
      `2026-11-29T17:51:48.011766Z  critic  2  2 messages ${hashFor("no")}  0 tools 4f53cda18c2baa0c`,
      `2026-11-29T17:51:48.011766Z  writer  2  2 messages ${hashFor("hi")}  0 tools 4f53cda18c2baa0c`,
      `2026-11-29T17:51:48.011766Z  critic  2  2 messages ${hashFor("no")}  0 tools 4f53cda18c2baa0c`,
    ]);
    const json = JSON.parse(cli(["context", "show", "--json", "audit.jsonl"], inFolder).out) as object[];
    expect(json[0]).toMatchObject({ line: 2, agent: "writer", messages: [{ role: "system" }, { role: "user" }] });
    appendFileSync(at("one.jsonl"), '{"timestamp":');
    const cut = cli(["context", "show", "one.jsonl"], inFolder);
    expect(cut).toMatchObject({ code: 0, err: "one.jsonl:3: a line that was cut off is passed over\n" });
    writeFileSync(
      at("one.jsonl"),
      readFileSync(at("one.jsonl"), "utf8")
        .replace('{"timestamp":\n', "")
        .replace(/\{"timestamp":$/, ""),
    );
  });

  it("show and verify compute the hashes anew", { timeout: 30_000 }, () => {
    const wrong = "0123456789abcdef";
    const records = [line("right", "hi"), line("wrong", "hi", wrong)];
    writeFileSync(at("plain.jsonl"), records.map((text) => `${text}\n`).join(""));
    const { out, code } = cli(["context", "show", "plain.jsonl"], inFolder);
    const [right, shown] = out.trimEnd().split("\n");
    expect(code).toBe(0);
    expect(right).toMatch(/0 tools 4f53cda18c2baa0c$/);
    expect(shown).toMatch(
      new RegExp(`4f53cda18c2baa0c  message_hash is ${wrong}, that of what is there ${hashFor("hi")}$`),
    );
    // Python writes 1.0 where JavaScript would write 1.
    const float = '[{"content": "be kind", "n": 1.0, "role": "system"}]';
    const floatHash = createHash("sha256").update(float).digest("hex").slice(0, 16);
    const floats = (hash: string): string => `{"agent_name": "f", "messages": ${float}, "message_hash": "${hash}"}\n`;
    writeFileSync(
      at("floats.jsonl"),
      floats(floatHash) + floats(floatHash.replace(/^./, (digit) => (digit === "0" ? "1" : "0"))),
    );
    const json = JSON.parse(cli(["context", "show", "--json", "floats.jsonl"], inFolder).out) as object[];
    expect(json.map((boundary) => "hashFaults" in boundary)).toEqual([false, true]);

    // The chain is right: it was written so.
    const log = openAuditLog(at("lying.jsonl"), {});
    for (const text of records) log.append(JSON.parse(text) as object);
    log.close();
    const verified = cli(["context", "verify", "lying.jsonl"], inFolder);
    expect(verified).toMatchObject({ code: 1, err: "" });
    expect(verified.out).toMatch(
      /^content {2}\S*lying\.jsonl:3: message_hash is 0123456789abcdef, that of .*\nnot ok {2}lying/,
    );
    expect(JSON.parse(cli(["context", "verify", "--json", "lying.jsonl"], inFolder).out)).toMatchObject([
      { ok: false, contentFaults: [{ line: 3, field: "message_hash", expected: wrong, actual: hashFor("hi") }] },
    ]);
    // What was redacted is not what was hashed.
    const redacted = openAuditLog(at("redacted.jsonl"), { redact: createRedactor() });
    redacted.append(JSON.parse(line("a", ["gh", "p_", "aB3dE5gH7j".repeat(4)].join(""))) as object);
    redacted.close();
    expect(cli(["context", "verify", "redacted.jsonl"], inFolder).code).toBe(0);
  });

  it("diff ends with 1 where contexts differ between two releases", () => {
    expect(cli(["context", "diff", "one.jsonl", "two.jsonl"], inFolder)).toEqual({ code: 0, out: "", err: "" });
    const { code, out } = cli(["context", "diff", "one.jsonl", "two.jsonl", "three.jsonl"], inFolder);
    expect(code).toBe(1);
    expect(out).toContain(
      `~ writer 0  messages  (1)  one.jsonl:1 ${hashFor("hi")} → three.jsonl:1 ${hashFor("hello")}`,
    );
    expect(out).toMatch(/\/1\/content\n\s+- "hi"\n\s+\+ "hello"/);
    expect(out).toContain("- critic 0  one.jsonl:2");
    const [first, second] = JSON.parse(
      cli(["context", "diff", "--json", "one.jsonl", "two.jsonl", "three.jsonl"], inFolder).out,
    ) as { equal: boolean }[];
    expect([first?.equal, second?.equal]).toEqual([true, false]);
  });

  it("diff knows by hashes which message differs", () => {
    expect(cli(["context", "diff", "hashes.jsonl", "hashes.jsonl"], inFolder).code).toBe(0);
    const { code, out } = cli(["context", "diff", "hashes.jsonl", "changed-hashes.jsonl"], inFolder);
    expect(code).toBe(1);
    expect(out).toContain("~ writer 0  messages  (1)");
    expect(out).not.toContain("hi");
    // With content on one side, and hashes on the other.
    expect(cli(["context", "diff", "audit.jsonl", "hashes.jsonl"], inFolder)).toMatchObject({ code: 0, out: "" });
  });

  it("verify ends with 1 for a log that was changed", () => {
    const { code, out } = cli(["context", "verify", "audit.jsonl", "hashes.jsonl"], inFolder);
    expect(code).toBe(0);
    expect(out).toMatch(/^ok {2}audit\.jsonl {2}2 records, 1 file, head 2:[0-9a-f]{64}\nok {2}hashes/);
    const [, head] = /head (\S+)/.exec(out) as unknown as [string, string];
    expect(cli(["context", "verify", "audit.jsonl", "--head", head], inFolder).code).toBe(0);
    expect(cli(["context", "verify", "-"], { input: readFileSync(at("audit.jsonl")) }).code).toBe(0);
    writeFileSync(at("bad.jsonl"), readFileSync(at("audit.jsonl"), "utf8").replace("be kind", "be rude"));
    const bad = cli(["context", "verify", "bad.jsonl"], inFolder);
    expect(bad).toMatchObject({ code: 1, err: "" });
    expect(bad.out).toMatch(/^changed {2}bad\.jsonl:2: the line is not what was written/);
    expect(JSON.parse(cli(["context", "verify", "--json", "bad.jsonl"], inFolder).out)).toMatchObject([
      { log: "bad.jsonl", ok: false, problem: { kind: "changed", line: 2 } },
    ]);
    // Records without a chain are no audit log.
    expect(cli(["context", "verify", "one.jsonl"], inFolder).code).toBe(1);
  });

  it("verify takes the key from the environment or a file", () => {
    const log = openAuditLog(at("keyed.jsonl"), { key: "pepper" });
    log.append({ a: 1 });
    log.close();
    writeFileSync(at("key"), "pepper\n");
    expect(cli(["context", "verify", "keyed.jsonl"], inFolder)).toMatchObject({
      code: 3,
      err: expect.stringContaining("was written with a key"),
    });
    expect(cli(["context", "verify", "keyed.jsonl", "--key-file", "key"], inFolder).code).toBe(0);
    expect(
      cli(["context", "verify", "keyed.jsonl", "--key-env", "AUDIT_KEY"], { ...inFolder, env: { AUDIT_KEY: "pepper" } })
        .code,
    ).toBe(0);
    expect(
      cli(["context", "verify", "keyed.jsonl", "--key-env", "AUDIT_KEY"], { ...inFolder, env: { AUDIT_KEY: "salt" } })
        .code,
    ).toBe(1);
    expect(existsSync(at("keyed.jsonl.lock"))).toBe(false);
  });
});
