import { checkOptionNames } from "../errors/option-names.js";
import { checkText, received } from "../errors/received.js";
import { isRestoreError, RunLeasedError } from "../errors/index.js";
import { parseSnapshot, restoreSnapshot } from "../debugger.js";
import type { AgentSnapshot } from "../types/snapshot.js";
import { asyncDispose } from "../values/dispose.js";
import { encodeWhole } from "../values/encode.js";
import type { Driver, EffectState, Row, Value } from "./driver.js";
import { lineOf, type KnownEffect } from "./writer.js";

/** `"interrupted"`: its process has died or lost the lease. */
export type RunStatus = "running" | "interrupted" | "completed" | "failed";

/** A run in a store. */
export interface StoredRun {
  readonly id: string;
  readonly status: RunStatus;
  readonly agent: string;
  readonly labels: Readonly<Record<string, string>>;
  /** The version of the program that last executed it. */
  readonly version: string | undefined;
  /** Number of processes that have executed it. */
  readonly epoch: number;
  /** The process that executes it, or was the last one. */
  readonly owner: string;
  /** When the lease ends or ended, unless it is renewed. Absent for a run that is neither running nor interrupted. */
  readonly until: Date | undefined;
  readonly created: Date;
  readonly updated: Date;
  /** Live calls of the last process. */
  readonly calls: number;
  readonly tokens: number;
  /** The error of a failed run. */
  readonly error: { readonly name: string; readonly message: string } | undefined;
}

/** A call with `effect: "once"` that was executed. */
export interface StoredEffect {
  readonly callId: string;
  readonly tool: string;
  readonly idempotencyKey: string;
  /** `"intent"`: it has started, and nothing shows if it took effect. */
  readonly state: EffectState;
  readonly startedAt: Date;
}

export interface RunFilter {
  readonly status?: RunStatus;
  readonly agent?: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** Only runs that were updated then or later. */
  readonly since?: Date;
  /** At most so many. */
  readonly limit?: number;
}

export interface PruneOptions {
  /** Milliseconds, or a text such as "30d", "12h" or "15m". */
  readonly olderThan: number | string;
  /** Keeps so many of the latest finished runs, however old they are. */
  readonly keepLast?: number;
}

/** What somebody has found out about an uncertain call: its output, or that it did not take effect. */
export type Settlement = { readonly output: unknown } | "not-done";

/** Runs by id, in a database. */
export interface RunStore extends AsyncDisposable {
  /** The runs, the one that was updated last first. */
  runs(filter?: RunFilter): AsyncIterable<StoredRun>;
  run(id: string): Promise<StoredRun | undefined>;
  /** The calls of a run with `effect: "once"`. */
  effects(id: string): Promise<StoredEffect[]>;
  /** What is recorded of a run, in all its processes. `undefined` if nothing is. */
  snapshot(id: string): Promise<AgentSnapshot | undefined>;
  /**
   * Decides an uncertain call, so that the run can be resumed.
   * @throws RunLeasedError while a process executes the run; RangeError if the call is not uncertain; TypeError for an
   *   output that cannot be recorded.
   */
  settle(id: string, callId: string, settlement: Settlement): Promise<void>;
  /**
   * Deletes finished runs, and large values that no run needs any more. Runs that can be resumed after an interruption, and
   * failed ones with an uncertain call, are kept.
   * @returns the number of deleted runs.
   */
  prune(options: PruneOptions): Promise<number>;
  /** Closes the database. A pool of connections stays open, because it belongs to the caller. */
  close(): Promise<void>;
}

/** Rows that are read at once. */
const PAGE = 2_000;
/** Values that no run needs are kept so long, for appends that are under way. */
const KEEP_BLOBS_MS = 3_600_000;
const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

export class Store implements RunStore {
  readonly driver: Driver;
  declare readonly [Symbol.asyncDispose]: () => Promise<void>;

  constructor(driver: Driver) {
    this.driver = driver;
    Object.defineProperty(this, asyncDispose, { value: () => this.close() });
  }

  async *runs(filter: RunFilter = {}): AsyncGenerator<StoredRun, void, undefined> {
    const names = { status: true, agent: true, labels: true, since: true, limit: true } as const;
    checkOptionNames("store.runs: filter", filter, names);
    const { labels = {}, limit = Number.POSITIVE_INFINITY } = filter;
    let left = limit;
    let last: Row | undefined;
    while (left > 0) {
      const rows = await this.#page(filter, last, Math.min(left, PAGE));
      for (const row of rows) {
        const run = runOf(row);
        if (!Object.entries(labels).every(([name, value]) => run.labels[name] === value)) continue;
        if (left-- <= 0) return;
        yield run;
      }
      last = rows.at(-1);
      if (last === undefined || rows.length < PAGE) return;
    }
  }

  #page({ status, agent, since }: RunFilter, last: Row | undefined, count: number): Promise<readonly Row[]> {
    const { now } = this.driver;
    const values: Value[] = [];
    const use = (value: Value): string => `$${values.push(value)}`;
    const conditions = ["1 = 1"];
    if (status === "interrupted") conditions.push(`status = 'running' and until < ${now}`);
    else if (status === "running") conditions.push(`status = 'running' and until >= ${now}`);
    else if (status !== undefined) conditions.push(`status = ${use(status)}`);
    if (agent !== undefined) conditions.push(`agent = ${use(agent)}`);
    if (since !== undefined) conditions.push(`updated >= ${use(since.getTime())}`);
    if (last !== undefined) {
      const [updated, id] = [use(Number(last["updated"])), use(String(last["id"]))];
      conditions.push(`(updated < ${updated} or updated = ${updated} and id < ${id})`);
    }
    const where = conditions.join(" and ");
    return this.driver.query(
      `select *, ${now} as now from rewind_run where ${where} order by updated desc, id desc limit ${count}`,
      values,
    );
  }

  async run(id: string): Promise<StoredRun | undefined> {
    const [row] = await this.driver.query(`select *, ${this.driver.now} as now from rewind_run where id = $1`, [id]);
    return row && runOf(row);
  }

  async effects(id: string): Promise<StoredEffect[]> {
    const effects = await this.knownEffects(id);
    return effects.map(({ callId, name, key, state, startedAt }) => {
      return { callId, tool: name, idempotencyKey: key, state, startedAt };
    });
  }

  async knownEffects(id: string): Promise<KnownEffect[]> {
    const rows = await this.driver.query("select * from rewind_effect where run = $1 order by started, key", [id]);
    return rows.map(({ key, call_id, name, state, started, output, types }) => ({
      key: String(key),
      callId: String(call_id),
      name: String(name),
      state: state as EffectState,
      startedAt: new Date(Number(started)),
      output: typeof output === "string" ? { text: output, types: types as string | null } : undefined,
    }));
  }

  async snapshot(id: string): Promise<AgentSnapshot | undefined> {
    return (await this.recorded(id)).snapshot;
  }

  /** What is recorded of a run, and the `seq` after it. */
  async recorded(id: string): Promise<{ readonly snapshot: AgentSnapshot | undefined; readonly next: number }> {
    let base: AgentSnapshot | undefined;
    let lines: string[] = [];
    let last = -1;
    for (;;) {
      const rows = await this.driver.query(
        `select e.seq, e.base, e.body, e.field, b.body as large from rewind_event e
         left join rewind_blob b on b.hash = e.blob
         where e.run = $1 and e.seq > $2 order by e.seq limit ${PAGE}`,
        [id, last],
      );
      for (const { seq, base: isBase, body, field, large } of rows) {
        last = Number(seq);
        if (Number(isBase) === 1) {
          base = parseSnapshot(String(body));
          lines = [];
        } else lines.push(lineOf(String(body), field as string | null, large as string | null));
      }
      if (rows.length < PAGE) return { snapshot: restored(lines, base), next: last + 1 };
    }
  }

  async settle(id: string, callId: string, settlement: Settlement): Promise<void> {
    checkText("store.settle: callId", callId);
    const { now } = this.driver;
    const { text, types } = settlementOf(settlement);
    const rows = await this.driver.query(
      `update rewind_effect set state = $3, output = $4, types = $5, ended = ${now}
       where run = $1 and call_id = $2 and state = 'intent' and not exists
         (select 1 from rewind_run where id = $1 and status = 'running' and until >= ${now})
       returning key`,
      [id, callId, text === null ? "not-done" : "settled", text, types],
    );
    if (rows.length > 0) return;
    const run = await this.run(id);
    if (run?.status === "running") throw new RunLeasedError(id, run.owner, run.until ?? new Date());
    const uncertain = (await this.effects(id)).filter(({ state }) => state === "intent");
    const list = uncertain.map((effect) => JSON.stringify(effect.callId)).join(", ");
    throw new RangeError(
      `store.settle: the run ${JSON.stringify(id)} has no uncertain call ${JSON.stringify(callId)}, only ` +
        (list === "" ? "calls that are known" : list),
    );
  }

  async prune(options: PruneOptions): Promise<number> {
    checkOptionNames("store.prune: options", options, { olderThan: true, keepLast: true });
    const { keepLast = 0 } = options;
    const { driver } = this;
    const before = `${driver.now} - ${Math.round(millisecondsOf(options.olderThan))}`;
    const uncertain = "select 1 from rewind_effect e where e.run = r.id and e.state = 'intent'";
    const finished = "status in ('completed', 'failed')";
    const old = await driver.query(
      `select id from rewind_run r where ${finished} and updated < ${before}
       and not (status = 'failed' and exists (${uncertain}))
       and id not in (select id from rewind_run where ${finished} order by updated desc, id desc limit $1)`,
      [keepLast],
    );
    let deleted = 0;
    for (const { id } of old) {
      // A run that somebody resumes meanwhile stays.
      const gone = await driver.query(
        `delete from rewind_run where id = $1 and ${finished} and updated < ${before} returning id`,
        [String(id)],
      );
      if (gone.length === 0) continue;
      deleted += 1;
      for (const table of ["rewind_event", "rewind_effect"]) {
        await driver.query(`delete from ${table} where run = $1`, [String(id)]);
      }
    }
    await driver.query(
      `delete from rewind_blob where used < ${driver.now} - ${KEEP_BLOBS_MS}
       and not exists (select 1 from rewind_event e where e.blob = rewind_blob.hash)`,
    );
    return deleted;
  }

  close(): Promise<void> {
    return this.driver.close();
  }
}

function restored(lines: readonly string[], base: AgentSnapshot | undefined): AgentSnapshot | undefined {
  if (lines.length === 0) return base;
  try {
    return restoreSnapshot(lines.join("\n"), base === undefined ? {} : { resumedFrom: base });
  } catch (error) {
    // The process died before it asked for anything.
    if (isRestoreError(error) && error.message.includes("Root agent frame not created")) return base;
    throw error;
  }
}

function runOf(row: Row): StoredRun {
  const time = (name: string): Date => new Date(Number(row[name]));
  const isInterrupted = row["status"] === "running" && Number(row["until"]) < Number(row["now"]);
  return {
    id: String(row["id"]),
    status: isInterrupted ? "interrupted" : (row["status"] as RunStatus),
    agent: String(row["agent"]),
    labels: JSON.parse(String(row["labels"])) as Record<string, string>,
    version: (row["version"] as string | null) ?? undefined,
    epoch: Number(row["epoch"]),
    owner: String(row["owner"]),
    until: row["status"] === "running" ? time("until") : undefined,
    created: time("created"),
    updated: time("updated"),
    calls: Number(row["calls"]),
    tokens: Number(row["tokens"]),
    error: typeof row["error"] === "string" ? (JSON.parse(row["error"]) as StoredRun["error"]) : undefined,
  };
}

function settlementOf(settlement: Settlement): { text: string | null; types: string | null } {
  if (settlement === "not-done") return { text: null, types: null };
  if (typeof settlement !== "object" || settlement === null || !("output" in settlement)) {
    throw new TypeError(`store.settle: expected { output } or "not-done", received ${received(settlement)}`);
  }
  const encoded = encodeWhole(settlement.output);
  if (!("tombstone" in encoded)) return encoded;
  const { path, reason } = encoded.tombstone;
  throw new TypeError(`store.settle: the output cannot be recorded: ${path === "" ? "it" : path}: ${reason}`);
}

/** @throws TypeError */
function millisecondsOf(time: number | string): number {
  const [, count, unit] = /^(\d+)([smhd])$/.exec(String(time)) ?? [];
  const milliseconds = typeof time === "number" ? time : Number(count) * (UNITS[unit ?? ""] ?? Number.NaN);
  if (milliseconds >= 0) return milliseconds;
  throw new TypeError(
    `store.prune: options.olderThan must be milliseconds or a text such as "30d", received ${received(time)}`,
  );
}
