import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

import { UncertainEffectError } from "../errors/index.js";
import type { CallAhead, EarlierExecution, EventSink } from "../index.js";
import { eventLine } from "../trace/lines.js";
import { DeltaWriter } from "../trace/messages-delta.js";
import type { TraceEvent } from "../types/events.js";
import type { Driver, EffectRow, EffectState, EventRow } from "./driver.js";
import type { Lease } from "./lease.js";

/** Lines above this length have their largest field stored by its content, which other events and runs share. */
const LARGE = 8 * 1024;
/** Events of one append. */
const MOST = 1_000;

/** An entry of the ledger of effects. */
export interface KnownEffect {
  readonly key: string;
  readonly callId: string;
  readonly name: string;
  readonly state: EffectState;
  readonly startedAt: Date;
  readonly output: EarlierExecution["output"];
}

export interface WriterOptions {
  readonly driver: Driver;
  readonly id: string;
  readonly epoch: number;
  /** The first `seq` to write. */
  readonly next: number;
  readonly lease: Lease;
  readonly effects: readonly KnownEffect[];
  readonly forward: EventSink | undefined;
}

/** Appends the events of a run to its store, and decides if a call with an effect may be executed. */
export class RunWriter implements EventSink {
  calls = 0;
  tokens = 0;
  readonly #options: WriterOptions;
  readonly #deltas = new DeltaWriter();
  /** By idempotency key: the calls that were executed once, and have no answer in the recording. */
  readonly #effects: Map<string, KnownEffect>;
  /** Calls with `effect: "once"` that are being executed, by callId. */
  readonly #executing = new Map<string, EffectRow>();
  #next: number;
  #events: EventRow[] = [];
  #changes: EffectRow[] = [];
  #appending: Promise<void> | undefined;
  #isScheduled = false;

  constructor(options: WriterOptions) {
    this.#options = options;
    this.#next = options.next;
    this.#effects = new Map(options.effects.map((effect) => [effect.key, effect]));
  }

  emit(event: TraceEvent): void {
    this.#options.forward?.emit(event);
    if (isStopped(event)) return;
    this.#count(event);
    this.#events.push(rowOf(eventLine(this.#deltas.shorten(event)), this.#next));
    this.#next += 1;
    this.#noteEnd(event);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      // Only a flush reports the failure.
      this.flush().catch(() => {});
    });
  }

  /** @throws LeaseLostError; UncertainEffectError if the changed program asks for an effect whose call is uncertain. */
  async beforeCall(call: CallAhead): Promise<EarlierExecution | undefined> {
    const earlier = call.effect === "once" ? this.#begin(call) : undefined;
    await this.#options.forward?.beforeCall?.(call);
    await this.flush();
    return earlier;
  }

  /** Resolves when everything that was emitted is written. */
  async flush(): Promise<void> {
    while (this.#events.length > 0 || this.#changes.length > 0 || this.#appending !== undefined) {
      this.#appending ??= this.#append().finally(() => (this.#appending = undefined));
      await this.#appending;
    }
    this.#options.lease.check();
  }

  #begin({ idempotencyKey: key, callId, name }: CallAhead): EarlierExecution | undefined {
    const known = this.#effects.get(key);
    this.#effects.delete(key);
    if (known === undefined) this.#refuseChanged(name);
    const row = { key, callId, name, state: "intent" } as const;
    this.#executing.set(callId, row);
    if (known === undefined || known.state === "not-done") {
      this.#changes.push(row);
      return undefined;
    }
    const { startedAt, output } = known;
    return { startedAt, output };
  }

  /** If the program has changed, its request has another key, and could repeat a call that nobody has settled. */
  #refuseChanged(name: string): void {
    for (const { key, callId, name: tool, state, startedAt } of this.#effects.values()) {
      if (state !== "intent" || tool !== name) continue;
      throw new UncertainEffectError({ callId, tool, input: undefined, idempotencyKey: key, startedAt });
    }
  }

  #noteEnd(event: TraceEvent): void {
    if (event.type !== "call:end" && event.type !== "tool:call:end") return;
    const callId = event.type === "call:end" ? event.callId : event.journalCallId;
    const row = this.#executing.get(callId);
    if (row === undefined) return;
    this.#executing.delete(callId);
    // A call that failed may have taken effect all the same.
    if (event.success) this.#changes.push({ ...row, state: "done" });
  }

  #count(event: TraceEvent): void {
    if ((event.type === "call:end" || event.type === "tool:call:end" || event.type === "turn:end") && !event.cache) {
      this.calls += 1;
    } else if (event.type === "budget:update") this.tokens = Math.max(this.tokens, event.aggregate.totalTokens);
  }

  async #append(): Promise<void> {
    const { driver, id, epoch, lease } = this.#options;
    const events = this.#events.slice(0, MOST);
    const effects = [...new Map(this.#changes.map((row) => [row.key, row])).values()];
    const changes = this.#changes.length;
    for (let pause = 10; ; pause = Math.min(pause * 2, 500)) {
      lease.check();
      try {
        if (!(await driver.append(id, epoch, { events, effects })))
          lease.lose("another process has taken the run over");
        break;
      } catch (error) {
        lease.failed(error);
      }
      await sleep(pause, undefined, { ref: false });
    }
    lease.check();
    this.#events.splice(0, events.length);
    this.#changes.splice(0, changes);
  }
}

/** The end of a call that was not executed, or whose run was stopped: its recording stays in flight. */
function isStopped(event: TraceEvent): boolean {
  if (event.type !== "call:end" && event.type !== "tool:call:end") return false;
  return event.error?.name === "UncertainEffectError" || event.error?.name === "LeaseLostError";
}

/** A line of a trace as a row. */
function rowOf(text: string, seq: number): EventRow {
  const body = text.trimEnd();
  if (body.length <= LARGE) return { seq, base: 0, body, large: undefined };
  const fields = Object.entries(JSON.parse(body) as Record<string, unknown>).map(
    ([field, value]) => [field, JSON.stringify(value)] as const,
  );
  const [field, largest] = fields.reduce((a, b) => (b[1].length > a[1].length ? b : a));
  const rest = fields.filter(([name]) => name !== field).map(([name, value]) => `${JSON.stringify(name)}:${value}`);
  const hash = createHash("sha256").update(largest).digest("base64url");
  return { seq, base: 0, body: `{${rest.join(",")}}`, large: { field, hash, text: largest } };
}

/** The line of a row that was read. */
export function lineOf(body: string, field: string | null, large: string | null): string {
  return field === null ? body : `${body.slice(0, -1)},${JSON.stringify(field)}:${large ?? "null"}}`;
}
