import type { EffectOptions } from "../../types/effect.js";
import type { CallMeta, ErrorInfo } from "../../types/snapshot.js";
import { decodeParsed } from "../../values/decode.js";
import type { Encoded, Tombstone } from "../../values/encode.js";
import type { ErrorClass } from "../../types/error-class.js";
import { toErrorInfo, unrecordable } from "../../values/error-info.js";
import type { FailedAnswer, Origin } from "../scope/error-origins.js";
import { dataText, type CallData } from "./call-data.js";
import { warnOfLostParts } from "./failures/incomplete-errors.js";
import type { Echo } from "./echo.js";
import type { StartedCall } from "./started-call.js";

/** How to execute a call, and how to treat its answers. */
export interface CallSpec<T> {
  /** Executes the call. `progress` journals the part of the answer that has arrived. */
  readonly make: (progress: Progress<T>) => T | Promise<T>;
  /** How to continue a recorded answer whose end was not recorded; `undefined` if the answer is complete. */
  readonly incompleteAnswer?: ((recorded: T) => IncompleteAnswer | undefined) | undefined;
  /** The failure that an answer reports, if any. Such an answer is journaled and retried like a failure. */
  readonly failureIn?: ((value: T) => AnsweredFailure | undefined) | undefined;
  /**
   * Creates the error of a call whose value cannot be journaled. Without it the call succeeds, and its entry contains
   * the reason why it cannot be replayed.
   */
  readonly refuse?: (tombstone: Tombstone["tombstone"]) => Error;
  /** Called before a recorded answer is returned. If it throws, the call fails with that error. */
  readonly beforeReplay?: () => Promise<void> | undefined;
  /** Classes that replayed failures come back as, before those of the run. */
  readonly errors?: readonly ErrorClass[] | undefined;
  /** Completes the error of a replayed failure. `askedAgain`: the recorded program sent the request again after it. */
  readonly revive?: ((error: unknown, askedAgain: boolean) => unknown) | undefined;
  /** The request, and the parts of it that the answer may repeat. */
  readonly echo?: { readonly request: unknown; readonly echoes: readonly Echo[] } | undefined;
  /** The effect of the call outside of the program, and its input for `verify`. */
  readonly effect?: { readonly rules: EffectOptions; readonly input: unknown } | undefined;
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

/** The failure that an answer reports. */
export interface AnsweredFailure {
  readonly name: string;
  readonly message: string;
  /** What an error contains that a client makes of the answer. The error is then known to be this failure. */
  readonly answer?: FailedAnswer | undefined;
}

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
  /** Only for a recorded failure: true if the recorded program sent the request again after it. */
  readonly askedAgain?: boolean | undefined;
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
  /** CallIds of what failed with it inside the call. */
  readonly failedBy: readonly string[];

  constructor(error: unknown, source: CallFailure["source"], data: CallData = {}, failedBy: readonly string[] = []) {
    this.failedBy = failedBy;
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

/**
 * Journals that a call failed.
 * @returns the callIds of what failed with the error inside the call. When the call is executed again, that is too.
 */
export function journalFailure(call: StartedCall, error: unknown, data?: CallData): string[] {
  const { scope, slot, callId } = call;
  if (slot === undefined || scope.abandoned) return [];
  const inside = scope.originsOf(error).filter(({ within }) => within === callId);
  for (const origin of inside) origin.markStopped();
  const info = toErrorInfo(error);
  const reason = unrecordable(info);
  const recorded = data && dataText(scope, data);
  if (reason === undefined) {
    scope.frame.fail(slot, scope.recordable(JSON.stringify(info)), recorded);
  } else {
    scope.frame.bury(slot, scope.recordable(JSON.stringify(thrownTombstone(reason))), recorded);
  }
  warnOfLostParts(call, info);
  rememberFailure(call, error, false);
  return inside.map((origin) => origin.callId);
}

/** The text of the entry of a call that threw something that cannot be thrown again. */
export function thrownTombstone(reason: string): string {
  return `the thrown value: ${reason}`;
}

/** Remembers that a call failed with an error, in case the frame ends with it. `replayed`: it comes from a recording. */
export function rememberFailure(call: StartedCall, error: unknown, replayed: boolean): void {
  const origin = originOf(call, replayed);
  if (origin !== undefined) call.scope.remember(error, origin);
}

/** What clients keep of an answer in the error that they make of it: the answer itself, or its headers. */
export function keptInErrors(answer: unknown): object[] {
  if (typeof answer !== "object" || answer === null) return [];
  const { headers } = answer as { headers?: unknown };
  return typeof headers === "object" && headers !== null ? [answer, headers] : [answer];
}

/** The journal entry of a failed call; `undefined` if it has none. */
export function originOf({ scope, slot, callId, context }: StartedCall, replayed: boolean): Origin | undefined {
  if (slot === undefined) return undefined;
  return {
    callId,
    within: context.within,
    replayed,
    markStopped: () => scope.frame.markStopped(slot),
    nameInDump: () => scope.frame.nameCall(slot),
  };
}

/** A copy of the answer that reported a failure. */
export function answerOf({ details, detailsTypes }: ErrorInfo): unknown {
  if (details?.["answer"] === undefined) return undefined;
  return (decodeParsed(structuredClone(details), detailsTypes ?? {}) as { answer: unknown }).answer;
}
