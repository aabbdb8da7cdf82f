import { createHmac, randomBytes } from "node:crypto";

import { AbortError } from "../../errors/index.js";
import type { NativeFrameHandle } from "../../native.js";
import type { ModelAdapter } from "../../types/model.js";
import type { FrameReport } from "../../types/report.js";
import type { Recorder } from "../../types/snapshot.js";
import { errorInfoText } from "../../values/error-info.js";
import type { Encoded } from "../../values/encode.js";
import { Cancellation } from "./cancellation.js";
import type { SpanRef } from "./emitter.js";
import { ErrorOrigins, type FailedAnswer, type Origin } from "./error-origins.js";
import { Generation } from "./generation.js";
import { MemoryStore } from "./memory.js";
import type { AskedIn } from "./outer-call.js";
import type { RunState } from "./run-state.js";
import type { StreamWatcher } from "./watcher.js";

export interface AgentSettings {
  readonly model?: string | ModelAdapter | undefined;
  readonly maxRetries: number;
  readonly maxTurnSteps: number;
  readonly maxReborns: number;
  readonly streamWatchers: readonly StreamWatcher[];
}

/** Settings of a frame that does not belong to an agent. */
export const DEFAULT_SETTINGS: AgentSettings = {
  maxRetries: 3,
  maxTurnSteps: 10,
  maxReborns: 100,
  streamWatchers: [],
};

/**
 * - `running`: the handler runs.
 * - `returned`: the handler returned or failed. The frame may still wait for the recorded order to reach its end.
 * - `closed`: the frame ended. Calls that its handler left running, or that leftover code begins, are journaled in it.
 * - `abandoned`: a frame above ended without waiting for this one. Nothing more is journaled in it.
 */
type Lifecycle = "running" | "returned" | "closed" | "abandoned";

/** How the recording of a frame answers its calls. */
interface FrameRules {
  readonly generation: Generation;
  /** True if requests must also be looked up by the hash of another recorder. */
  readonly foreignHashes: boolean;
  /** True if calls and frames inside a call belong to it. */
  readonly innerCalls: boolean;
  /** True if a retry that a client reports belongs to the call that it repeats. */
  readonly ownAttempts: boolean;
  /** True if calls must be started with their lanes. */
  readonly lanes: boolean;
}

/** A frame of an active run: one for `runWith`, and one for each call of an agent. */
export class Scope {
  readonly run: RunState;
  readonly parent: Scope | undefined;
  /** Where the frame was opened. */
  readonly openedIn: AskedIn | undefined;
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
  openCalls: number = 0;
  /** The number of calls that have ended. */
  endedCalls: number = 0;
  /** True if a start may show that an earlier failure was handled. */
  hasPendingFailures: boolean = false;
  /** CallIds of the failures that were handled, until an event names them. */
  readonly #handled: string[] = [];
  readonly #children = new Set<Scope>();
  readonly #cancellation: Cancellation;
  readonly #errorOrigins = new ErrorOrigins();
  #hasNewDigest: boolean = false;
  #rules: FrameRules | undefined;
  #lifecycle: Lifecycle = "running";
  #onAbandon: () => void = () => {};

  constructor(options: {
    run: RunState;
    parent: Scope | undefined;
    openedIn?: AskedIn | undefined;
    callId: string;
    agentId: string;
    frame: NativeFrameHandle;
    settings: AgentSettings;
    outerRecording?: Scope | undefined;
    signal?: AbortSignal | undefined;
  }) {
    this.run = options.run;
    this.parent = options.parent;
    this.openedIn = options.openedIn;
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
    // A live run may have any number of frames, and nobody reads a report on each.
    if (this.run.replaying) {
      this.run.report.frames.push(this.frameReport);
      if (this.run.outermost !== this.run) this.run.outermost.report.frames.push(this.frameReport);
    }
    const entry = options.frame.entry();
    this.generation = new Generation(entry?.generation ?? 0);
    this.memory = new MemoryStore(entry?.memory, (key, text, initial) => {
      if (!this.closed) this.frame.setMemory(this.recordable(JSON.stringify(key)), this.recordable(text), initial);
    });
    this.#cancellation = new Cancellation(options.parent?.signal, options.signal);
    this.parent?.addChild(this);
  }

  /** How the recording answers the current generation. Read once, because each call needs it. */
  get rules(): FrameRules {
    const { frame, generation } = this;
    if (this.#rules?.generation !== generation) {
      this.#rules = {
        generation,
        foreignHashes: frame.hasForeignHashes,
        innerCalls: frame.hasInnerCalls,
        ownAttempts: frame.hasOwnAttempts,
        lanes: frame.hasLanes,
      };
    }
    return this.#rules;
  }

  get signal(): AbortSignal {
    return this.#cancellation.signal;
  }

  /** The digest of a secret, under a random key that is a part of the recording. */
  digest(secret: string): string {
    this.#hasNewDigest = true;
    const salt = this.frame.salt(randomBytes(16).toString("hex"));
    return createHmac("sha256", salt).update(secret).digest("hex");
  }

  /** The recorder with the key of digests, for the start event of the call that they were made for. */
  takeSalt(): { recorder?: Recorder } {
    if (!this.#hasNewDigest) return {};
    this.#hasNewDigest = false;
    return { recorder: JSON.parse(this.frame.recorder) as Recorder };
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

  /** Aborts this frame and the frames below it. Does nothing once the frame has ended. */
  abort(reason: unknown): void {
    if (!this.closed) this.#cancellation.abort(reason);
  }

  /** @throws AbortError once the signal is aborted. */
  throwIfAborted(): void {
    if (this.signal.aborted) throw this.abortError();
  }

  /** The error to throw once the signal is aborted. */
  abortError(): AbortError {
    return this.#cancellation.error();
  }

  /**
   * Emits an event while the frame can still journal, so that a trace never has more than a dump. After the first
   * dropped event, all later ones are dropped too, so a span never ends without a start.
   */
  emit(type: string, span: SpanRef, fields: object, attributes?: Readonly<Record<string, unknown>>): void {
    if (this.isOpen) this.run.emitter.emit(type, this.agentId, span, fields, attributes);
  }

  /** True while the frame can journal: its run has not ended, and neither it nor a frame above was abandoned. */
  get isOpen(): boolean {
    if (!this.closed) return true;
    return !this.abandoned && this.parent?.run === this.run && this.parent.isOpen;
  }

  nextCallId(type: string, id: string): string {
    const { redaction } = this.run;
    const [ownType, ownId] = redaction === undefined ? [type, id] : [redaction.name(type), redaction.name(id)];
    return `${this.callId}/${ownType}:${ownId}:${this.generation.next(ownType, ownId)}`;
  }

  /** JSON text in the form to record: with secrets redacted. */
  recordable(json: string): string {
    return this.run.redaction?.json(json) ?? json;
  }

  /** Remembers the journal entry that failed with an error, in case the frame ends with that error. */
  remember(failed: unknown, origin: Origin): void {
    this.#errorOrigins.remember(failed, origin);
  }

  rememberAnswer(answer: FailedAnswer, origin: Origin): void {
    this.#errorOrigins.rememberAnswer(answer, origin);
  }

  /** The calls and sub-agents of this frame that failed with an error, or with one in it. */
  originsOf(error: unknown): Origin[] {
    return this.#errorOrigins.find(error);
  }

  /** True if nothing is open in the frame except the calls that the code executes, which are `outerCalls`. */
  isIdle(outerCalls: number): boolean {
    return this.openCalls <= outerCalls && this.#children.size === 0;
  }

  noteHandled(callIds: readonly string[]): void {
    this.#handled.push(...callIds);
  }

  /** Fields for the event of a start: the failures that the program has handled since the last such event. */
  takeHandled(): { handledFailures?: string[] } {
    return this.#handled.length === 0 ? {} : { handledFailures: this.#handled.splice(0) };
  }

  /** Counts a call in the reports of the frame and its run. */
  count(what: "replayed" | "live" | "missed" | "overtaken", calls = 1): void {
    this.frameReport[what] += calls;
    this.run.report[what] += calls;
    // Leftover code may request what was unused at the end of the frame.
    if (this.closed) this.countUnused();
  }

  /** Ends the frame with a result, in the form that is recorded. */
  complete({ text, types }: Encoded, emitEnd: () => void): void {
    if (!this.abandoned) this.frame.complete(text, types ?? undefined);
    emitEnd();
    this.close();
  }

  /**
   * Ends the frame with an error. First marks the entries that failed with it, or with an error in it: the core must know
   * them when the end is journaled.
   * @returns those entries.
   */
  fail(error: unknown, emitEnd: (ended: { failedBy: string[] }) => void): readonly Origin[] {
    const origins = this.originsOf(error);
    for (const origin of origins) origin.markStopped();
    const info = this.recordable(errorInfoText(error));
    if (!this.abandoned) this.frame.endFailed(info);
    emitEnd({ failedBy: origins.map(({ callId }) => callId) });
    this.close();
    return origins;
  }

  /** Abandons the frames below that still run in this generation. */
  closeChildren(): void {
    for (const child of this.#children) child.abandon(this.#ended());
    this.#children.clear();
    this.#errorOrigins.forget();
  }

  /** Reports the recorded entries that were not requested so far. */
  countUnused(): void {
    if (!this.run.replaying || !this.run.isReported) return;
    const unused = this.frameReport.reused ? null : this.frame.unused();
    if (unused != null) this.frameReport.unused = unused;
  }

  /** Ends the frame. */
  close(): void {
    this.countUnused();
    this.closeChildren();
    this.parent?.removeChild(this);
    this.#cancellation.unlink();
    if (!this.abandoned) this.#lifecycle = "closed";
  }

  /** The reason for aborting the frames below when this one ends. The core writes the same text into dumps. */
  #ended(): AbortError {
    const ended = this.agentId === "" ? "the run" : `its parent agent "${this.agentId}"`;
    return new AbortError(`${ended} ended before this agent did`);
  }

  // A parent or child may belong to another copy of the package, which cannot access private members of this class.

  /** Adds a child. A child that leftover code of an ended frame starts is abandoned at once. */
  addChild(child: Scope): void {
    if (this.closed) child.abandon(this.#ended());
    else this.#children.add(child);
  }

  /** Removes a child that has ended. */
  removeChild(child: Scope): void {
    this.#children.delete(child);
  }

  /** Calls a function when the frame is abandoned, or at once if it already was. */
  onAbandon(fn: () => void): void {
    if (this.abandoned) fn();
    else this.#onAbandon = fn;
  }

  /** Aborts and ends this frame and the frames below it. */
  abandon(reason: AbortError): void {
    if (this.closed) return;
    this.#lifecycle = "abandoned";
    this.#onAbandon();
    this.#cancellation.unlink();
    this.#cancellation.abort(reason);
    for (const child of this.#children) child.abandon(reason);
    this.#children.clear();
  }
}
