export { durable, type DurableRun } from "./durable.js";
export { openStore, postgresStore, sqliteStore, type SqliteOptions } from "./open.js";
export type { PostgresPool } from "./postgres.js";
export type { SqliteDatabase, SqliteSync } from "./sqlite.js";
export type { PruneOptions, RunFilter, RunStatus, RunStore, Settlement, StoredEffect, StoredRun } from "./store.js";
export type { EffectState } from "./driver.js";
export type { Effect, EffectOptions } from "../types/effect.js";
