// The files that the monitor writes.
import { spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { createAgent, equipInstruction, promptAgent, runWith } from "agent-rewind";
import { ContextManager, type ManagerConfig } from "agent-rewind/context";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";

import { temporaryFolder } from "../support/process.js";
import { result, scriptedModel } from "../support/scripted-model.js";

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "agent-rewind-monitor-"));
  path = join(folder, "context.txt");
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const monitored = (config: Partial<ManagerConfig> = {}, options: object = {}): ContextManager =>
  new ContextManager({ config: { monitorEnabled: true, monitorPath: path, ...config }, ...options });

interface Sample {
  id: string;
  messages: unknown[];
  tools: unknown[];
  session_id: string;
  agent_name: string;
  model: string;
  timestamp: string;
  files: Record<"human" | "json" | "human_noredact" | "json_noredact", string>;
}

const fixture = (name: string): string =>
  readFileSync(new URL(`../fixtures/snapshot-hooks/monitor/${name}`, import.meta.url), "utf8");
const { samples } = JSON.parse(fixture("index.json")) as { samples: Sample[] };

/** Fields that this package writes beyond the format of the source. */
const ADDED = {
  human: /^(?:Message|Tools) Hash: [0-9a-f]{16}\n/gm,
  json: /^ {2}"(?:message|tools)_hash": "[0-9a-f]{16}",\n/gm,
};
const TIMESTAMP = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z/;

describe("the file formats of the monitor", () => {
  it.each(samples.flatMap((sample) => (["human", "json"] as const).map((format) => ({ ...sample, format }))))(
    "$id, $format: match the source exactly, plus the two hashes",
    ({ format, ...sample }) => {
      // The secrets that the redaction of the source finds in the samples.
      const redactor = (text: string): string => text.replaceAll(/y{40,}/g, "[REDACTED]");
      for (const redactSensitive of [true, false]) {
        const manager = monitored(
          { monitorFormat: format, monitorWriteMode: "sync", redactSensitive },
          { redactor, model: sample.model, sessionId: sample.session_id, agentName: sample.agent_name },
        );
        const { messageHash, toolsHash } = manager.captureLlmBoundary(sample.messages, sample.tools);
        const written = readFileSync(path, "utf8");
        const wanted = fixture(sample.files[redactSensitive ? format : (`${format}_noredact` as const)]);
        expect(written.replace(ADDED[format], "").replace(TIMESTAMP, sample.timestamp)).toBe(wanted);
        expect(written.match(ADDED[format])).toHaveLength(2);
        expect(written).toContain(messageHash);
        expect(written).toContain(toolsHash);
      }
    },
  );

  it("show tool calls, content parts and values that do not fit on a line", () => {
    const manager = monitored({ monitorWriteMode: "sync" });
    manager.captureLlmBoundary([
      { role: "assistant", content: null, tool_calls: [{ id: "1", function: { name: "look", arguments: '{"a":1}' } }] },
      {
        role: "user",
        content: [
          { type: "text", text: "see" },
          { type: "image_url", image_url: { url: "data:" } },
        ],
      },
      "no object",
      { role: "tool", content: "x".repeat(300) },
    ]);
    const lines = readFileSync(path, "utf8")
      .split("\n")
      .filter((line) => /^\[\d+\]/.test(line));
    expect(lines).toEqual([
      '[1] ASSISTANT: -> look({"a":1})',
      "[2] USER: see [image_url]",
      "[3] no object",
      `[4] TOOL: ${"x".repeat(200)}...`,
    ]);
  });

  it("redact secrets by the rules of agent-rewind/redact unless disabled", () => {
    const secret = ["gh", "p_", "a1B2".repeat(9)].join("");
    const content = `the token is ${secret}, and the token count is 5`;
    const written = (redactSensitive: boolean): string => {
      const manager = monitored({ monitorWriteMode: "sync", monitorFormat: "json", redactSensitive }, {});
      manager.captureLlmBoundary([{ role: "user", content }]);
      return readFileSync(path, "utf8");
    };
    expect(written(true)).not.toContain(secret);
    expect(written(true)).toMatch(/the token is \[redacted:github-key:[0-9a-f]+\], and the token count is 5/);
    expect(written(false)).toContain(content);
  });

  it("redact single values too, but never the captured snapshot itself", () => {
    const value = (given: unknown): unknown =>
      JSON.parse(JSON.stringify(given).replaceAll("key-123", "***")) as unknown;
    const manager = monitored({ monitorWriteMode: "sync", monitorFormat: "json" }, { redactor: { value } });
    const data = manager.captureLlmBoundary([{ role: "user", content: "my key-123" }]);
    expect(data.messages).toEqual([{ role: "user", content: "my key-123" }]);
    const written = JSON.parse(readFileSync(path, "utf8")) as { history: unknown; message_hash: string };
    expect(written.history).toEqual([{ role: "user", content: "my ***" }]);
    expect(written.message_hash).toBe(data.messageHash);
  });
});

describe("the monitor file", () => {
  it.skipIf(process.platform === "win32").each(["sync", "async"] as const)(
    "keeps its mode and the link to it, written %s",
    async (monitorWriteMode) => {
      const target = join(folder, "target.json");
      for (const mode of [undefined, 0o640, 0o644]) {
        rmSync(target, { force: true });
        rmSync(path, { force: true });
        symlinkSync(target, path);
        if (mode !== undefined) {
          writeFileSync(target, "old");
          chmodSync(target, mode);
        }
        const manager = monitored({ monitorFormat: "json", monitorWriteMode });
        manager.captureLlmBoundary([{ role: "user", content: "x" }]);
        await manager.flush();
        expect(lstatSync(path).isSymbolicLink()).toBe(true);
        expect(statSync(target).mode & 0o777).toBe(mode ?? 0o600);
        expect(readFileSync(target, "utf8")).not.toBe("old");
      }
    },
  );

  it("is private to its owner and contains the last state after few writes", async () => {
    const manager = monitored({ monitorFormat: "json" });
    const before = Date.now();
    for (let index = 0; index < 500; index++) manager.captureLlmBoundary([{ role: "user", content: `${index}` }]);
    expect(readdirSync(folder)).toEqual([]);
    await manager.flush();
    expect(Date.now()).toBeGreaterThanOrEqual(before);
    expect((JSON.parse(readFileSync(path, "utf8")) as { history: unknown[] }).history).toEqual([
      { role: "user", content: "499" },
    ]);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(["context.txt"]);
  });

  it("does not disturb the run if it cannot be written", async () => {
    const onError = vi.fn<(error: unknown) => void>();
    writeFileSync(join(folder, "file"), "");
    const manager = monitored({ monitorPath: join(folder, "file", "context.txt") }, { onError });
    manager.captureLlmBoundary([]);
    expect(await manager.flush()).toBe(true);
    expect(onError.mock.calls[0]?.[0]).toHaveProperty("code", expect.stringMatching("ENOTDIR|EEXIST"));
  });

  it("is separate for each agent", async () => {
    const manager = monitored({ monitorFormat: "json" });
    const names = ["Agent A", "agent-a", "日本", "../../etc/passwd", "a/b", "x".repeat(300), "?!"];
    const model = scriptedModel("m", () => result("fine"));
    const agents = names.map((id) =>
      createAgent({
        id,
        handler: async () => {
          equipInstruction(`I am ${id}`);
          return promptAgent(z.object({ result: z.string() }));
        },
      }),
    );
    await runWith(() => Promise.all(agents.map((agent) => agent())), { model });
    await manager.close();
    const files = readdirSync(folder);
    expect(files).toHaveLength(names.length);
    expect(files).toEqual(
      expect.arrayContaining(["context_agent_a.txt", "context_日本.txt", "context_etc_passwd.txt"]),
    );
    const owners = files.map((file) => {
      const written = JSON.parse(readFileSync(join(folder, file), "utf8")) as { agent_name: string; history: unknown };
      expect(JSON.stringify(written.history)).toContain(`I am ${written.agent_name}`);
      return written.agent_name;
    });
    expect(owners.sort()).toEqual(names.toSorted());
  });

  it("keeps both snapshots of a process call", async () => {
    const manager = monitored({ snapshotTiming: "both", monitorFormat: "json" }, { models: { m: 9_000 }, model: "m" });
    manager.process(Array.from({ length: 30 }, () => ({ role: "user", content: "word ".repeat(50) })));
    await manager.flush();
    const turns = (name: string): number =>
      (JSON.parse(readFileSync(join(folder, name), "utf8")) as { history_turn_count: number }).history_turn_count;
    expect(turns("context.pre_optimization.txt")).toBe(30);
    expect(turns("context.txt")).toBeLessThan(30);
  });

  it.each([
    ["turn", ["said", "answered", "full"]],
    ["tool_call", ["answered"]],
    ["overflow", ["full"]],
    ["manual", []],
  ] as const)("is written with frequency %s", (monitorFrequency, wanted) => {
    const written: string[] = [];
    const contents = {
      said: [{ role: "user", content: "hi" }],
      answered: [{ role: "tool", tool_call_id: "1", content: "ok" }],
      full: [{ role: "user", content: "word ".repeat(1_000) }],
    };
    const manager = monitored({ monitorFrequency, monitorWriteMode: "sync" }, { model: "m", models: { m: 9_000 } });
    for (const [name, messages] of Object.entries(contents)) {
      manager.captureLlmBoundary(messages);
      if (readdirSync(folder).length > 0) written.push(name);
      rmSync(path, { force: true });
    }
    expect(written).toEqual(wanted);
    expect(manager.writeMonitor()).toBe(path);
    expect(readdirSync(folder)).toEqual(["context.txt"]);
  });
});

/** A program that captures endlessly or a given number of times, and prints a line when it has begun. */
const PROGRAM = `
  import { ContextManager } from "agent-rewind/context";
  const [path, name, times] = process.argv.slice(2);
  const manager = new ContextManager({
    sessionId: name,
    config: { monitorEnabled: true, monitorPath: path, monitorFormat: "json" },
    onError: (error) => { console.log(String(error)); process.exitCode = 3; },
  });
  const capture = (index) => manager.captureLlmBoundary([{ role: "user", content: name + " " + index + " " + "x".repeat(200_000) }]);
  let index = 0;
  if (times === "exit") { capture(1); process.exit(0); }
  const next = () => {
    capture(index++);
    if (index === 3) console.log("begun");
    if (index < Number(times)) setImmediate(next);
  };
  next();
`;

describe("child processes that write the monitor file", () => {
  let program: string;
  let programFolder: string;

  beforeEach(() => {
    programFolder = temporaryFolder();
    program = join(programFolder, "capture.mjs");
    writeFileSync(program, PROGRAM);
  });

  afterEach(() => rmSync(programFolder, { recursive: true, force: true }));

  const start = (name: string, times: string) =>
    spawn(process.execPath, [program, path, name, times], { stdio: ["ignore", "pipe", "inherit"] });

  function whole(): { history: [{ content: string }]; session_id: string } {
    return JSON.parse(readFileSync(path, "utf8")) as ReturnType<typeof whole>;
  }

  it(
    "leave a complete file when they are killed, and their temporary files are cleared",
    { timeout: 240_000 },
    async () => {
      for (let round = 0; round < 100; round++) {
        const child = start(`p${round}`, "1000000");
        await new Promise((resolve) => child.stdout.once("data", resolve));
        await new Promise((resolve) => setTimeout(resolve, (round % 20) * 3));
        const closed = new Promise((resolve) => child.once("close", resolve));
        child.kill("SIGKILL");
        await closed;
        if (readdirSync(folder).includes("context.txt")) {
          expect(whole().history[0].content).toMatch(/^p\d+ \d+ x{200000}$/);
        }
      }
      expect(spawnSync(process.execPath, [program, path, "last", "exit"]).status).toBe(0);
      expect(whole().history[0].content).toMatch(/^last 1 /);
      expect(readdirSync(folder)).toEqual(["context.txt"]);
    },
  );

  it(
    "write one path from eight processes without an error, and the file is complete",
    { timeout: 60_000 },
    async () => {
      const children = Array.from({ length: 8 }, (_, index) => start(`p${index}`, "30"));
      const output: string[] = [];
      for (const child of children) child.stdout.on("data", (data: Buffer) => output.push(String(data)));
      const codes = await Promise.all(
        children.map((child) => new Promise<number | null>((resolve) => child.once("close", resolve))),
      );
      expect(codes).toEqual([0, 0, 0, 0, 0, 0, 0, 0]);
      expect(output.join("").replaceAll("begun\n", "")).toBe("");
      expect(whole().history[0].content).toMatch(/^p\d 29 x{200000}$/);
      expect(readdirSync(folder)).toEqual(["context.txt"]);
    },
  );
});
