import type { CallMeta, ErrorInfo } from "../../types/snapshot.js";
import { decodeParsed } from "../../values/decode.js";
import type { Encoded, Tombstone } from "../../values/encode.js";
import type { ErrorClass } from "../../types/error-class.js";
import { toErrorInfo, unrecordable } from "../../values/error-info.js";
import { dataText, type CallData } from "./call-data.js";
import { warnOfLostParts } from "./incomplete-errors.js";
import type { StartedCall } from "./started-call.js";

/** How to execute a call, and how to treat its answers. */
export interface CallSpec<T> {
  /** Executes the call. `progress` journals the part of the answer that has arrived. */
  readonly make: (progress: Progress<T>) => T | Promise<T>;
  /** How to continue a recorded answer whose end was not recorded; `undefined` if the answer is complete. */
  readonly incompleteAnswer?: ((recorded: T) => IncompleteAnswer | undefined) | undefined;
  /** The failure that an answer reports, if any. Such an answer is journaled and retried like a failure. */
  readonly failureIn?: ((value: T) => { name: string; message: string } | undefined) | undefined;
  /**
   * Creates the error of a call whose value cannot be journaled. Without it the call succeeds, and its entry contains
   * the reason why it cannot be replayed.
   */
  readonly refuse?: (tombstone: Tombstone["tombstone"]) => Error;
  /** Called before a recorded answer is returned. If it throws, the call fails with that error. */
  readonly beforeReplay?: () => Promise<void> | undefined;
  /** Classes that replayed failures come back as, before those of the run. */
  readonly errors?: readonly ErrorClass[] | undefined;
  /** Returns the meta to journal with the outcome, at the end of the call. */
  readonly meta?: () => CallMeta;
}

/**
 * `"restart"`: the call is executed from its start, if calls may be executed. `"continueOnRead"`: the recorded part is
 * returned, and the call is executed when the reader reaches its end.
 */
export type IncompleteAnswer = "restart" | "continueOnRead";
/** `headReceived`: the program receives the answer now, although the call continues. */
export type Progress<T> = (value: T, headReceived?: boolean) => Ended<T>;

/** The end of a call that did not fail. */
export interface Ended<T> extends CallData {
  readonly value: T;
  /** True if the answer comes from the recording. */
  readonly cached: boolean;
  /** The journaled value. Absent if the value could not be journaled. */
  readonly encoded?: Encoded | undefined;
  /** The path and the reason if the value could not be journaled. */
  readonly tombstone?: string | undefined;
  /** The journaled failure, if the value reports one. */
  readonly failure?: ErrorInfo | undefined;
  /** Only for a recorded failure: true if the recorded program handled it. */
  readonly handledWhenRecorded?: boolean | undefined;
  /**
   * Only for an incomplete recorded answer: executes the call, if it may be executed.
   * @throws CallFailure, around a ReplayMissError if not.
   */
  readonly continue?: (() => Promise<Ended<T>>) | undefined;
  /** Only for a recorded answer: restores an error that is a part of it. */
  readonly restoreError?: ((info: ErrorInfo) => unknown) | undefined;
  /** Only for a recorded answer that was returned before its call ended: that end. */
  readonly end?: RecordedEnd | undefined;
}

export interface RecordedEnd {
  /** Resolves when the recorded order reaches the end, and journals it. */
  inOrder(): Promise<void>;
  /** Journals it at the current position of the run. */
  now(): void;
}

/** A failed call. */
export class CallFailure {
  readonly error: unknown;
  /** `recorded-handled`: the recorded program continued after the failure. */
  readonly source: "made" | "recorded" | "recorded-handled";
  /** The data that was journaled with the failure. */
  readonly data: CallData;

  constructor(error: unknown, source: CallFailure["source"], data: CallData = {}) {
    this.error = error;
    this.source = source;
    this.data = data;
  }

  get cached(): boolean {
    return this.source !== "made";
  }
}

/** Journals the outcome of a call, unless it has no slot. */
export function journalOutcome({ scope, slot }: StartedCall, ended: Ended<unknown>): void {
  if (slot === undefined || scope.abandoned) return;
  const { encoded, tombstone, failure } = ended;
  const { frame, run } = scope;
  const data = dataText(scope, ended);
  if (failure !== undefined) {
    frame.fail(slot, scope.recordable(JSON.stringify(failure)), data);
  } else if (tombstone !== undefined) {
    frame.bury(slot, scope.recordable(JSON.stringify(tombstone)), data);
  } else if (encoded !== undefined) {
    const { text, types } = run.redaction?.encoded(encoded) ?? encoded;
    frame.succeed(slot, text, types ?? undefined, data);
  }
}

/** Journals that a call failed. */
export function journalFailure(call: StartedCall, error: unknown, data?: CallData): void {
  const { scope, slot } = call;
  if (slot === undefined || scope.abandoned) return;
  const info = toErrorInfo(error);
  const reason = unrecordable(info);
  const recorded = data && dataText(scope, data);
  if (reason === undefined) {
    scope.frame.fail(slot, scope.recordable(JSON.stringify(info)), recorded);
  } else {
    scope.frame.bury(slot, scope.recordable(JSON.stringify(thrownTombstone(reason))), recorded);
  }
  warnOfLostParts(call, info);
  rememberFailure(call, error);
}

/** The text of the entry of a call that threw something that cannot be thrown again. */
export function thrownTombstone(reason: string): string {
  return `the thrown value: ${reason}`;
}

/** Remembers that a call failed with an error, in case the frame ends with it. */
export function rememberFailure({ scope, slot }: StartedCall, error: unknown): void {
  if (slot !== undefined) scope.remember(error, () => scope.frame.markPropagated(slot));
}

/** A copy of the answer that reported a failure. */
export function answerOf({ details, detailsTypes }: ErrorInfo): unknown {
  if (details?.["answer"] === undefined) return undefined;
  return (decodeParsed(structuredClone(details), detailsTypes ?? {}) as { answer: unknown }).answer;
}
