import { setMaxListeners } from "node:events";

import { AbortError, isAbortError } from "../../errors/index.js";
import type { NativeBegun, NativeFrameHandle } from "../../native.js";
import type { ModelAdapter } from "../../types/model.js";
import type { FrameReport } from "../../types/report.js";
import { ErrorOrigins } from "./error-origins.js";
import { Generation } from "./generation.js";
import { MemoryStore } from "./memory.js";
import type { RunState, SpanRef } from "./run-state.js";
import type { StreamWatcher } from "./watcher.js";

export interface AgentSettings {
  readonly model?: string | ModelAdapter | undefined;
  readonly maxRetries: number;
  readonly maxTurnSteps: number;
  readonly maxReborns: number;
  readonly streamWatchers: readonly StreamWatcher[];
}

/** Settings of a frame that no agent was made for. */
export const DEFAULT_SETTINGS: AgentSettings = {
  maxRetries: 3,
  maxTurnSteps: 10,
  maxReborns: 100,
  streamWatchers: [],
};

/** An attempt of a client at a call. */
export interface Attempt {
  readonly begun: NativeBegun;
  readonly callId: string;
}

/**
 * The life of a frame.
 * - `running`: its handler runs.
 * - `returned`: its handler has returned or failed. The frame may still wait for the recorded order to reach its end.
 * - `closed`: it has ended.
 * - `abandoned`: a frame above ended without waiting for this one. What still ends in it is not journaled.
 */
type Lifecycle = "running" | "returned" | "closed" | "abandoned";

/** A frame at run time: one for `runWith`, one for each call of an agent. */
export class Scope {
  readonly run: RunState;
  readonly parent: Scope | undefined;
  readonly callId: string;
  readonly agentId: string;
  readonly depth: number;
  readonly frame: NativeFrameHandle;
  readonly memory: MemoryStore;
  readonly settings: AgentSettings;
  /** The test recording that answers what this run's own snapshot does not. All frames of a run have the same. */
  readonly outerRecording: Scope | undefined;
  readonly frameReport: FrameReport;
  generation: Generation;
  readonly #children = new Set<Scope>();
  readonly #controller = new AbortController();
  readonly #errorOrigins = new ErrorOrigins();
  readonly #unlinks: (() => void)[] = [];
  /** The last attempt of each request that its client marks its retries of. */
  readonly attempts: Map<string, Attempt> = new Map();
  #streams = 0;
  #ending: (() => void) | undefined;
  #lifecycle: Lifecycle = "running";
  #onAbandon: () => void = () => {};

  constructor(options: {
    run: RunState;
    parent: Scope | undefined;
    callId: string;
    agentId: string;
    frame: NativeFrameHandle;
    settings: AgentSettings;
    outerRecording?: Scope | undefined;
    signal?: AbortSignal | undefined;
  }) {
    this.run = options.run;
    this.parent = options.parent;
    this.callId = options.callId;
    this.agentId = options.agentId;
    // A run in a recording session has the depth of a root.
    this.depth = options.agentId === "" ? 0 : (options.parent?.depth ?? 0) + 1;
    this.frame = options.frame;
    this.settings = options.settings;
    this.outerRecording = options.parent?.run === options.run ? options.parent.outerRecording : options.outerRecording;
    this.frameReport = {
      callId: this.callId,
      agentId: this.agentId,
      recording: options.frame.recording as FrameReport["recording"],
      replayed: 0,
      live: 0,
      missed: 0,
      overtaken: 0,
      reused: false,
    };
    // A live run may have any number of frames; nobody asks for a report on each.
    if (this.run.replaying) {
      this.run.report.frames.push(this.frameReport);
      if (this.run.outermost !== this.run) this.run.outermost.report.frames.push(this.frameReport);
    }
    const entry = options.frame.entry();
    this.generation = new Generation(entry?.generation ?? 0);
    this.memory = new MemoryStore(entry?.memory, (key, text, initial) => {
      if (!this.closed) this.frame.setMemory(this.recordable(JSON.stringify(key)), this.recordable(text), initial);
    });
    // Any number of sub-agents and calls may listen at the same time; Node would warn of a leak.
    setMaxListeners(0, this.#controller.signal);
    this.#follow(options.parent?.signal);
    this.#follow(options.signal);
    this.parent?.adopt(this);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** True if the frame, or one above it, has ended. */
  get closed(): boolean {
    return this.#lifecycle === "closed" || this.#lifecycle === "abandoned";
  }

  /** True if a frame above has ended without waiting for this one. */
  get abandoned(): boolean {
    return this.#lifecycle === "abandoned";
  }

  /** True while the handler runs: only then may a miss fail the run. */
  get isRunning(): boolean {
    return this.#lifecycle === "running";
  }

  /** Notes that the handler has returned or failed. */
  markReturned(): void {
    if (this.#lifecycle === "running") this.#lifecycle = "returned";
  }

  #follow(signal: AbortSignal | undefined): void {
    if (signal === undefined) return;
    if (signal.aborted) {
      this.#controller.abort(signal.reason);
      return;
    }
    const abort = (): void => this.#controller.abort(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    this.#unlinks.push(() => signal.removeEventListener("abort", abort));
  }

  /** The signal of a frame that has ended never changes again. */
  #unlink(): void {
    for (const unlink of this.#unlinks.splice(0)) unlink();
  }

  /** Aborts this frame, and those under it. */
  abort(reason: unknown): void {
    if (!this.closed) this.#controller.abort(reason);
  }

  /** @throws AbortError once the signal is aborted. */
  throwIfAborted(): void {
    if (this.signal.aborted) throw this.abortError();
  }

  /** What is thrown under the aborted signal. */
  abortError(): AbortError {
    const reason: unknown = this.signal.reason;
    return isOwnAbortError(reason) ? reason : new AbortError(reason);
  }

  /**
   * Hands out an event, as long as something can be journaled in the frame: what is not in a dump is not in the trace.
   * Once one event is left out all later ones are, so no call is told to end that was not told to start.
   */
  emit(type: string, span: SpanRef, fields: object, attributes?: Record<string, unknown>): void {
    if (this.isOpen) this.run.emit(type, this.agentId, span, fields, attributes);
  }

  /** Whether something can still be journaled: the frame has not ended, or a call holds it open. */
  get isOpen(): boolean {
    if (!this.closed) return true;
    return this.#streams > 0 && !this.abandoned && this.parent?.isOpen === true;
  }

  nextCallId(type: string, id: string): string {
    const { redaction } = this.run;
    const [ownType, ownId] = redaction === undefined ? [type, id] : [redaction.name(type), redaction.name(id)];
    return `${this.callId}/${ownType}:${ownId}:${this.generation.next(ownType, ownId)}`;
  }

  /** JSON text as it may be recorded. */
  recordable(json: string): string {
    return this.run.redaction?.json(json) ?? json;
  }

  /** Remembers which entry an error came from, for the case that the frame ends with it. */
  remember(error: unknown, mark: () => void): void {
    this.#errorOrigins.remember(error, mark);
  }

  /** Marks the entries whose error, or one in whose cause chain, the frame ends with. */
  markPropagated(error: unknown): void {
    this.#errorOrigins.mark(error);
  }

  /**
   * A call of this frame has handed out its answer and goes on: until `release`, neither the frame's end nor that of
   * one above it is journaled, for nothing could be journaled in them any more. A frame that has ended is not opened
   * again by what its left-over code calls.
   */
  holdOpen(): { release: () => void } {
    if (this.parent === undefined || !this.isOpen) return { release() {} };
    const above = this.parent.holdOpen();
    this.#streams += 1;
    let held = true;
    const release = (): void => {
      if (!held) return;
      held = false;
      this.#streams -= 1;
      if (this.#streams === 0) this.#ending?.();
      above.release();
    };
    return { release };
  }

  /** Journals the frame's end, once nothing under it is open; that of the outermost frame at once. */
  journalEnd(returned: "completed" | "failed", end: () => void): void {
    if (this.abandoned) return;
    const { pendingEnds } = this.run.outermost;
    if (this.parent === undefined) for (const pending of pendingEnds) pending();
    if (this.#streams === 0 || this.parent === undefined) {
      end();
      return;
    }
    const ending = (): void => {
      if (!pendingEnds.delete(ending)) return;
      end();
    };
    this.#ending = ending;
    pendingEnds.add(ending);
    this.frame.returnNow(returned === "completed");
  }

  /** Ends what still runs under this frame, in this generation. */
  closeChildren(): void {
    for (const child of this.#children) child.abandon(this.#ended());
    this.#children.clear();
    this.#errorOrigins.forget();
  }

  /** Notes in the report what was recorded and not asked for. */
  countUnused(): void {
    if (!this.run.replaying || !this.run.isReported) return;
    const unused = this.frameReport.reused ? null : this.frame.unused();
    if (unused != null) this.frameReport.unused = unused;
  }

  /** The frame has ended: it journals nothing more and emits no further event. */
  close(): void {
    this.countUnused();
    this.closeChildren();
    this.parent?.release(this);
    this.#unlink();
    if (!this.abandoned) this.#lifecycle = "closed";
  }

  /** Why the frames under this one are aborted at its end; the core writes the same into the dump. */
  #ended(): AbortError {
    const ended = this.agentId === "" ? "the run" : `its parent agent "${this.agentId}"`;
    return new AbortError(`${ended} ended before this agent did`);
  }

  // A parent or child may be of the other copy of the package: private members are not seen across copies.

  /** Takes in a child. One that an ended agent's left-over code starts is abandoned at once. */
  adopt(child: Scope): void {
    if (this.closed) child.abandon(this.#ended());
    else this.#children.add(child);
  }

  /** Lets go of a child that has ended. */
  release(child: Scope): void {
    this.#children.delete(child);
  }

  /** Calls a function when the frame is abandoned; at once if it is already. */
  onAbandon(fn: () => void): void {
    if (this.abandoned) fn();
    else this.#onAbandon = fn;
  }

  /** Aborts the frame, and those under it, and closes them. */
  abandon(reason: AbortError): void {
    if (this.closed) return;
    this.#lifecycle = "abandoned";
    this.#onAbandon();
    this.#unlink();
    this.#controller.abort(reason);
    for (const child of this.#children) child.abandon(reason);
    this.#children.clear();
  }
}

function isOwnAbortError(value: unknown): value is AbortError {
  return isAbortError(value) && (value as { code?: unknown }).code === "ERR_REWIND_ABORTED";
}
