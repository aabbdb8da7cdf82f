/** A database that contains a store. Values are text, numbers and `null`; `$1`, `$2`, … refer to them. */
export interface Driver {
  /** SQL expression: the time by the clock of the database, in milliseconds since 1970. */
  readonly now: string;
  /** Executes a statement. Returns its rows. */
  query(sql: string, values?: readonly Value[]): Promise<readonly Row[]>;
  /** Creates what is missing. Processes that do it at the same time wait for each other. */
  migrate(statements: readonly string[]): Promise<void>;
  /**
   * Appends to a run, in one transaction.
   * @returns false if the epoch is not that of the run any more. Nothing is written then.
   */
  append(run: string, epoch: number, batch: Batch): Promise<boolean>;
  close(): Promise<void>;
}

export type Value = string | number | null;
export type Row = Readonly<Record<string, unknown>>;

/** What is appended to a run. All of it can be appended again without an effect. */
export interface Batch {
  readonly events: readonly EventRow[];
  readonly effects: readonly EffectRow[];
}

/** One line of a trace. */
export interface EventRow {
  readonly seq: number;
  /** 1 for a snapshot, which replaces everything before it. */
  readonly base: 0 | 1;
  readonly body: string;
  /** The field of the event that is stored by its content, its JSON text, and the hash of that. */
  readonly large: { readonly field: string; readonly hash: string; readonly text: string } | undefined;
}

/** What is known of a call with `effect: "once"`. */
export interface EffectRow {
  readonly key: string;
  readonly callId: string;
  readonly name: string;
  readonly state: EffectState;
}

/**
 * - `intent`: its execution has started.
 * - `done`: its answer is recorded.
 * - `settled`: somebody has found out that it took effect, and with which output.
 * - `not-done`: somebody has found out that it did not.
 */
export type EffectState = "intent" | "done" | "settled" | "not-done";
