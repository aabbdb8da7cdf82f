import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { isAuditLogError, openAuditLog, verifyLog, type AuditReport } from "agent-rewind/audit";
import { createRedactor } from "agent-rewind/redact";
import { afterAll, describe, expect, it } from "vitest";

import { boundary, caught, linesOf, written } from "./support.js";

const folder = mkdtempSync(join(tmpdir(), "rewind-audit-"));
afterAll(() => rmSync(folder, { recursive: true }));

let logs = 0;
const newPath = (): string => join(folder, `${++logs}`, "audit.jsonl");

const write = (path: string, lines: readonly string[]): void => writeFileSync(path, `${lines.join("\n")}\n`);

async function problemOf(
  path: string,
  options?: Parameters<typeof verifyLog>[1],
): Promise<[string | undefined, number | undefined]> {
  const { problem } = await verifyLog(path, options);
  return [problem?.kind, problem?.line];
}

describe("openAuditLog", () => {
  it("writes chained records to a file that only the owner can read", async () => {
    const path = newPath();
    const lines = written(path, 5);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const parsed = lines.map(
      (line) => JSON.parse(line) as { seq: number; prev: string; hash: string; record?: unknown },
    );
    expect(parsed.map(({ seq }) => seq)).toEqual([0, 1, 2, 3, 4, 5]);
    expect(parsed.slice(1).map(({ prev }) => prev)).toEqual(parsed.slice(0, -1).map(({ hash }) => hash));
    expect(parsed.slice(1).map(({ record }) => record)).toEqual([0, 1, 2, 3, 4].map(boundary));
    const { head, ...report } = await verifyLog(path);
    expect(report).toEqual({ ok: true, files: [path], lines: 6, records: 5, keyed: false });
    expect(head).toEqual({ seq: 5, hash: parsed[5]?.hash });
    expect(readdirSync(join(path, ".."))).toEqual(["audit.jsonl"]);
  });

  it("continues an existing log", async () => {
    const path = newPath();
    written(path, 2);
    const log = openAuditLog(path);
    expect(log.head.seq).toBe(2);
    expect(log.append(boundary(2))).toEqual(log.head);
    log.close();
    log.close();
    expect(() => log.append({})).toThrow(/is closed/);
    expect(await verifyLog(path)).toMatchObject({ ok: true, records: 3 });
  });

  it("accepts values that JSON lacks and rejects values that are not objects", () => {
    const path = newPath();
    const log = openAuditLog(path);
    const cycle: Record<string, unknown> = { text: "a\nb\u2028\ud83d" };
    cycle["self"] = cycle;
    log.append(cycle);
    for (const record of [null, 5, "x", []]) expect(() => log.append(record as object)).toThrow(TypeError);
    log.close();
    expect(linesOf(path)).toHaveLength(2);
    expect(linesOf(path)[1]).toContain("part of");
  });

  it("writes no content in hash mode", async () => {
    const path = newPath();
    written(path, 3, { mode: "hashes" });
    const text = readFileSync(path, "utf8");
    expect(text).not.toContain("question");
    const { record } = JSON.parse(linesOf(path)[2] as string) as { record: Record<string, unknown> };
    expect(record).toEqual({
      timestamp: "2026-11-29T17:51:48.000001Z",
      agentName: "writer",
      messageHash: "0000000000000001",
      toolsHash: "4f53cda18c2baa0c",
      messageHashes: [expect.stringMatching(/^[0-9a-f]{64}$/)],
      toolHashes: [],
      recordHash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(await verifyLog(path)).toMatchObject({ ok: true, records: 3 });
  });

  it("redacts records", () => {
    const path = newPath();
    const token = ["gh", "p_aB3dE5gH7jK9mN1pQ2sT4vW6xZ8yC0fL1234"].join("");
    const log = openAuditLog(path, { redact: createRedactor() });
    log.append({ ...boundary(1), messages: [{ role: "user", content: token }] });
    log.close();
    const text = readFileSync(path, "utf8");
    expect(text).not.toContain(token);
    expect(text).toContain("[redacted:github-key:");
    expect(text).toContain('"messageHash":"0000000000000001"');
  });

  it("rotates into further files, each starting with the last hash of the file before", async () => {
    const path = newPath();
    written(path, 40, { maxBytes: 2_000 });
    written(path, 40, { maxBytes: 2_000 });
    const report = await verifyLog(path);
    expect(report).toMatchObject({ ok: true, records: 80 });
    expect(report.files.length).toBeGreaterThan(10);
    expect(report.files[0]).toMatch(/audit\.1\.jsonl$/);
    expect(report.files.at(-1)).toBe(path);
    for (const [index, file] of report.files.entries()) {
      const [start] = linesOf(file).map((line) => JSON.parse(line) as { type: string; file: number; prev: string });
      expect(start).toMatchObject({ type: "start", file: index + 1 });
      expect(statSync(file).mode & 0o777).toBe(0o600);
      const before = report.files[index - 1];
      if (before !== undefined) expect(linesOf(before).at(-1)).toContain(start?.prev);
    }
    rmSync(report.files[3] as string);
    expect(await problemOf(path)).toEqual(["removed", 1]);
    for (const file of report.files.slice(0, 3)) rmSync(file);
    expect(await problemOf(path)).toEqual(["removed", 1]);
    expect(await verifyLog(path, { partial: true })).toMatchObject({ ok: true });
  });

  it("continues a log whose rotation was interrupted by the death of the process", async () => {
    const path = newPath();
    written(path, 20, { maxBytes: 2_000 });
    const files = (await verifyLog(path)).files;
    rmSync(path);
    const last = linesOf(files.at(-2) as string).at(-1) as string;
    const log = openAuditLog(path);
    expect(log.head.seq).toBe((JSON.parse(last) as { seq: number }).seq + 1);
    log.close();
    expect(await verifyLog(path)).toMatchObject({ ok: true });
  });

  it("rejects wrong options and files that are not audit logs", () => {
    const path = newPath();
    for (const options of [{ mode: "x" }, { sync: "x" }, { key: "" }])
      expect(() => openAuditLog(path, options as never)).toThrow(TypeError);
    expect(() => openAuditLog(path, { maxBytes: 10 })).toThrow(RangeError);
    const other = join(folder, "other.txt");
    writeFileSync(other, "something else\n");
    expect(isAuditLogError(caught(() => openAuditLog(other)))).toBe(true);
    expect(readFileSync(other, "utf8")).toBe("something else\n");
    expect(readdirSync(folder)).not.toContain("other.txt.lock");
    expect(isAuditLogError(caught(() => openAuditLog("/dev/null/x/audit.jsonl")))).toBe(true);
  });
});

describe("verifyLog", () => {
  it("names the changed line", async () => {
    const path = newPath();
    const lines = written(path, 5);
    for (const [index, line] of lines.entries()) {
      for (const changed of [
        line.replace("question", "Question"),
        line.replace('"seq"', '"sEq"'),
        line.replace(/.(..)$/, "0$1"),
      ]) {
        if (changed === line) continue;
        write(path, lines.with(index, changed));
        const { problem } = await verifyLog(path);
        expect(problem?.line).toBe(index + 1);
        expect(["changed", "unreadable"]).toContain(problem?.kind);
        expect(problem?.message).toMatch(
          new RegExp(`audit\\.jsonl:${index + 1}: the line (?:was changed|is not a line)`),
        );
      }
    }
  });

  it("detects removed, moved, duplicated and inserted records", async () => {
    const path = newPath();
    const lines = written(path, 5);
    const [a, b, c, d, e, f] = lines as [string, string, string, string, string, string];
    for (const [list, problem] of [
      [
        [a, b, d, e, f],
        ["removed", 3],
      ],
      [
        [b, c, d, e, f],
        ["removed", 1],
      ],
      [
        [a, c, b, d, e, f],
        ["removed", 2],
      ],
      [
        [a, b, c, b, d, e, f],
        ["reordered", 4],
      ],
      [
        [a, b, b, c, d, e, f],
        ["reordered", 3],
      ],
      [
        [a, b, "{}", c, d, e, f],
        ["unreadable", 3],
      ],
      [
        [a, b, "", c, d, e, f],
        ["unreadable", 3],
      ],
    ] as const) {
      write(path, list);
      expect(await problemOf(path)).toEqual(problem);
    }
    const other = newPath();
    const [, , foreign] = written(other, 5).map((line) => line) as [string, string, string];
    const mine = { ...(JSON.parse(c) as object), time: "2020-01-01T00:00:00.000Z" };
    expect(JSON.parse(foreign)).not.toEqual(mine);
    write(path, [a, b, foreign, d, e, f]);
    expect((await problemOf(path))[1]).toBeGreaterThanOrEqual(3);
  });

  it("detects a truncated or rewritten tail from a saved head, and a rewritten one from the key too", async () => {
    const path = newPath();
    const lines = written(path, 5);
    const { head } = (await verifyLog(path)) as AuditReport & { head: { seq: number; hash: string } };
    expect(await verifyLog(path, { head })).toMatchObject({ ok: true });
    write(path, lines.slice(0, 4));
    // Without a saved head, nothing shows that lines were cut off.
    expect(await verifyLog(path)).toMatchObject({ ok: true, records: 3 });
    expect(await problemOf(path, { head })).toEqual(["truncated", 4]);
    written(path, 5);
    expect(await verifyLog(path)).toMatchObject({ ok: true, records: 8 });
    expect(await problemOf(path, { head })).toEqual(["rewritten", 6]);
  });

  it("requires the key of a keyed log and then detects every change", async () => {
    const path = newPath();
    written(path, 3, { key: "pepper" });
    expect(await verifyLog(path, { key: "pepper" })).toMatchObject({ ok: true, keyed: true });
    expect(await problemOf(path, { key: "salt" })).toEqual(["changed", 1]);
    await expect(verifyLog(path)).rejects.toMatchObject({ code: "ERR_REWIND_AUDIT_KEY" });
    expect(caught(() => openAuditLog(path, { key: "salt" }))).toMatchObject({ code: "ERR_REWIND_AUDIT_BROKEN" });
    expect(caught(() => openAuditLog(path))).toMatchObject({ code: "ERR_REWIND_AUDIT_BROKEN" });
    await expect(verifyLog(join(folder, "none.jsonl"))).rejects.toThrow(/audit log .+ does not exist/);
  });

  it("accepts a log cut at any byte up to its last complete line, and openAuditLog continues it", async () => {
    const path = newPath();
    const whole = `${written(path, 2).join("\n")}\n`;
    const bytes = Buffer.from(whole);
    const ends = [...bytes.entries()].filter(([, byte]) => byte === 0x0a).map(([at]) => at);
    const near = (length: number): boolean => ends.some((end) => Math.abs(end - length) < 3);
    for (let length = 1; length <= bytes.length; length += 1) {
      if (length % 5 !== 0 && !near(length)) continue;
      writeFileSync(path, bytes.subarray(0, length));
      const before = await verifyLog(path);
      // A line is complete without its newline.
      expect(before).toMatchObject({ ok: true, lines: ends.filter((end) => end <= length).length });
      // Continue twice, because the cut may also hit the line that reports the first cut.
      const log = openAuditLog(path);
      log.append(boundary(7));
      log.close();
      appendFileSync(path, '{"seq":');
      const again = openAuditLog(path);
      again.append(boundary(8));
      again.close();
      const after = await verifyLog(path);
      expect(after).toMatchObject({ ok: true });
      expect(after.records).toBe(before.records + 2);
      expect(after.torn).toBeUndefined();
    }
  });

  it("does not treat a damaged line as a line cut off by a killed process", async () => {
    const path = newPath();
    const lines = written(path, 3);
    write(path, lines.with(3, (lines[3] as string).replace("question", "Question")));
    expect(await problemOf(path)).toEqual(["changed", 4]);
    expect(caught(() => openAuditLog(path))).toMatchObject({ code: "ERR_REWIND_AUDIT_BROKEN" });
    // The log reports the bytes of a killed process. A later change of them is detected too.
    written(path.replace("audit", "torn"), 1);
    const torn = path.replace("audit", "torn");
    appendFileSync(torn, '{"seq":2,"ti');
    written(torn, 1);
    expect(await verifyLog(torn)).toMatchObject({ ok: true });
    writeFileSync(torn, readFileSync(torn, "utf8").replace('"ti\n', '"tI\n'));
    expect(await problemOf(torn)).toEqual(["unreadable", 3]);
    writeFileSync(torn, readFileSync(torn, "utf8").replace('{"seq":2,"tI\n', ""));
    expect(await problemOf(torn)).toEqual(["removed", 3]);
  });
});
