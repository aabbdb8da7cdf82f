import { fileURLToPath } from "node:url";

import { checkOptionNames } from "../errors/option-names.js";
import { checkText, received } from "../errors/received.js";
import { PostgresDriver, type PostgresPool } from "./postgres.js";
import { prepareTables } from "./schema.js";
import { openDatabase, SqliteDriver, type SqliteDatabase, type SqliteSync } from "./sqlite.js";
import { Store, type RunStore } from "./store.js";

export interface SqliteOptions {
  /** `"full"` (default): what was written survives a power failure. `"normal"`: it survives a crash of the process. */
  readonly sync?: SqliteSync;
}

/**
 * Opens a store in a SQLite file, by Node.js' own `node:sqlite`. Several processes of one machine can share it. The tables
 * are created if necessary.
 *
 * @param url `"sqlite:runs.db"` with a path, or `"sqlite::memory:"` for tests.
 * @throws StoreOpenError on Node.js before 22.13, and for a file that cannot be opened; StoreVersionError; TypeError.
 */
export async function openStore(url: string | URL, options: SqliteOptions = {}): Promise<RunStore> {
  checkText("openStore: url", url instanceof URL ? url.href : url);
  if (url instanceof URL && url.protocol === "file:") return openSqlite(fileURLToPath(url), options);
  const path = /^sqlite:(.+)$/s.exec(String(url))?.[1];
  if (path === undefined) {
    const hint = /^postgres(?:ql)?:/.test(String(url)) ? "; for PostgreSQL, call postgresStore({ pool })" : "";
    throw new TypeError(`openStore: url must be "sqlite:" and a path, received ${received(url)}${hint}`);
  }
  return openSqlite(path, options);
}

function openSqlite(path: string, options: SqliteOptions): Promise<RunStore> {
  return sqliteStore({ database: openDatabase(path), ...options });
}

/**
 * A store in a database that is open already: a `DatabaseSync` of `node:sqlite`, or a database of better-sqlite3.
 * @throws StoreOpenError, StoreVersionError, TypeError.
 */
export async function sqliteStore(options: SqliteOptions & { readonly database: SqliteDatabase }): Promise<RunStore> {
  checkOptionNames("sqliteStore: options", options, { database: true, sync: true });
  const { database, sync = "full" } = options;
  if (sync !== "full" && sync !== "normal")
    throw new TypeError(`sqliteStore: options.sync must be "full" or "normal", received ${received(sync)}`);
  if (typeof database?.prepare !== "function" || typeof database.exec !== "function") {
    throw new TypeError("sqliteStore: options.database must be a database of node:sqlite or better-sqlite3");
  }
  const driver = new SqliteDriver(database, sync);
  await prepareTables(driver);
  return new Store(driver);
}

/**
 * A store in PostgreSQL 12 or later, for processes on several machines. Leases are kept by the clock of the server.
 *
 * @param options.pool sends statements: a pool of `pg`, or an object with such a method `query(text, values)`. Each
 *   statement is a transaction of its own, so it may use any connection.
 * @throws StoreVersionError, TypeError, errors of the pool.
 *
 * @example
 * ```ts
 * import { postgresStore, type PostgresPool, type RunStore } from "agent-rewind/store";
 *
 * // `pool` is `new pg.Pool()`. For postgres.js: { query: (text, values) => sql.unsafe(text, values) }
 * export const open = (pool: PostgresPool): Promise<RunStore> => postgresStore({ pool });
 * ```
 */
export async function postgresStore(options: { readonly pool: PostgresPool }): Promise<RunStore> {
  checkOptionNames("postgresStore: options", options, { pool: true });
  if (typeof options.pool?.query !== "function")
    throw new TypeError("postgresStore: options.pool must be an object with a method query(text, values)");
  const driver = new PostgresDriver(options.pool);
  await prepareTables(driver);
  return new Store(driver);
}
