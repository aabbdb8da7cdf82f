import { isAbortError, ReplayMissError } from "../../errors/index.js";
import { calling, type NativeStartedCall, type NativeFrameHandle } from "../../native.js";
import type { Miss } from "../../types/miss.js";
import type { CallMeta, ErrorInfo } from "../../types/snapshot.js";
import { decodeParsed, decodeValue } from "../../values/decode.js";
import { encodeValue, type Encoded, type Tombstone } from "../../values/encode.js";
import { errorInfoText, fromErrorInfo } from "../../values/error-info.js";
import { addSaved } from "../scope/replay-report.js";
import type { SeenEnd } from "../scope/run-state.js";
import type { Scope } from "../scope/scope.js";
import { UnansweredCall } from "./miss.js";

/** A call: its identity, and how to execute it. */
export interface CallSpec<T> {
  readonly kind: string;
  readonly name: string;
  readonly callId: string;
  /** The request document as JSON text. */
  readonly request: () => string;
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
  /** Returns the meta to journal with the outcome, at the end of the call. */
  readonly meta?: () => CallMeta;
  /** Hash of the request as it is sent. Only if its recording is redacted. */
  readonly wireHash?: (() => string) | undefined;
}

/**
 * `"restart"`: the call is executed from its start, if calls may be executed. `"continueOnRead"`: the recorded part is
 * returned, and the call is executed when the reader reaches its end.
 */
export type IncompleteAnswer = "restart" | "continueOnRead";
/** `headReceived`: the program receives the answer now, although the call continues. */
export type Progress<T> = (value: T, headReceived?: boolean) => Ended<T>;

/** The end of a call that did not fail. */
export interface Ended<T> {
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
  /** The meta that was journaled with the outcome. */
  readonly meta?: CallMeta | undefined;
  /**
   * Only for an incomplete recorded answer: executes the call, if it may be executed.
   * @throws CallFailure, around a ReplayMissError if not.
   */
  readonly continue?: (() => Promise<Ended<T>>) | undefined;
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
  /** The meta that was journaled with the failure. */
  readonly meta: CallMeta | undefined;

  constructor(error: unknown, source: CallFailure["source"], meta?: CallMeta) {
    this.error = error;
    this.source = source;
    this.meta = meta;
  }

  get cached(): boolean {
    return this.source !== "made";
  }
}

/**
 * Answers a call from the recording, or executes it and journals its outcome.
 * @throws CallFailure around the error of the call.
 */
export async function answerOrCall<T>(scope: Scope, begun: NativeStartedCall, call: CallSpec<T>): Promise<Ended<T>> {
  const seen = scope.run.seeCall({ kind: call.kind, name: call.name, callId: call.callId, request: call.request });
  try {
    const ended = await replayOrMake(scope, begun, call);
    seen.ended = seenEnd(ended);
    const { continue: continueCall } = ended;
    if (continueCall === undefined) return ended;
    return {
      ...ended,
      continue: () => continueCall().finally(() => (seen.ended = { ...seenEnd(ended), cached: false })),
    };
  } catch (failure) {
    // Other errors do not come from the call itself, but from a callback of the run or an edited recording.
    const own = failure instanceof CallFailure ? failure : new CallFailure(failure, "made");
    seen.ended = { error: own.error, cached: own.cached };
    throw own;
  }
}

function seenEnd({ value, encoded, failure, cached }: Ended<unknown>): SeenEnd {
  if (encoded !== undefined) return { output: () => decodeValue(encoded.text, encoded.types), cached };
  return { output: failure === undefined ? () => value : () => answerOf(failure), cached };
}

/** @throws CallFailure, at once or later. */
function replayOrMake<T>(scope: Scope, begun: NativeStartedCall, call: CallSpec<T>): Promise<Ended<T>> {
  const { answer } = begun;
  const isRecorded = answer === "output" || answer === "failure" || answer === "handled-failure";
  return isRecorded ? replayRecorded(scope, begun, call) : makeUnanswered(scope, begun, call);
}

async function replayRecorded<T>(scope: Scope, begun: NativeStartedCall, call: CallSpec<T>): Promise<Ended<T>> {
  const preparing = call.beforeReplay && prepareReplay(scope, begun, call.beforeReplay);
  if (preparing !== undefined) await preparing;
  const recorded = begun.answer === "output" ? recordedOutput<T>(begun) : answerInFailure(begun, call);
  if (recorded === undefined) throw await replayFailure(scope, begun);
  const incomplete = call.incompleteAnswer?.(recorded.value);
  if (incomplete === "restart" && scope.run.mode !== "replay") {
    scope.frame.reopen(begun.slot, begun.answered, begun.end);
    return restart(scope, begun, call);
  }
  const end = recordedEnd(scope, begun, call);
  const headReceived = end !== undefined;
  await waitForRelease(scope, begun, headReceived);
  const ended = { ...recorded, meta: release(scope, begun, headReceived), end };
  if (incomplete === undefined) return ended;
  const continueCall = (): Promise<Ended<T>> => {
    end?.now();
    return makeOpen(scope, begun, call);
  };
  return { ...ended, continue: continueCall };
}

/** Executes a call again whose recorded answer is incomplete. A later recorded abort waits for the new answer. */
async function restart<T>(scope: Scope, begun: NativeStartedCall, call: CallSpec<T>): Promise<Ended<T>> {
  const { reopenedRequests } = scope.run;
  const reopened = reopenedRequests.begin(begun.answered ?? begun.end);
  const make = (progress: Progress<T>): T | Promise<T> =>
    call.make((value, headReceived) => {
      if (headReceived === true) reopened.answered();
      return progress(value, headReceived);
    });
  try {
    return await makeOpen(scope, begun, { ...call, make });
  } finally {
    reopened.answered();
  }
}

/** Executes a call whose recorded answer is incomplete. */
async function makeOpen<T>(scope: Scope, begun: NativeStartedCall, call: CallSpec<T>): Promise<Ended<T>> {
  begun.answer = "in-flight";
  return makeUnanswered(scope, begun, call);
}

/** @throws CallFailure, at once or later. */
function makeUnanswered<T>(scope: Scope, begun: NativeStartedCall, call: CallSpec<T>): Promise<Ended<T>> {
  const make = (): Promise<Ended<T>> => makeMissed(scope, begun, call);
  return scope.run.mode === "replay" && begun.answer === "in-flight" ? outlast(scope).then(make) : make();
}

/** @throws CallFailure, at once or later. */
function makeMissed<T>(scope: Scope, begun: NativeStartedCall, call: CallSpec<T>): Promise<Ended<T>> {
  if (scope.run.replaying) decideMiss(scope, new UnansweredCall(scope.frame, begun, call));
  const { outerRecording } = scope;
  return outerRecording === undefined
    ? makeCall(scope, begun, call)
    : askOuterRecording(scope, outerRecording, begun, call);
}

/** Requests the answer from the recording session around the run, and journals it in both. */
async function askOuterRecording<T>(
  scope: Scope,
  outerRecording: Scope,
  begun: NativeStartedCall,
  call: CallSpec<T>,
): Promise<Ended<T>> {
  const kind = JSON.stringify(call.kind);
  const callId = outerRecording.nextCallId(call.kind, call.name);
  const asked = calling(() =>
    outerRecording.frame.begin(kind, JSON.stringify(callId), outerRecording.recordable(call.request())),
  );
  try {
    const both = (ended: Ended<T>): Ended<T> => {
      if (begun.slot !== undefined) journal(scope, begun.slot, ended);
      return ended;
    };
    const make = (progress: Progress<T>): T | Promise<T> =>
      call.make((value, headReceived = false) => {
        if (headReceived) scope.frame.headReceived(begun.slot);
        return both(progress(value, headReceived));
      });
    const ended = await answerOrCall(outerRecording, asked, { ...call, make, callId });
    countLive(scope);
    const { continue: continueCall, end } = ended;
    if (end !== undefined) scope.frame.headReceived(begun.slot);
    return both({
      ...ended,
      ...(continueCall === undefined ? {} : { continue: () => continueCall().then(both) }),
      ...(end === undefined ? {} : { end: alsoAt(end, () => both(ended)) }),
    });
  } catch (failure) {
    const { error } = failure as CallFailure;
    countLive(scope);
    journalFailure(scope, begun, error);
    throw failure;
  }
}

/** The end of a call that is journaled in two places. */
function alsoAt(end: RecordedEnd, journalIt: () => void): RecordedEnd {
  return {
    inOrder: () => end.inOrder().then(journalIt),
    now() {
      end.now();
      journalIt();
    },
  };
}

function countLive(scope: Scope): void {
  scope.frameReport.live += 1;
  scope.run.report.live += 1;
}

function journal(scope: Scope, slot: number, { encoded, tombstone, failure, meta }: Ended<unknown>): void {
  if (scope.abandoned) return;
  const { frame, run } = scope;
  const metaText = scope.recordable(JSON.stringify(meta ?? {}));
  if (failure !== undefined) {
    frame.fail(slot, scope.recordable(JSON.stringify(failure)), metaText);
  } else if (tombstone !== undefined) {
    frame.bury(slot, scope.recordable(JSON.stringify(tombstone)), metaText);
  } else if (encoded !== undefined) {
    const { text, types } = run.redaction?.encoded(encoded) ?? encoded;
    frame.succeed(slot, text, types ?? undefined, metaText);
  }
}

async function makeCall<T>(scope: Scope, begun: NativeStartedCall, call: CallSpec<T>): Promise<Ended<T>> {
  const startedAt = performance.now();
  const meta = (): CallMeta => ({
    durationMs: Math.round((performance.now() - startedAt) * 1000) / 1000,
    ...call.meta?.(),
    ...(call.wireHash === undefined ? {} : { wireHash: call.wireHash() }),
  });
  countLive(scope);
  let value: T;
  let encoded: Encoded | Tombstone;
  /** Once set it is final, also if progress is reported later. */
  let ended: Ended<T> | undefined;
  const endedWith = (given: T, as: Encoded | Tombstone, headReceived = false): Ended<T> => {
    if (headReceived) scope.frame.headReceived(begun.slot);
    const now: Ended<T> = { value: given, cached: false, meta: meta(), ...kept(given, as, call) };
    if (begun.slot !== undefined) journal(scope, begun.slot, now);
    return now;
  };
  try {
    value = await call.make((part, headReceived) => ended ?? endedWith(part, encodeValue(part), headReceived));
    encoded = encodeValue(value);
    if (call.refuse !== undefined && "tombstone" in encoded) throw call.refuse(encoded.tombstone);
  } catch (error) {
    throw failed(scope, begun, error, meta());
  }
  ended = endedWith(value, encoded);
  return ended;
}

function kept<T>(
  value: T,
  encoded: Encoded | Tombstone,
  call: CallSpec<T>,
): Pick<Ended<unknown>, "encoded" | "tombstone" | "failure"> {
  if (!("tombstone" in encoded)) {
    const failure = failureWith(value, encoded, call);
    return failure === undefined ? { encoded } : { failure };
  }
  const { path, reason } = encoded.tombstone;
  return { tombstone: `${path === "" ? "the value" : path}: ${reason}` };
}

/** Journals that a call failed. */
function failed(scope: Scope, begun: NativeStartedCall, error: unknown, meta: CallMeta): CallFailure {
  journalFailure(scope, begun, error, meta);
  return new CallFailure(error, "made", meta);
}

function journalFailure(scope: Scope, { slot }: NativeStartedCall, error: unknown, meta?: CallMeta): void {
  if (slot === undefined || scope.abandoned) return;
  scope.frame.fail(slot, scope.recordable(errorInfoText(error)), meta && scope.recordable(JSON.stringify(meta)));
  remember(scope, scope.frame, slot, error);
}

/** Returns a promise only if there is something to await: one more would change the order of releases. */
function prepareReplay(
  scope: Scope,
  begun: NativeStartedCall,
  prepare: () => Promise<void> | undefined,
): Promise<void> | undefined {
  const fail = (error: unknown): never => {
    throw failed(scope, begun, error, {});
  };
  try {
    return prepare()?.catch(fail);
  } catch (error) {
    return fail(error);
  }
}

/**
 * A strict replay executes no calls, but a call that nobody awaits is not a miss. A recorded call in flight had lost a
 * race or was left behind, so an unchanged program continues without it while anything else is pending.
 * @throws CallFailure around an AbortError if the agent was aborted meanwhile.
 */
async function outlast(scope: Scope): Promise<void> {
  await scope.run.releases.idle();
  if (scope.signal.aborted) throw new CallFailure(scope.abortError(), "made");
}

/**
 * Reports a call without a recorded answer.
 * @throws CallFailure around a ReplayMissError if it may not be executed.
 */
function decideMiss(scope: Scope, miss: Miss): void {
  const { run, frameReport } = scope;
  if (miss.reason === "not-recorded" || miss.reason === "no-recording") {
    frameReport.missed += 1;
    run.report.missed += 1;
    if (miss.reason === "not-recorded") frameReport.firstDivergence ??= miss;
  }
  if (run.allowsMiss(miss)) return;
  const error = new ReplayMissError(miss);
  // A miss in a frame that already returned must not fail the run.
  if (scope.isRunning) run.refuse(error);
  throw new CallFailure(error, "made");
}

function recordedOutput<T>(begun: NativeStartedCall): Ended<T> {
  const encoded = { text: begun.text ?? "null", types: begun.types ?? null };
  return { value: decodeValue(encoded.text, encoded.types) as T, cached: true, encoded };
}

/** The recorded answer that reports a failure; `undefined` if the call failed without an answer. */
function answerInFailure<T>(begun: NativeStartedCall, { failureIn }: CallSpec<T>): Ended<T> | undefined {
  if (failureIn === undefined) return undefined;
  const failure = JSON.parse(begun.text ?? "{}") as ErrorInfo;
  const answer = answerOf(failure) as T | undefined;
  if (answer === undefined) return undefined;
  // Other failures may have a field with this name too.
  if (failureIn(answer)?.name !== failure.name) return undefined;
  return { value: answer, cached: true, failure, handledWhenRecorded: begun.answer === "handled-failure" };
}

/** A copy of the answer that reported a failure. */
function answerOf({ details, detailsTypes }: ErrorInfo): unknown {
  if (details?.["answer"] === undefined) return undefined;
  return (decodeParsed(structuredClone(details), detailsTypes ?? {}) as { answer: unknown }).answer;
}

/** The failure that an answer reports, together with the answer. */
function failureWith<T>(value: T, { text, types }: Encoded, { failureIn }: CallSpec<T>): ErrorInfo | undefined {
  const failure = failureIn?.(value);
  if (failure === undefined) return undefined;
  const tags = Object.entries(JSON.parse(types ?? "{}") as Record<string, string>);
  const detailsTypes = Object.fromEntries(tags.map(([pointer, tag]) => [`/answer${pointer}`, tag]));
  const details = { answer: JSON.parse(text) as unknown };
  return { ...failure, details, ...(tags.length === 0 ? {} : { detailsTypes }) };
}

async function replayFailure(scope: Scope, begun: NativeStartedCall): Promise<CallFailure> {
  const error = fromErrorInfo(JSON.parse(begun.text ?? "{}") as ErrorInfo);
  await waitForRelease(scope, begun, false);
  const { reopenedRequests } = scope.run;
  if (!reopenedRequests.isEmpty && isAbortError(error)) await reopenedRequests.answeredBefore(begun.end);
  const meta = release(scope, begun, false);
  if (begun.slot !== undefined) remember(scope, scope.frame, begun.slot, error);
  return new CallFailure(error, begun.answer === "failure" ? "recorded" : "recorded-handled", meta);
}

/** The end of a call whose answer was returned before. Absent if the recording has one position for both. */
function recordedEnd<T>(
  scope: Scope,
  begun: NativeStartedCall,
  { incompleteAnswer }: CallSpec<T>,
): RecordedEnd | undefined {
  const { answered, end } = begun;
  if (incompleteAnswer === undefined || answered == null) return undefined;
  let isReleased = false;
  const now = (): void => {
    if (isReleased) return;
    isReleased = true;
    noteOvertaken(scope, scope.frame.release(begun.slot, end));
  };
  return { inOrder: () => scope.run.releases.waitForRelease(end ?? undefined).then(now), now };
}

function noteOvertaken({ run, frameReport }: Scope, overtaken: boolean): void {
  if (!overtaken) return;
  frameReport.overtaken += 1;
  run.report.overtaken += 1;
}

/** Resolves when the recorded order reaches the end of the call, or its answer if that was returned before. */
function waitForRelease({ run }: Scope, { answered, end }: NativeStartedCall, headReceived: boolean): Promise<void> {
  return run.releases.waitForRelease((headReceived ? answered : end) ?? undefined);
}

/** Reports to the core that the recorded answer is returned. Returns its recorded meta. */
function release(scope: Scope, begun: NativeStartedCall, headReceived: boolean): CallMeta | undefined {
  const { run, frameReport } = scope;
  const { slot, answered, end } = begun;
  frameReport.replayed += 1;
  run.report.replayed += 1;
  noteOvertaken(scope, headReceived ? scope.frame.headReceived(slot, answered) : scope.frame.release(slot, end));
  if (begun.meta === undefined) return undefined;
  const meta = JSON.parse(begun.meta) as CallMeta | null;
  // The recording may have been edited.
  if (typeof meta !== "object" || meta === null) return undefined;
  addSaved(run.report.saved, meta);
  return meta;
}

function remember(scope: Scope, frame: NativeFrameHandle, slot: number, error: unknown): void {
  scope.remember(error, () => frame.markPropagated(slot));
}
