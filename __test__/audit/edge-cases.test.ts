import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { openAuditLog, verifyLog } from "agent-rewind/audit";
import { createRedactor, type Redactor } from "agent-rewind/redact";
import { afterAll, expect, it } from "vitest";

const folder = mkdtempSync(join(tmpdir(), "rewind-audit-"));
afterAll(() => rmSync(folder, { recursive: true }));
const at = (name: string): string => join(folder, name);
const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

it("verifyLog accepts a log whose files are rotated while it reads them", async () => {
  const log = openAuditLog(at("busy.jsonl"), { maxBytes: 1_024 });
  const write = (): void => void log.append({ text: "x".repeat(300) });
  for (let round = 0; round < 20; round++) {
    write();
    const verified = verifyLog(log.path);
    for (let count = 0; count < 8; count++) {
      write();
      await nextTurn();
    }
    expect((await verified).problem).toBeUndefined();
  }
  const { head } = log;
  log.close();
  const report = await verifyLog(log.path, { head });
  expect(report).toMatchObject({ ok: true, records: 180, head });
  expect(new Set(report.files).size).toBe(report.files.length);
});

it("verifyLog does not treat changed complete lines as the partial write of a killed process", async () => {
  const log = openAuditLog(at("lines.jsonl"));
  log.append({ a: 1 });
  log.close();
  writeFileSync(log.path, readFileSync(log.path, "utf8").replaceAll("\n", "\r\n"));
  expect(await verifyLog(log.path)).toMatchObject({ ok: false, problem: { kind: "unreadable", line: 1 } });
});

it("hash mode redacts agent names and session ids, which are written as text", () => {
  const secret = `ghp_${"A1b2C3d4E5f6G7h8I9j0".repeat(2).slice(0, 36)}`;
  const log = openAuditLog(at("hashes.jsonl"), { mode: "hashes", redact: createRedactor() });
  log.append({ agentName: secret, sessionId: `session ${secret}`, messages: [{ role: "user", content: secret }] });
  log.close();
  const text = readFileSync(log.path, "utf8");
  expect(text).not.toContain(secret);
  expect(text).toMatch(/"agentName":"\[redacted:github-key:/);
});

it("openAuditLog rejects a redact option that is not a redactor", () => {
  expect(() => openAuditLog(at("none.jsonl"), { redact: 5 as unknown as Redactor })).toThrow(/must be a redactor/);
});

it.each(["", "garbage", "null", '{"pid":0}', '{"pid":-1,"host":"x"}', '{"pid":"1","host":"x"}'])(
  "openAuditLog ignores a lock file that no writer wrote: %j",
  (text) => {
    writeFileSync(at("locked.jsonl.lock"), text);
    const log = openAuditLog(at("locked.jsonl"));
    expect(log.append({ a: 1 }).seq).toBeGreaterThan(0);
    log.close();
  },
);
