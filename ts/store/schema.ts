import { StoreVersionError } from "../errors/index.js";
import type { Driver } from "./driver.js";

/** Version of the tables. A newer version only adds tables and columns. */
export const STORE_VERSION = 1;

// Times are milliseconds since 1970, by the clock of the database. Bodies are JSON text: JSON types of databases reorder
// keys and refuse some strings.
const TABLES = [
  "create table if not exists rewind_meta (key text primary key, value text not null)",
  `create table if not exists rewind_run (
    id text primary key, status text not null, agent text not null, labels text not null, version text,
    epoch bigint not null, owner text not null, until bigint not null, created bigint not null, updated bigint not null,
    calls bigint not null, tokens bigint not null, result text, types text, error text)`,
  "create index if not exists rewind_run_by_status on rewind_run (status, updated, id)",
  "create index if not exists rewind_run_by_agent on rewind_run (agent, updated, id)",
  "create index if not exists rewind_run_by_time on rewind_run (updated, id)",
  `create table if not exists rewind_event (
    run text not null, seq bigint not null, epoch bigint not null, base smallint not null, body text not null,
    field text, blob text, primary key (run, seq))`,
  "create index if not exists rewind_event_by_blob on rewind_event (blob) where blob is not null",
  "create table if not exists rewind_blob (hash text primary key, body text not null, used bigint not null)",
  `create table if not exists rewind_effect (
    run text not null, key text not null, call_id text not null, name text not null, state text not null,
    started bigint not null, ended bigint, output text, types text, primary key (run, key))`,
  `insert into rewind_meta (key, value) values ('version', '${STORE_VERSION}') on conflict (key) do nothing`,
];

/** @throws StoreVersionError */
export async function prepareTables(driver: Driver): Promise<void> {
  const [found] = await driver.query("select value from rewind_meta where key = 'version'").catch(() => []);
  // The table is missing, or the database cannot be reached: then this fails too.
  if (found === undefined) return driver.migrate(TABLES);
  const version = Number(found["value"]);
  if (version > STORE_VERSION) throw new StoreVersionError(version, STORE_VERSION);
}
