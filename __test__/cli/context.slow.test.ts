import { createHash } from "node:crypto";
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { openAuditLog } from "agent-rewind/audit";
import { createRedactor } from "agent-rewind/redact";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { cli } from "./support.js";

const folder = mkdtempSync(join(tmpdir(), "rewind-cli-"));
const at = (name: string): string => join(folder, name);
afterAll(() => rmSync(folder, { recursive: true }));

const inFolder = { cwd: folder };

describe("agent-rewind context", () => {
  /** The output of Python's json.dumps(messages, sort_keys=True), written by hand. */
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

  it("show lists the sent contexts from both kinds of log", () => {
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
    expect(cut).toMatchObject({ code: 0, err: "one.jsonl:3: skipped an incomplete line\n" });
    writeFileSync(
      at("one.jsonl"),
      readFileSync(at("one.jsonl"), "utf8")
        .replace('{"timestamp":\n', "")
        .replace(/\{"timestamp":$/, ""),
    );
  });

  it("show and verify recompute the hashes", { timeout: 30_000 }, () => {
    const wrong = "0123456789abcdef";
    const records = [line("right", "hi"), line("wrong", "hi", wrong)];
    writeFileSync(at("plain.jsonl"), records.map((text) => `${text}\n`).join(""));
    const { out, code } = cli(["context", "show", "plain.jsonl"], inFolder);
    const [right, shown] = out.trimEnd().split("\n");
    expect(code).toBe(0);
    expect(right).toMatch(/0 tools 4f53cda18c2baa0c$/);
    expect(shown).toMatch(
      new RegExp(`4f53cda18c2baa0c  message_hash is ${wrong}, but the content has ${hashFor("hi")}$`),
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

    // The chain is valid because the wrong hash was written by the log itself.
    const log = openAuditLog(at("lying.jsonl"), {});
    for (const text of records) log.append(JSON.parse(text) as object);
    log.close();
    const verified = cli(["context", "verify", "lying.jsonl"], inFolder);
    expect(verified).toMatchObject({ code: 1, err: "" });
    expect(verified.out).toMatch(
      /^content {2}\S*lying\.jsonl:3: message_hash is 0123456789abcdef, but the content has .*\nnot ok {2}lying/,
    );
    expect(JSON.parse(cli(["context", "verify", "--json", "lying.jsonl"], inFolder).out)).toMatchObject([
      { ok: false, contentFaults: [{ line: 3, field: "message_hash", expected: wrong, actual: hashFor("hi") }] },
    ]);
    // Redacted content differs from the content that was hashed.
    const redacted = openAuditLog(at("redacted.jsonl"), { redact: createRedactor() });
    redacted.append(JSON.parse(line("a", ["gh", "p_", "aB3dE5gH7j".repeat(4)].join(""))) as object);
    redacted.close();
    expect(cli(["context", "verify", "redacted.jsonl"], inFolder).code).toBe(0);
  });

  it("diff exits with 1 if contexts differ between two releases", () => {
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

  it("diff finds the changed message by hashes", () => {
    expect(cli(["context", "diff", "hashes.jsonl", "hashes.jsonl"], inFolder).code).toBe(0);
    const { code, out } = cli(["context", "diff", "hashes.jsonl", "changed-hashes.jsonl"], inFolder);
    expect(code).toBe(1);
    expect(out).toContain("~ writer 0  messages  (1)");
    expect(out).not.toContain("hi");
    // One side has the content, the other only the hashes.
    expect(cli(["context", "diff", "audit.jsonl", "hashes.jsonl"], inFolder)).toMatchObject({ code: 0, out: "" });
  });

  it("verify exits with 1 for a changed log", () => {
    const { code, out } = cli(["context", "verify", "audit.jsonl", "hashes.jsonl"], inFolder);
    expect(code).toBe(0);
    expect(out).toMatch(/^ok {2}audit\.jsonl {2}2 records, 1 file, head 2:[0-9a-f]{64}\nok {2}hashes/);
    const [, head] = /head (\S+)/.exec(out) as unknown as [string, string];
    expect(cli(["context", "verify", "audit.jsonl", "--head", head], inFolder).code).toBe(0);
    expect(cli(["context", "verify", "-"], { input: readFileSync(at("audit.jsonl")) }).code).toBe(0);
    writeFileSync(at("bad.jsonl"), readFileSync(at("audit.jsonl"), "utf8").replace("be kind", "be rude"));
    const bad = cli(["context", "verify", "bad.jsonl"], inFolder);
    expect(bad).toMatchObject({ code: 1, err: "" });
    expect(bad.out).toMatch(/^changed {2}bad\.jsonl:2: the line was changed after it was written/);
    expect(JSON.parse(cli(["context", "verify", "--json", "bad.jsonl"], inFolder).out)).toMatchObject([
      { log: "bad.jsonl", ok: false, problem: { kind: "changed", line: 2 } },
    ]);
    // Records without a chain are not an audit log.
    expect(cli(["context", "verify", "one.jsonl"], inFolder).code).toBe(1);
  });

  it("verify takes the key from the environment or from a file", () => {
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
