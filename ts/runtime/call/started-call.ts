import type { NativeStartedCall } from "../../native.js";
import type { OuterCall } from "../scope/outer-call.js";
import type { RunContext } from "../scope/run-context.js";
import type { Scope } from "../scope/scope.js";
import { recordedData, type CallData } from "./call-data.js";
import { OpenCall, type AskedFrom } from "./identity/lanes.js";

/** The journal entry of a call. The attempts of a client that retries share it, and only the latest one writes to it. */
export class CallEntry implements OuterCall {
  readonly callId: string;
  sessionCallId?: string | undefined;
  /** The recorded answer, as the core returned it. */
  readonly recorded: NativeStartedCall;
  /** `"output"`, `"failure"`, `"handled-failure"`, or the reason for a miss. */
  answer: string;
  /** The place that the first attempt was asked from. */
  readonly from: AskedFrom;
  attempts: number = 0;
  #recordedData: CallData | undefined;
  /** Called with each outcome of the latest attempt. */
  onOutcome: ((failed: boolean) => void) | undefined;

  constructor(callId: string, from: AskedFrom, recorded: NativeStartedCall) {
    this.callId = callId;
    this.from = from;
    this.recorded = recorded;
    this.answer = recorded.answer;
  }

  get hasRecordedAnswer(): boolean {
    return this.answer === "output" || this.answer === "failure" || this.answer === "handled-failure";
  }

  /** The number of recorded attempts; 0 if the recording does not answer the call. */
  get recordedAttempts(): number {
    if (!this.hasRecordedAnswer) return 0;
    const { attempts, meta } = this.recordedData;
    return attempts ?? (meta?.stream?.attempt ?? 0) + 1;
  }

  /** The recorded data of the call, also if it is executed again. */
  get recordedData(): CallData {
    return (this.#recordedData ??= recordedData(this.recorded.data));
  }
}

/** The kind, name and request of a call. */
export interface CallRequest {
  readonly kind: string;
  readonly name: string;
  /** The request document in the form that is recorded, as JSON text. */
  readonly request: () => string;
  /** Hash of the request as it is sent. Only if its recording is redacted. */
  readonly wireHash: (() => string) | undefined;
  /** Content of the request that its hash does not cover: where and what. */
  readonly inexact?: string | undefined;
  /** Content of the request that the older form of the recording does not have. */
  readonly unseen?: string | undefined;
  /** The request as the recording of the session around the run has it, if that has other rules for its content. */
  readonly inSession?: Pick<CallRequest, "request" | "inexact" | "unseen"> | undefined;
}

class StartedInfo {
  // One property for all instances: V8 would give each object literal with a getter a shape of its own, which costs
  // microseconds. It is enumerable, like the other properties.
  static readonly #KEY: PropertyDescriptor & ThisType<StartedInfo> = {
    get() {
      return this.#call.idempotencyKey;
    },
    enumerable: true,
    configurable: true,
  };
  readonly #call: StartedCall;
  readonly callId: string;
  readonly contentHash: string;
  declare readonly idempotencyKey: string;
  readonly signal: AbortSignal;

  constructor(call: StartedCall) {
    this.#call = call;
    this.callId = call.callId;
    this.contentHash = call.contentHash;
    Object.defineProperty(this, "idempotencyKey", StartedInfo.#KEY);
    this.signal = call.scope.signal;
  }
}

/** A call that has begun in a frame. */
export class StartedCall implements CallRequest {
  readonly context: RunContext;
  readonly scope: Scope;
  readonly kind: string;
  readonly name: string;
  readonly request: () => string;
  readonly wireHash: (() => string) | undefined;
  readonly inexact: string | undefined;
  readonly unseen: string | undefined;
  readonly inSession: CallRequest["inSession"];
  readonly entry: CallEntry;
  readonly #attempt: number;
  readonly #generation: number;
  readonly #open: OpenCall;

  /** `scope`: the frame that journals the call, if it is not that of the context. */
  constructor(
    context: RunContext,
    { kind, name, request, wireHash, inexact, unseen, inSession }: CallRequest,
    entry: CallEntry,
    scope: Scope = context.scope,
  ) {
    this.context = context;
    this.scope = scope;
    this.kind = kind;
    this.name = name;
    this.request = request;
    this.wireHash = wireHash;
    this.inexact = inexact;
    this.unseen = unseen;
    this.inSession = inSession;
    this.entry = entry;
    this.#generation = scope.generation.id;
    const { included } = entry.recorded;
    if (included !== undefined && entry.attempts === 0) scope.generation.reserve(included.names);
    // Otherwise the recorded lane is the lane of the call. A failure or a partial answer may be executed again.
    if (entry.attempts === 0 && scope.run.replaying && (entry.answer !== "output" || entry.recorded.answered != null)) {
      entry.from.capture();
    }
    entry.attempts += 1;
    this.#attempt = entry.attempts;
    this.#open = new OpenCall(this);
    scope.run.endTicks.start();
  }

  /** The fields of its start event that are known only if equal calls are open together. */
  get startFields(): { lanes?: Readonly<Record<string, string>> } {
    const { lanes } = this.#open;
    return lanes.length === 0 ? {} : { lanes: Object.fromEntries(lanes) };
  }

  /** Notes that the call has ended. */
  close(): void {
    this.#open.close();
    this.scope.run.endTicks.close();
  }

  get callId(): string {
    return this.entry.callId;
  }

  get recorded(): NativeStartedCall {
    return this.entry.recorded;
  }

  get contentHash(): string {
    return this.entry.recorded.contentHash;
  }

  get answer(): string {
    return this.entry.answer;
  }

  /** True if the recorded program sent the request again after this failure. */
  get askedAgain(): boolean {
    return this.#attempt < this.entry.recordedAttempts || this.recorded.askedAgain === true;
  }

  /** Id of the call, which stays the same in runs that resume this one. */
  get idempotencyKey(): string {
    const { context, scope, kind, contentHash, recorded } = this;
    const kindText = scope.recordable(JSON.stringify(kind));
    const { within } = context;
    const outer = within === undefined ? undefined : JSON.stringify(within);
    return scope.frame.idempotencyKey(kindText, contentHash, this.#generation, recorded.occurrence ?? 0, outer);
  }

  /** The argument of the code that executes the call. */
  info(): StartedInfo {
    return new StartedInfo(this);
  }

  get hasRecordedAnswer(): boolean {
    return this.entry.hasRecordedAnswer;
  }

  /** Identifies the journal entry. `undefined` if nothing is journaled, or if a later attempt writes to the entry. */
  get slot(): number | undefined {
    return this.#attempt === this.entry.attempts ? this.entry.recorded.slot : undefined;
  }

  /** Notes that the program receives an output or a failure. */
  noteOutcome(failed: boolean): void {
    if (this.#attempt === this.entry.attempts) this.entry.onOutcome?.(failed);
  }

  /** Notes that the recorded answer is incomplete, so the call is executed like one that was in flight. */
  reopen(): void {
    this.entry.answer = "in-flight";
  }
}
