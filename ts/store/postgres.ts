import type { Batch, Driver, Row, Value } from "./driver.js";

/** A pool of connections to PostgreSQL, such as that of `pg`. */
export interface PostgresPool {
  query(text: string, values?: unknown[]): Promise<readonly object[] | { readonly rows: readonly object[] }>;
}

const NOW = "(extract(epoch from clock_timestamp()) * 1000)::bigint";

// One statement, so one round trip. While it reads the row of the run, no other process can take the run over. A retry
// after a lost answer finds its own rows.
const APPEND = `with held as (select 1 from rewind_run where id = $1 and epoch = $2 for share),
  blobs as (insert into rewind_blob (hash, body, used)
    select distinct on (hash) hash, body, ${NOW} from held, unnest($3::text[], $4::text[]) as t(hash, body)
    on conflict (hash) do update set used = excluded.used),
  events as (insert into rewind_event (run, seq, epoch, base, body, field, blob)
    select $1, seq, $2, base, body, field, blob
    from held, unnest($5::bigint[], $6::smallint[], $7::text[], $8::text[], $9::text[]) as t(seq, base, body, field, blob)
    on conflict (run, seq) do nothing)
  select count(*) as held from held`;

const APPEND_WITH_EFFECTS = APPEND.replace(
  "\n  select",
  `,
  effects as (insert into rewind_effect (run, key, call_id, name, state, started, ended)
    select $1, key, call_id, name, state, ${NOW}, case state when 'intent' then null else ${NOW} end
    from held, unnest($10::text[], $11::text[], $12::text[], $13::text[]) as t(key, call_id, name, state)
    on conflict (run, key) do update set call_id = excluded.call_id, state = excluded.state, ended = excluded.ended)
  select`,
);

/** For `pg_advisory_xact_lock`: any number that other programs do not use. */
const LOCK = 7_239_416_085_127;

export class PostgresDriver implements Driver {
  readonly now: string = NOW;
  readonly #pool: PostgresPool;

  constructor(pool: PostgresPool) {
    this.#pool = pool;
  }

  async query(sql: string, values: readonly Value[] = []): Promise<readonly Row[]> {
    return this.#rows(sql, [...values]);
  }

  async migrate(statements: readonly string[]): Promise<void> {
    // Several statements without parameters are one transaction.
    await this.#pool.query([`select pg_advisory_xact_lock(${LOCK})`, ...statements].join(";\n"));
  }

  async append(run: string, epoch: number, { events, effects }: Batch): Promise<boolean> {
    const blobs = events.flatMap(({ large }) => (large === undefined ? [] : [large]));
    const values = [
      run,
      epoch,
      blobs.map(({ hash }) => hash),
      blobs.map(({ text }) => text),
      events.map(({ seq }) => seq),
      events.map(({ base }) => base),
      events.map(({ body }) => body),
      events.map(({ large }) => large?.field ?? null),
      events.map(({ large }) => large?.hash ?? null),
    ];
    if (effects.length > 0) {
      values.push(
        effects.map(({ key }) => key),
        effects.map(({ callId }) => callId),
        effects.map(({ name }) => name),
        effects.map(({ state }) => state),
      );
    }
    const [row] = await this.#rows(effects.length === 0 ? APPEND : APPEND_WITH_EFFECTS, values);
    return Number(row?.["held"]) === 1;
  }

  /** The pool belongs to the caller. */
  async close(): Promise<void> {}

  async #rows(sql: string, values: unknown[]): Promise<readonly Row[]> {
    const result = await this.#pool.query(sql, values);
    return ("rows" in result ? result.rows : result) as readonly Row[];
  }
}
