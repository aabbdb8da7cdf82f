import { messageOf } from "../errors/base.js";
import { TraceWriteError } from "../errors/index.js";
import { kindOf } from "../errors/received.js";
import { EVENTS } from "../events/names.js";
import { writeAtExit } from "../files/at-exit.js";
import type { TraceEvent } from "../types/events.js";
import { AppendFile } from "./file.js";
import { eventLine, gapLine } from "./lines.js";
import { DeltaWriter } from "./messages-delta.js";
import { warn } from "../errors/printable.js";

/**
 * Durability of emitted events:
 * - `"off"`: written within the same turn of the event loop, never synced. Survives a crash of the process, not of the
 *   machine.
 * - `"batch"`: the same, and synced to disk in batches, without delaying the run.
 * - `"each"`: written and synced before `emit` returns.
 */
export type TraceSync = "off" | "batch" | "each";

/** Pending bytes from which `emit` writes at once, so that a burst of events does not fill the buffer. */
const WRITE_AT = 256 * 1024;
/** Milliseconds after a failure during which only `flush` retries. */
const RETRY_AFTER = 1_000;

// Saved at load time, so that fake timers of a test do not stop the writer.
const { setImmediate } = globalThis;
const { now } = Date;

/** Buffers events as lines, and writes and syncs them in batches. */
export class Appender {
  readonly #file: AppendFile;
  readonly #sync: TraceSync;
  readonly #maxBuffered: number;
  readonly #deltas = new DeltaWriter();
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  #dropped = 0;
  #drainScheduled = false;
  #syncing: Promise<void> | undefined;
  #failure: { error: unknown; at: number; lasting: boolean } | undefined;
  #warned = false;
  #closing: Promise<void> | undefined;
  #closed: Promise<void> | undefined;
  /** The spans of runs whose function has returned and whose streams are still read. */
  readonly #openRuns = new Set<string>();
  #runsEnded: (() => void) | undefined;
  readonly #cancelExit: () => void;

  constructor(path: string, sync: TraceSync, maxBuffered: number) {
    this.#file = new AppendFile(path);
    this.#sync = sync;
    this.#maxBuffered = maxBuffered;
    this.#cancelExit = writeAtExit(() => this.#writeAtExit());
    this.#attempt(() => this.#open());
  }

  get path(): string {
    return this.#file.path;
  }

  emit(event: TraceEvent): void {
    if (typeof event !== "object" || event === null) {
      this.#warn(`emit() received ${kindOf(event)} instead of an event and ignored it`);
      return;
    }
    if (this.#closed !== undefined) {
      this.#warn("an event was emitted after close() and ignored");
      return;
    }
    this.#noteRun(event);
    const line = Buffer.from(eventLine(this.#deltas.shorten(event)));
    // An event that is larger than the whole buffer is written if the buffer is empty.
    if (this.#pendingBytes > 0 && this.#pendingBytes + line.length > this.#maxBuffered) {
      this.#dropped++;
      this.#deltas.forget();
      return;
    }
    this.#pushGap();
    this.#push(line);
    if (this.#sync === "each") {
      if (this.#write() && this.#failure === undefined) this.#attempt(() => this.#file.syncNow(), true);
    } else if (this.#pendingBytes >= WRITE_AT) {
      this.#write();
      this.#scheduleDrain();
    } else {
      this.#scheduleDrain();
    }
  }

  async flush(): Promise<void> {
    if (this.#closed !== undefined) return this.#closed;
    return this.#flush();
  }

  close(): Promise<void> {
    this.#closing ??=
      this.#openRuns.size === 0
        ? this.#close()
        : new Promise<void>((resolve) => (this.#runsEnded = resolve)).then(() => this.#close());
    return this.#closing;
  }

  #close(): Promise<void> {
    this.#closed = this.#flush().finally(() => {
      this.#cancelExit();
      this.#file.close();
    });
    return this.#closed;
  }

  #noteRun({ type, trace }: Partial<TraceEvent>): void {
    if (trace === undefined) return;
    if (type === EVENTS.RUN_WITH_RETURN) this.#openRuns.add(trace.parentSpanId);
    else if (type === EVENTS.RUN_WITH_END && this.#openRuns.delete(trace.spanId) && this.#openRuns.size === 0)
      this.#runsEnded?.();
  }

  async #flush(): Promise<void> {
    if (this.#write(true)) this.#attempt(() => this.#file.checkPlace(), true);
    if (this.#sync === "batch") {
      // A sync in progress may have started before the write, so another one is needed.
      await this.#syncing;
      await this.#startSync();
    }
    if (this.#failure !== undefined) throw new TraceWriteError(this.path, this.#failure.error);
  }

  #push(bytes: Buffer): void {
    this.#pending.push(bytes);
    this.#pendingBytes += bytes.length;
  }

  /** Adds the line for dropped events. They were emitted after all pending events. */
  #pushGap(): void {
    if (this.#dropped === 0) return;
    const line = gapLine(this.#dropped);
    this.#dropped = 0;
    this.#push(Buffer.from(line));
  }

  #scheduleDrain(): void {
    if (this.#drainScheduled) return;
    this.#drainScheduled = true;
    setImmediate(() => {
      this.#drainScheduled = false;
      // A write during a sync could block until the sync ends. These events form the next batch.
      if (this.#syncing === undefined) this.#drain();
    });
  }

  #drain(): void {
    if (this.#closed !== undefined || this.#pendingBytes === 0) return;
    if (this.#write() && this.#sync === "batch") void this.#startSync();
  }

  #startSync(): Promise<void> {
    this.#syncing ??= this.#file
      .sync()
      .catch((error: unknown) => this.#fail(error, true))
      .finally(() => {
        this.#syncing = undefined;
        if (this.#pendingBytes > 0) this.#scheduleDrain();
      });
    return this.#syncing;
  }

  /** Writes all pending bytes, unless a write failed recently. Returns true if all is written. */
  #write(insist = false): boolean {
    const failure = this.#failure;
    if (failure?.lasting === false && !insist && now() - failure.at < RETRY_AFTER) return false;
    return this.#attempt(() => {
      this.#open();
      this.#pushGap();
      while (this.#pendingBytes > 0) {
        const bytes = this.#pending.length === 1 ? (this.#pending[0] as Buffer) : Buffer.concat(this.#pending);
        this.#pending = [bytes];
        const rest = bytes.subarray(this.#file.write(bytes));
        this.#pending = rest.length === 0 ? [] : [rest];
        this.#pendingBytes = rest.length;
      }
    });
  }

  #open(): void {
    if (this.#file.isOpen) return;
    const prefix = this.#file.open();
    if (prefix === "") return;
    this.#pending.unshift(Buffer.from(prefix));
    this.#pendingBytes += prefix.length;
  }

  #attempt(action: () => void, lasting = false): boolean {
    try {
      action();
      // The bytes of the failed write are still pending, so they are written now.
      if (this.#failure?.lasting === false) this.#failure = undefined;
      return true;
    } catch (error) {
      this.#fail(error, lasting);
      return false;
    }
  }

  /** `lasting`: the loss cannot be repaired by a retry. */
  #fail(error: unknown, lasting: boolean): void {
    if (this.#failure?.lasting !== true) this.#failure = { error, at: now(), lasting };
    this.#warn(messageOf(error));
  }

  #warn(what: string): void {
    if (this.#warned) return;
    this.#warned = true;
    warn(`the trace file ${this.path}: ${what}. The run continues. This warning is shown once.`);
  }

  #writeAtExit(): void {
    if (this.#pendingBytes === 0 && this.#dropped === 0) return;
    if (this.#write(true) && this.#sync === "batch") this.#attempt(() => this.#file.syncNow(), true);
  }
}
