import { createRequire } from "node:module";
import { join } from "node:path";

import { messageOf } from "../../errors/base.js";
import { stringifySnapshot, writeSnapshot } from "../../snapshot/files.js";
import { openStore, postgresStore, type PostgresPool, type RunStore, type StoredRun } from "../../store/index.js";
import { EXIT, InputError, UsageError, type ExitCode } from "../exit.js";
import { visible, type Output } from "../output.js";

type Flags = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;
type Command = (store: RunStore, names: readonly string[], flags: Flags, out: Output, json: boolean) => Promise<void>;

/** The subcommands, and the options of each that take a value. */
export const RUN_OPTIONS: Readonly<Record<string, readonly string[]>> = {
  list: ["status", "agent", "limit"],
  show: [],
  settle: ["output"],
  prune: ["older-than", "keep-last"],
  export: ["file"],
};

/** `agent-rewind runs …`: the runs of a store. */
export async function runs(
  command: string,
  names: readonly string[],
  flags: Flags,
  out: Output,
  json: boolean,
): Promise<ExitCode> {
  const url = flags["store"];
  if (typeof url !== "string") throw new UsageError(`runs ${command} needs --store, such as --store sqlite:runs.db`);
  const wanted = { show: 1, export: 1, settle: 2 }[command] ?? 0;
  if (names.length !== wanted) {
    const list = ["the id of a run", "the callId of a call"].slice(0, wanted).join(" and ");
    throw new UsageError(`runs ${command} takes ${list || "no names"}, received ${names.length} names`);
  }
  try {
    const { store, close } = await open(url);
    try {
      await (COMMANDS[command] as Command)(store, names, flags, out, json);
    } finally {
      await close();
    }
  } catch (cause) {
    if (cause instanceof UsageError || cause instanceof InputError) throw cause;
    throw new InputError(messageOf(cause), { cause });
  }
  return EXIT.ok;
}

async function open(url: string): Promise<{ store: RunStore; close: () => Promise<void> }> {
  if (!/^postgres(?:ql)?:/.test(url)) {
    const store = await openStore(url);
    return { store, close: () => store.close() };
  }
  let pg: { Pool: new (options: object) => PostgresPool & { end(): Promise<void> } };
  try {
    // That of the project, because this package does not depend on a driver.
    pg = createRequire(join(process.cwd(), "package.json"))("pg") as typeof pg;
  } catch (cause) {
    throw new InputError("a store in PostgreSQL needs the package pg in this folder: npm install pg", { cause });
  }
  const pool = new pg.Pool({ connectionString: url });
  try {
    return { store: await postgresStore({ pool }), close: () => pool.end() };
  } catch (error) {
    await pool.end();
    throw error;
  }
}

const COMMANDS: Readonly<Record<string, Command>> = {
  async list(store, _names, { status, agent, limit = "50" }, out, json) {
    const filter = { ...(status && { status }), ...(agent && { agent }), limit: countOf("--limit", limit) };
    const found: StoredRun[] = [];
    for await (const run of store.runs(filter as Parameters<RunStore["runs"]>[0])) found.push(run);
    if (json) return out.json(found);
    for (const { id, status: is, agent: by, updated, calls, error } of found) {
      const why = error === undefined ? "" : `  ${error.name}: ${error.message}`;
      await out.line(visible(`${updated.toISOString()}  ${is.padEnd(11)}  ${id}  ${by}  ${calls} calls${why}`, 200));
    }
  },
  async show(store, [id = ""], _flags, out, json) {
    const run = await existing(store, id);
    const effects = await store.effects(id);
    if (json) return out.json({ ...run, effects });
    for (const [name, value] of Object.entries(run)) {
      if (value === undefined || value === "") continue;
      const text =
        value instanceof Date ? value.toISOString() : typeof value === "object" ? JSON.stringify(value) : value;
      await out.line(visible(`${name.padEnd(10)}${text}`));
    }
    for (const { callId, state, startedAt, idempotencyKey } of effects) {
      const is = state === "intent" ? "uncertain" : state;
      await out.line(visible(`${is.padEnd(10)}${callId}  ${startedAt.toISOString()}  ${idempotencyKey}`));
    }
  },
  async settle(store, [id = "", callId = ""], { output, "not-done": notDone }, out) {
    if ((output === undefined) === (notDone !== true)) throw new UsageError("runs settle needs --output or --not-done");
    await existing(store, id);
    await store.settle(id, callId, output === undefined ? "not-done" : { output: parsed(String(output)) });
    await out.line(visible(`settled ${callId}`));
  },
  async prune(store, _names, { "older-than": olderThan, "keep-last": keepLast = "0" }, out, json) {
    if (olderThan === undefined) throw new UsageError("runs prune needs --older-than, such as --older-than 30d");
    const deleted = await store.prune({ olderThan: String(olderThan), keepLast: countOf("--keep-last", keepLast) });
    await (json ? out.json({ deleted }) : out.line(`deleted ${deleted} runs`));
  },
  async export(store, [id = ""], { file }, out) {
    await existing(store, id);
    const snapshot = await store.snapshot(id);
    if (snapshot === undefined) throw new InputError(`nothing is recorded of the run ${JSON.stringify(id)}`);
    if (file === undefined || file === "-") return out.raw(`${stringifySnapshot(snapshot)}\n`);
    await writeSnapshot(String(file), snapshot);
  },
};

async function existing(store: RunStore, id: string): Promise<StoredRun> {
  const run = await store.run(id);
  if (run === undefined) throw new InputError(`the store has no run ${JSON.stringify(id)}`);
  return run;
}

function countOf(option: string, value: unknown): number {
  const count = Number(value);
  if (Number.isInteger(count) && count >= 0) return count;
  throw new UsageError(`${option} must be a whole number, received "${String(value)}"`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new UsageError(`--output must be JSON: ${messageOf(cause)}`, { cause });
  }
}
