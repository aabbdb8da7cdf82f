import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { openStore, postgresStore, type PostgresPool, type RunStore } from "agent-rewind/store";
import { afterAll, beforeAll, beforeEach, describe, vi } from "vitest";

import { connectPool } from "../../proof/store/connect.mjs";
import { serverBinaries, startPostgres } from "../../proof/store/postgres.mjs";

type Pool = PostgresPool & { end(): Promise<void> };

/** A database that tests share. `open` opens another connection to it, as another process does. */
export interface Database {
  open(): Promise<RunStore>;
  /** Executes a statement in it. */
  execute(sql: string): Promise<void>;
}

/** For hooks that hang, not for slow machines. */
const START_MS = 120_000;

const hasPostgres = serverBinaries() !== undefined;
if (!hasPostgres) console.warn("skipped: tests with PostgreSQL. On Debian, install the package postgresql.");

/** Describes tests for each kind of store. Each test has an empty one. */
export function describeStores(name: string, define: (database: Database) => void): void {
  // Resumed runs name the calls that were in flight.
  beforeEach(() => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
    return () => warn.mockRestore();
  });
  describe(`${name}, in SQLite`, () => {
    let folder: string;
    const opened: RunStore[] = [];
    beforeEach(() => {
      folder = mkdtempSync(join(tmpdir(), "rewind-store-"));
      return async () => {
        for (const store of opened.splice(0)) await store.close().catch(() => {});
        rmSync(folder, { recursive: true, force: true });
      };
    });
    const path = (): string => join(folder, "runs.db");
    define({
      async open() {
        const store = await openStore(`sqlite:${path()}`, { sync: "normal" });
        opened.push(store);
        return store;
      },
      async execute(sql) {
        const { DatabaseSync } = process.getBuiltinModule("node:sqlite" as "node:fs") as unknown as {
          DatabaseSync: new (path: string) => { exec(sql: string): void; close(): void };
        };
        const database = new DatabaseSync(path());
        database.exec(sql);
        database.close();
      },
    });
  });
  describe.skipIf(!hasPostgres)(`${name}, in PostgreSQL`, () => {
    let server: Awaited<ReturnType<typeof startPostgres>>;
    let pool: Pool;
    beforeAll(async () => {
      server = await startPostgres();
      pool = (await connectPool(server.port)) as Pool;
    }, START_MS);
    beforeEach(async () => {
      await pool.query("drop schema public cascade; create schema public");
    }, START_MS);
    afterAll(async () => {
      await pool?.end();
      server?.stop();
    }, START_MS);
    define({
      open: () => postgresStore({ pool }),
      async execute(sql) {
        await pool.query(sql);
      },
    });
  });
}
