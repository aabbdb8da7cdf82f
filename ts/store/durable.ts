import { hostname } from "node:os";

import { LeaseLostError, RunLeasedError, RunVersionError } from "../errors/index.js";
import { checkOptionNames, type OptionNames } from "../errors/option-names.js";
import { checkFunction, checkText, received } from "../errors/received.js";
import { runWith, type RunWithOptions } from "../index.js";
import { stringifySnapshot } from "../debugger.js";
import { decodeValue } from "../values/decode.js";
import { encodeWhole } from "../values/encode.js";
import { toErrorInfo } from "../values/error-info.js";
import type { Row, Value } from "./driver.js";
import { Lease } from "./lease.js";
import { Store, type RunStore } from "./store.js";
import { RunWriter } from "./writer.js";

export interface DurableRun {
  /** The id of the run: a text of 1 to 512 bytes. */
  readonly id: string;
  /**
   * Milliseconds after which another process may take the run over, unless this one renews its lease, which it does four
   * times in that time. Default: 30,000. At least 100.
   */
  readonly lease?: number;
  /** The name that `store.runs({ agent })` finds the run by. Default: "". */
  readonly agent?: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** The version of the program. */
  readonly version?: string;
  /** For a run that another version of the program has recorded: continue it (default), or throw a RunVersionError. */
  readonly otherVersion?: "continue" | "refuse";
}

const NAMES: OptionNames<DurableRun> = {
  id: true,
  lease: true,
  agent: true,
  labels: true,
  version: true,
  otherVersion: true,
};

/**
 * Executes a run that survives the death of its process. The first process with an id executes the function. If it dies,
 * the next one resumes the run: calls whose answer was recorded are not executed again. A run that has completed returns
 * its result. A run that failed is resumed too.
 *
 * @param options those of `runWith`, except `snapshot`, `mode` and `enableSnapshot`.
 * @throws RunLeasedError while another process executes the run.
 * @throws LeaseLostError if this process could not keep its lease: `signal` was aborted, and nothing more was written.
 * @throws UncertainEffectError for a call with `effect: "once"` that may have taken effect already.
 * @throws RunVersionError; TypeError, RangeError for wrong arguments; errors of `runWith`, and those of the function.
 *
 * @example
 * ```ts
 * import { journalCall } from "agent-rewind";
 * import { durable, openStore } from "agent-rewind/store";
 *
 * export async function work(orderId: string): Promise<string> {
 *   const store = await openStore("sqlite:runs.db");
 *   return durable(store, { id: orderId }, () =>
 *     journalCall({ kind: "http", name: "ship", request: { orderId } }, async () => "shipped"),
 *   );
 * }
 * ```
 */
export async function durable<Result>(
  store: RunStore,
  run: DurableRun,
  fn: () => Promise<Result> | Result,
  options: Omit<RunWithOptions, "snapshot" | "mode" | "enableSnapshot"> = {},
): Promise<Result> {
  if (!isOurs(store)) throw new TypeError("durable: store must be opened by openStore, sqliteStore or postgresStore");
  checkRun(run);
  checkFunction("durable: fn", fn);
  const claim = await claimRun(store, run);
  if ("result" in claim) return decodeValue(claim.result, claim.types) as Result;
  const { driver } = store;
  const { id, lease: milliseconds = 30_000 } = run;
  const { epoch, askedAt } = claim;
  let writer: RunWriter | undefined;
  const lease = new Lease(id, milliseconds, askedAt, () => renew(store, id, epoch, milliseconds, writer));
  try {
    const { snapshot, next } = await store.recorded(id);
    if (snapshot !== undefined) await replaceEvents(store, id, epoch, next, stringifySnapshot(snapshot));
    const effects = await store.knownEffects(id);
    writer = new RunWriter({ driver, id, epoch, next: next + 1, lease, effects, forward: options.eventBus });
    const outcome = await runWith(fn, {
      ...options,
      ...(snapshot === undefined ? {} : { snapshot, mode: "resume" as const }),
      enableSnapshot: true,
      eventBus: writer,
      signal: options.signal === undefined ? lease.signal : AbortSignal.any([lease.signal, options.signal]),
    }).then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    );
    // Whatever the agent made of it.
    lease.check();
    await writer.flush();
    await finish(store, id, epoch, outcome, writer);
    if ("error" in outcome) throw outcome.error;
    return outcome.value;
  } finally {
    lease.stop();
  }
}

/** Also for a store that another copy of this module has opened. */
function isOurs(store: RunStore): store is Store {
  return typeof (store as Partial<Store> | null)?.recorded === "function";
}

function checkRun(run: DurableRun): void {
  checkOptionNames("durable: run", run, NAMES);
  const { id, lease = 30_000, labels = {} } = run;
  checkText("durable: run.id", id);
  const bytes = Buffer.byteLength(id);
  if (bytes < 1 || bytes > 512 || id.includes("\0") || Buffer.from(id).toString() !== id) {
    throw new TypeError("durable: run.id must be a well-formed text of 1 to 512 bytes without U+0000");
  }
  for (const [name, value] of Object.entries({ agent: run.agent, version: run.version, ...labels })) {
    if (value !== undefined) checkText(`durable: run.${name}`, value);
  }
  if (!(lease >= 100 && lease <= 86_400_000)) {
    throw new RangeError(
      `durable: run.lease must be a number of milliseconds from 100 to 86,400,000, received ${received(lease)}`,
    );
  }
}

type Claim =
  | { readonly epoch: number; readonly askedAt: number }
  | { readonly result: string; readonly types: string | null };

/** Takes the lease of a run that nobody has, and creates the run if necessary. */
async function claimRun({ driver }: Store, run: DurableRun): Promise<Claim> {
  const { id, lease = 30_000, agent = "", labels = {}, version = null, otherVersion = "continue" } = run;
  const owner = `${hostname()}:${process.pid}`;
  const { now } = driver;
  const askedAt = performance.now();
  const values: Value[] = [id, agent, JSON.stringify(labels), version, owner, Math.ceil(lease)];
  const isRefused = `${otherVersion === "refuse" ? 1 : 0} = 1 and version <> $4`;
  // One statement, so that of two processes one gets the lease. A run whose result could not be recorded is run again.
  const [claimed] = await driver.query(
    `insert into rewind_run (id, status, agent, labels, version, epoch, owner, until, created, updated, calls, tokens)
     values ($1, 'running', $2, $3, $4, 1, $5, ${now} + $6, ${now}, ${now}, 0, 0)
     on conflict (id) do update set status = 'running', agent = excluded.agent, labels = excluded.labels,
       version = excluded.version, epoch = rewind_run.epoch + 1, owner = excluded.owner, until = excluded.until,
       updated = excluded.updated, error = null
     where (rewind_run.status = 'running' and rewind_run.until < ${now}
         or rewind_run.status = 'failed' or rewind_run.status = 'completed' and rewind_run.result is null)
       and not coalesce(${isRefused.replaceAll("version", "rewind_run.version")}, false)
     returning epoch`,
    values,
  );
  if (claimed !== undefined) return { epoch: Number(claimed["epoch"]), askedAt };
  const [found] = await driver.query(`select *, ${now} as now from rewind_run where id = $1`, [id]);
  // Another process has ended it or deleted it since then.
  if (found === undefined) return claimRun({ driver } as Store, run);
  return refusal(run, found);
}

/** @throws RunLeasedError, RunVersionError, unless the run has a result. */
function refusal({ id, version, otherVersion }: DurableRun, found: Row): Claim {
  const { status, owner, version: recorded, result, types, now } = found;
  if (status === "completed" && typeof result === "string") return { result, types: types as string | null };
  const until = Number(found["until"]);
  const isHeld = status === "running" && until >= Number(now);
  if (!isHeld && otherVersion === "refuse" && version !== undefined && recorded !== version)
    throw new RunVersionError(id, String(recorded), version);
  throw new RunLeasedError(id, String(owner), new Date(until));
}

/** Replaces the events of earlier processes by the snapshot that they give, so that the next resume reads each call once. */
async function replaceEvents({ driver }: Store, id: string, epoch: number, seq: number, body: string): Promise<void> {
  const base = { seq, base: 1, body, large: undefined } as const;
  if (!(await driver.append(id, epoch, { events: [base], effects: [] })))
    throw new LeaseLostError(id, "another process has taken the run over");
  // Readers start at the latest snapshot, so nothing depends on when this happens.
  await driver.query("delete from rewind_event where run = $1 and seq < $2", [id, seq]);
}

async function renew(
  { driver }: Store,
  id: string,
  epoch: number,
  milliseconds: number,
  { calls = 0, tokens = 0 }: Partial<RunWriter> = {},
): Promise<boolean> {
  const { now } = driver;
  const rows = await driver.query(
    `update rewind_run set until = ${now} + $3, updated = ${now}, calls = $4, tokens = $5
     where id = $1 and epoch = $2 and status = 'running' returning id`,
    [id, epoch, Math.ceil(milliseconds), calls, tokens],
  );
  return rows.length > 0;
}

/** @throws LeaseLostError */
async function finish(
  { driver }: Store,
  id: string,
  epoch: number,
  outcome: { readonly value: unknown } | { readonly error: unknown },
  { calls, tokens }: RunWriter,
): Promise<void> {
  const { status, result, types, error } = "error" in outcome ? failed(outcome.error) : completed(outcome.value);
  const rows = await driver.query(
    `update rewind_run set status = $3, until = 0, updated = ${driver.now}, result = $4, types = $5, error = $6,
       calls = $7, tokens = $8
     where id = $1 and epoch = $2 returning id`,
    [id, epoch, status, result, types, error, calls, tokens],
  );
  if (rows.length === 0) throw new LeaseLostError(id, "another process has taken the run over");
}

type End = { status: string; result: string | null; types: string | null; error: string | null };

function completed(value: unknown): End {
  const encoded = encodeWhole(value);
  const [result, types] = "tombstone" in encoded ? [null, null] : [encoded.text, encoded.types];
  return { status: "completed", result, types, error: null };
}

function failed(error: unknown): End {
  return { status: "failed", result: null, types: null, error: JSON.stringify(toErrorInfo(error)) };
}
