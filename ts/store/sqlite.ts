import { setTimeout as sleep } from "node:timers/promises";

import { StoreOpenError } from "../errors/index.js";
import type { Batch, Driver, EffectRow, EventRow, Row, Value } from "./driver.js";

/** A database of `node:sqlite` or better-sqlite3. */
export interface SqliteDatabase {
  exec(sql: string): unknown;
  prepare(sql: string): { all(...values: never[]): unknown[]; run(...values: never[]): unknown };
  close(): void;
}

/** `"full"` (default): what was written survives a power failure. `"normal"`: only a crash of the process. */
export type SqliteSync = "full" | "normal";

const NOW = "cast(unixepoch('subsec') * 1000 as integer)";
/** How long a statement waits for other processes. */
const BUSY_MS = 30_000;

/** Opens a file by `node:sqlite`, or a database in memory under the name ":memory:". */
export function openDatabase(path: string): SqliteDatabase {
  const sqlite = process.getBuiltinModule?.("node:sqlite" as "node:fs") as unknown as
    | { DatabaseSync: new (path: string) => SqliteDatabase }
    | undefined;
  if (sqlite === undefined) {
    throw new StoreOpenError(
      `Stores in SQLite files need Node.js 22.13 or later, for node:sqlite; this is ${process.version}. On older ` +
        "versions, pass a database of better-sqlite3 to sqliteStore, or use postgresStore.",
    );
  }
  try {
    return new sqlite.DatabaseSync(path);
  } catch (cause) {
    throw new StoreOpenError(`The SQLite file ${path} cannot be opened.`, { cause });
  }
}

type Statement = ReturnType<SqliteDatabase["prepare"]>;

export class SqliteDriver implements Driver {
  readonly now: string = NOW;
  readonly #database: SqliteDatabase;
  readonly #statements = new Map<string, { readonly statement: Statement; readonly order: number[] }>();

  /** @throws StoreOpenError */
  constructor(database: SqliteDatabase, sync: SqliteSync) {
    this.#database = database;
    // Short, because a waiting statement blocks the process. Longer waits are repeated.
    database.exec("pragma busy_timeout = 50");
    const [mode] = this.#run("pragma journal_mode = wal");
    if (mode?.["journal_mode"] !== "wal" && mode?.["journal_mode"] !== "memory") {
      throw new StoreOpenError(
        "The SQLite file cannot be shared by several processes, because its file system does not support a write-ahead " +
          "log. Use a local disk, or postgresStore.",
      );
    }
    database.exec(`pragma synchronous = ${sync}`);
  }

  query(sql: string, values: readonly Value[] = []): Promise<readonly Row[]> {
    return whenFree(() => this.#run(sql, values));
  }

  migrate(statements: readonly string[]): Promise<void> {
    return whenFree(() => this.#transaction(() => statements.forEach((sql) => this.#database.exec(sql))));
  }

  append(run: string, epoch: number, { events, effects }: Batch): Promise<boolean> {
    return whenFree(() =>
      this.#transaction(() => {
        const [held] = this.#run("select 1 from rewind_run where id = $1 and epoch = $2", [run, epoch]);
        if (held === undefined) return false;
        for (const event of events) this.#appendEvent(run, epoch, event);
        for (const effect of effects) this.#noteEffect(run, effect);
        return true;
      }),
    );
  }

  async close(): Promise<void> {
    this.#statements.clear();
    this.#database.close();
  }

  #appendEvent(run: string, epoch: number, { seq, base, body, large }: EventRow): void {
    if (large !== undefined) {
      this.#run(
        `insert into rewind_blob (hash, body, used) values ($1, $2, ${NOW})
         on conflict (hash) do update set used = excluded.used`,
        [large.hash, large.text],
      );
    }
    this.#run(
      `insert into rewind_event (run, seq, epoch, base, body, field, blob) values ($1, $2, $3, $4, $5, $6, $7)
       on conflict (run, seq) do nothing`,
      [run, seq, epoch, base, body, large?.field ?? null, large?.hash ?? null],
    );
  }

  #noteEffect(run: string, { key, callId, name, state }: EffectRow): void {
    this.#run(
      `insert into rewind_effect (run, key, call_id, name, state, started, ended)
       values ($1, $2, $3, $4, $5, ${NOW}, case $5 when 'intent' then null else ${NOW} end)
       on conflict (run, key) do update set call_id = excluded.call_id, state = excluded.state, ended = excluded.ended`,
      [run, key, callId, name, state],
    );
  }

  #run(sql: string, values: readonly Value[] = []): Row[] {
    let known = this.#statements.get(sql);
    if (known === undefined) {
      // The two libraries share only the parameters without a number.
      const order: number[] = [];
      const plain = sql.replaceAll(/\$(\d+)/g, (_, number: string) => {
        order.push(Number(number) - 1);
        return "?";
      });
      known = { statement: this.#database.prepare(plain), order };
      this.#statements.set(sql, known);
    }
    const given = known.order.map((index) => values[index]) as never[];
    if (/^\s*(?:select|pragma)|\breturning\b/i.test(sql)) return known.statement.all(...given) as Row[];
    known.statement.run(...given);
    return [];
  }

  #transaction<T>(action: () => T): T {
    this.#database.exec("begin immediate");
    try {
      const result = action();
      this.#database.exec("commit");
      return result;
    } catch (error) {
      this.#database.exec("rollback");
      throw error;
    }
  }
}

/** Repeats an action while another process has the database locked. */
async function whenFree<T>(action: () => T): Promise<T> {
  const giveUpAt = performance.now() + BUSY_MS;
  for (;;) {
    try {
      return action();
    } catch (error) {
      if (!isBusy(error) || performance.now() > giveUpAt) throw error;
    }
    await sleep(1 + Math.random() * 20);
  }
}

/** SQLITE_BUSY, also with its extended codes. */
function isBusy(error: unknown): boolean {
  const { errcode, code } = error as { errcode?: number; code?: string };
  return (errcode !== undefined && (errcode & 0xff) === 5) || code?.startsWith("SQLITE_BUSY") === true;
}
