import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { openAuditLog, verifyLog } from "agent-rewind/audit";
import { afterAll, describe, expect, it } from "vitest";

import { temporaryFolder } from "../support/process.js";
import { caught, written } from "./support.js";

const folder = mkdtempSync(join(tmpdir(), "rewind-audit-"));
afterAll(() => rmSync(folder, { recursive: true }));

let logs = 0;
const newPath = (): string => join(folder, `${++logs}`, "audit.jsonl");

describe("audit logs and processes", () => {
  const programs = temporaryFolder();
  const program = join(programs, "writer.mjs");
  writeFileSync(
    program,
    `import { openAuditLog } from "agent-rewind/audit";
     const [path, count, maxBytes] = process.argv.slice(2);
     const log = openAuditLog(path, maxBytes === undefined ? {} : { maxBytes: Number(maxBytes) });
     for (let index = 0; index < Number(count); index += 1) {
       log.append({ index, pid: process.pid, messages: [{ role: "user", content: "x".repeat((index * 997) % 20000) }] });
       if (index === 0) process.stdout.write(log.path + "\\n");
     }
     log.close();
    `,
  );
  afterAll(() => rmSync(programs, { recursive: true }));

  it("a log verifies and continues after its writer was killed 100 times", { timeout: 120_000 }, async () => {
    const path = newPath();
    let records = 0;
    for (let turn = 0; turn < 100; turn += 1) {
      const child = spawn(process.execPath, [program, path, "1000000", "3000000"], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      const ended = new Promise<NodeJS.Signals | null>((resolve) => child.on("exit", (_, signal) => resolve(signal)));
      await new Promise<void>((resolve) => child.stdout.once("data", () => resolve()));
      // Each kill hits another moment of the writing.
      for (let spin = 0; spin < turn % 10; spin += 1) await new Promise((resolve) => setImmediate(resolve));
      child.kill("SIGKILL");
      expect(await ended).toBe("SIGKILL");
      // The full check runs only now and then because it reads the whole log.
      if (turn % 10 === 9) {
        const report = await verifyLog(path);
        expect(report.problem).toBeUndefined();
        expect(report.records).toBeGreaterThanOrEqual(records);
        records = report.records;
      }
    }
    const log = openAuditLog(path);
    log.append({ last: true });
    log.close();
    const report = await verifyLog(path);
    expect(report).toMatchObject({ ok: true });
    expect(report.torn).toBeUndefined();
    expect(report.records).toBeGreaterThan(100);
  });

  it("a second process cannot open a locked log but can open its own log", async () => {
    const path = newPath();
    const log = openAuditLog(path);
    expect(caught(() => openAuditLog(path))).toMatchObject({ code: "ERR_REWIND_AUDIT_LOCKED" });
    const refused = spawnSync(process.execPath, [program, path, "1"], { encoding: "utf8" });
    expect(refused.status).toBe(1);
    expect(refused.stderr).toContain(`is being written by process ${process.pid}`);
    log.append({ mine: true });
    log.close();
    expect(await verifyLog(path)).toMatchObject({ ok: true, records: 1 });

    const own = path.replace("audit", "audit.{pid}");
    const children = Array.from({ length: 4 }, () => {
      const child = spawn(process.execPath, [program, own, "20"], { stdio: ["ignore", "pipe", "inherit"] });
      let out = "";
      child.stdout.on("data", (chunk: Buffer) => (out += String(chunk)));
      return new Promise<string>((resolve) => child.on("close", () => resolve(out.trim())));
    });
    const paths = await Promise.all(children);
    expect(new Set(paths).size).toBe(4);
    for (const each of paths) expect(await verifyLog(each)).toMatchObject({ ok: true, records: 20 });
  });

  it("exactly one of several processes takes over the lock of a dead process", async () => {
    const path = newPath();
    written(path, 1);
    const dead = spawnSync(process.execPath, ["-p", "process.pid + ' ' + require('os').hostname()"], {
      encoding: "utf8",
    });
    const [pid, host] = dead.stdout.trim().split(" ");
    writeFileSync(`${path}.lock`, JSON.stringify({ pid: Number(pid), host, started: "1", token: "t" }));
    const ended = await Promise.all(
      Array.from({ length: 6 }, () => {
        const child = spawn(process.execPath, [program, path, "300"], { stdio: ["ignore", "ignore", "pipe"] });
        let err = "";
        child.stderr.on("data", (chunk: Buffer) => (err += String(chunk)));
        return new Promise<[number | null, string]>((resolve) => child.on("close", (code) => resolve([code, err])));
      }),
    );
    const done = ended.filter(([code]) => code === 0).length;
    expect(done).toBeGreaterThanOrEqual(1);
    for (const [code, err] of ended) if (code !== 0) expect(err).toContain("ERR_REWIND_AUDIT_LOCKED");
    expect(await verifyLog(path)).toMatchObject({ ok: true, records: 1 + 300 * done });
    expect(existsSync(`${path}.lock`)).toBe(false);
  });
});
