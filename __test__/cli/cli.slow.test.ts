import { spawnSync } from "node:child_process";
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { journalCall, runFrame, runWith, type TraceEvent } from "agent-rewind";
import { openAuditLog } from "agent-rewind/audit";
import { contentHash, dumpSnapshot, parseSnapshot, readSnapshot } from "agent-rewind/debugger";
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

describe("agent-rewind command", () => {
  it("prints its usage", () => {
    for (const args of [["--help"], ["-h"], ["help"], [], ["inspect", "--help"], ["context", "-h"]]) {
      const { code, out } = cli(args);
      expect(code).toBe(0);
      expect(out).toMatch(/^Usage: agent-rewind/);
    }
    expect(cli(["--version"]).out).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it.each([
    ["inspect", /--why/, /--span/],
    ["restore", /--anchor before\|after/, /--why/],
    ["to-test", /--model/, /--span/],
    ["diff", /--trace <id>/, /--anchor/],
    ["hash", /contentHash/, /--trace/],
    ["context", /verify <log…>[^]*--partial/, /--trace/],
  ])("prints the help of %s alone", (command, own, other) => {
    for (const args of [
      [command, "--help"],
      [command, "file", "-h"],
    ]) {
      const { code, out } = cli(args);
      expect(code).toBe(0);
      expect(out).toMatch(own);
      expect(out).not.toMatch(other);
      expect(out).toContain("--json");
    }
  });

  it.each([
    [["explode"], /unknown command "explode"/],
    [["constructor"], /unknown command "constructor"/],
    [["inspect"], /inspect takes 1 file, received 0/],
    [["inspect", "a", "b"], /inspect takes 1 file, received 2/],
    [["inspect", "a", "--wrong"], /Unknown option '--wrong'\n/],
    [["hash"], /hash takes at least 1 file, received 0/],
    [["diff", "a"], /diff takes 2 files/],
    [["diff", "-", "-"], /standard input can be used only once/],
    [["restore", "a", "--anchor", "middle"], /--anchor must be/],
    [["restore", "a", "--anchor", "before"], /--anchor needs --span/],
    [["context"], /context needs a subcommand/],
    [["context", "toString"], /context needs a subcommand/],
    [["context", "verify", "a", "--head", "x"], /--head must be/],
    [["context", "verify", "a", "--key-env", "NOT_SET_AT_ALL"], /environment variable NOT_SET_AT_ALL is not set/],
  ])("exits with 2 for %j", (args, message) => {
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
  ])("exits with 3 and one line that names the input for %s %s", (...args) => {
    const { code, out, err } = cli(args, inFolder);
    expect({ code, out }).toEqual({ code: 3, out: "" });
    expect(err.trimEnd().split("\n")).toHaveLength(1);
    expect(err).toMatch(/^agent-rewind: /);
    expect(err).not.toMatch(/\n\s+at /);
  });

  it("selects a run of a trace with several by --trace", () => {
    const traces = ["a", "b"].map((name) => readFileSync(at(`${name}.jsonl`), "utf8"));
    // A second run with an id of its own.
    const second = "1".repeat(32);
    writeFileSync(
      at("both.jsonl"),
      traces[0] + (traces[1] as string).replaceAll("0af7651916cd43dd8448eb211c80319c", second),
    );
    const first = "0af7651916cd43dd8448eb211c80319c";
    const shown = (...args: string[]): string => cli(["inspect", "both.jsonl", ...args], inFolder).out;
    const tree = (text: string): string[] => text.split("\n").filter((line) => /^root|[├└]/.test(line));
    expect(tree(shown("--trace", second))).toEqual(tree(shown()));
    expect(JSON.parse(shown("--trace", first, "--json"))).toMatchObject({ provenance: { traceId: first } });
    expect(JSON.parse(shown("--trace", second, "--json"))).toMatchObject({ provenance: { traceId: second } });
    const equal = { code: 0, out: "", err: "" };
    const compare = (...args: string[]) => cli(["diff", "both.jsonl", ...args], inFolder);
    expect(compare("both.jsonl", "--trace", first)).toEqual(equal);
    expect(compare("a.jsonl", "--trace", first)).toEqual(equal);
    expect(compare("both.jsonl", "--trace", first, "--trace", second)).toEqual(
      cli(["diff", "a.jsonl", "b.jsonl"], inFolder),
    );
    const unknown = "2".repeat(32);
    expect(cli(["inspect", "both.jsonl", "--trace", unknown], inFolder)).toMatchObject({
      code: 3,
      err: expect.stringContaining(unknown) as string,
    });
    expect(cli(["inspect", "a.json", "--trace", unknown], inFolder)).toMatchObject({
      code: 3,
      err: expect.stringContaining("this is a snapshot of the run") as string,
    });
    expect(
      cli(["diff", "a.json", "a.json", "--trace", first, "--trace", first, "--trace", first], inFolder),
    ).toMatchObject({ code: 2 });
  });

  it.each([
    ["restore", "a.json", /this is a snapshot, not a trace: "agent-rewind inspect" shows it/],
    ["to-test", "a.json", /this is a snapshot, not a trace/],
    ["diff", "log", /this is an audit log/],
    [
      "restore",
      "recorded.jsonl",
      /this is the recording of a vitest test, not a trace: "agent-rewind inspect" shows it/,
    ],
    ["context show", "a.json", /this is a snapshot, not an audit log: "agent-rewind inspect" shows it/],
    ["context show", "a.jsonl", /this is a trace, not an audit log: "agent-rewind inspect" shows it/],
    ["context diff", "recorded.jsonl", /this is the recording of a vitest test/],
  ])("says for %s which command reads %s", (command, file, message) => {
    const log = openAuditLog(at("log"));
    log.append({ a: 1 });
    log.close();
    writeFileSync(at("recorded.jsonl"), '{"format":"agent-rewind recording","version":1,"test":"t"}\n');
    const files = command.endsWith("diff") ? [file, file] : [file];
    const more = command === "to-test" ? ["-o", "x.test.ts", "--call", "./x.ts#x"] : [];
    const { code, out, err } = cli([...command.split(" "), ...files, ...more], inFolder);
    expect({ code, out }).toEqual({ code: 3, out: "" });
    expect(err).toMatch(message);
  });

  it("reads standard input", () => {
    const input = readFileSync(at("a.json"));
    expect(cli(["inspect", "-"], { input }).out).toBe(cli(["inspect", at("a.json")]).out);
    expect(cli(["inspect", "-"], { input: "" })).toMatchObject({ code: 3 });
    expect(cli(["hash", "-"], { input: '{"b":1,"a":2}' }).out).toBe(`${contentHash('{"a":2,"b":1}')}  -\n`);
    expect(cli(["diff", at("a.json"), "-"], { input })).toEqual({ code: 0, out: "", err: "" });
  });

  it("exits quietly when the reader of its output closes the pipe", async () => {
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
    // The exit code still reflects the result.
    const differing = await shell("rewind diff --json a.json b.json | head -c 1", folder);
    expect(differing).toEqual({ code: 1, out: "{", err: "" });
    expect(await shell("rewind inspect a.json > /dev/full", folder)).toMatchObject({
      code: expect.toSatisfy((code) => code !== 0),
    });
  });

  it("uses colors only on terminals and respects NO_COLOR", () => {
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
  it("prints the tree with status, time and tokens", () => {
    const { code, out } = cli(["inspect", "a.json"], inFolder);
    expect(code).toBe(0);
    const lines = out
      .trimEnd()
      .split("\n")
      .map((line) => line.replace(/\d+ ms/, "0 ms"));
    expect(lines[0]).toMatch(/^snapshot 0af7651916cd43dd8448eb211c80319c  \d{4}-/);
    expect(lines.slice(1)).toEqual([
      "root  running  2 calls  34 tokens (own 0)",
      '├─ agent:traveller:0  completed  3 calls  34 tokens  {"question":"what to wear"}',
      '│  ├─ prompt:gpt:0  ok  0 ms  17 tokens  #1  what to wear → weather({"city":"Oslo"})',
      '│  ├─ tool:weather:0  ok  0 ms  #2  {"city":"Oslo"} → {"celsius":-3,"city":"Oslo"}',
      '│  └─ prompt:gpt:1  ok  0 ms  17 tokens  #3  {"city":"Oslo","celsius":-3} → {"result":"a coat"}',
      "├─ http:bad\\u001b[31m:0  failed  0 ms  #4  RangeError: no\\nsuch page  1",
      "└─ http:slow:0  in flight  #5  2",
    ]);
  });

  it("prints names with a slash in full", async () => {
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

  it("tells with --why which calls a replay does not answer", async () => {
    const trace: TraceEvent[] = [];
    const ask = (name: string, make: () => unknown): Promise<unknown> =>
      journalCall({ kind: "step", name, request: {} }, make);
    await runWith(
      async () => {
        await ask("good", () => 1);
        await ask("handled", () => Promise.reject(new Error("no"))).catch(() => {});
        await ask("callback", () => () => {});
        void ask("open", () => new Promise(() => {}));
        await journalCall({ kind: "step", name: "vague", request: { callback: () => {} } }, () => 1);
        await ask("last", () => Promise.reject(new RangeError("broken")));
      },
      { enableSnapshot: true, eventBus: { emit: (event) => void trace.push(event) } },
    ).catch(() => {});
    const input = JSON.stringify(trace);
    const { out } = cli(["inspect", "--why", "-"], { input });
    const lines = out.split("\n").map((text) => text.replace(/ {2}(?:at )?\d+ ms/g, ""));
    expect(lines.slice(2)).toEqual([
      "├─ step:good:0  ok  #1  1",
      "├─ step:handled:0  failed  #2  Error: no",
      "├─ step:callback:0  not kept  #3  the value: function",
      "│  why: its result could not be recorded (the value: function): a replay executes it again",
      "├─ step:open:0  in flight  #4",
      "│  why: it had started and not ended: a resumed run executes it again",
      expect.stringMatching(/^├─ step:vague:0 {2}ok/),
      expect.stringMatching(/^│ {2}why: its hash does not cover its request \(\/callback: function\): replay flag 1/),
      "└─ step:last:0  failed  #6  RangeError: broken",
      '   why: the run ended with this failure: a resumed run executes it again, unless it runs with failures: "replay"',
      "",
    ]);
    const { rows } = JSON.parse(cli(["inspect", "--why", "--json", "-"], { input }).out) as {
      rows: { why?: string }[];
    };
    expect(rows.map(({ why }) => why?.split(":")[0])).toEqual([
      undefined,
      undefined,
      undefined,
      "its result could not be recorded (the value",
      "it had started and not ended",
      "its hash does not cover its request (/callback",
      "the run ended with this failure",
    ]);
  });

  it("prints the same for a trace, as lines or as a list", () => {
    const { out } = cli(["inspect", "a.jsonl"], inFolder);
    expect(out).toMatch(/^trace restore:latest:\d+/);
    expect(out).toContain("│  ├─ tool:weather:0  ok");
    expect(out).toMatch(/http:bad\\u001b\[31m:0 {2}failed {2}\d+ ms {2}at \d+ ms {2}#4 {2}RangeError/);
    const events = readFileSync(at("a.jsonl"), "utf8").trimEnd().split("\n");
    expect(
      cli(["inspect", "-"], { input: ` [${events.join(",")}]` })
        .out.split("\n")
        .slice(1),
    ).toEqual(out.split("\n").slice(1));
  });

  it("prints JSON", () => {
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

  it("reads files of 60 MB", { timeout: 60_000 }, () => {
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
  it("writes a snapshot to a file or to standard output", async () => {
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

  it("restores to a span, before or after it", () => {
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

  it("prints the repairs of the trace on standard error", () => {
    writeFileSync(at("damaged.jsonl"), `${readFileSync(at("a.jsonl"), "utf8")}{"type":"agent:st`);
    const { code, out, err } = cli(["restore", "damaged.jsonl"], inFolder);
    expect(code).toBe(0);
    expect(err).toMatch(/^[a-z-]+: /);
    expect(parseSnapshot(out).warnings ?? []).toBeDefined();
  });
});

describe("diff", () => {
  it("exits with 0 if only times differ and with 1 otherwise", () => {
    expect(cli(["diff", "a.json", "same.json"], inFolder)).toEqual({ code: 0, out: "", err: "" });
    const { code, out } = cli(["diff", "a.json", "b.json"], inFolder);
    expect(code).toBe(1);
    expect(out).toContain("~ root/agent:traveller:0/prompt:gpt:0  request");
    expect(out).toMatch(
      /\/messages\/0\/content\/0\/text\n\s+model gpt\n\s+user:\n\s+- what to wear\n\s+\+ what to eat/,
    );
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

  it("lists calls that only one snapshot has, different outputs and different ends", () => {
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
