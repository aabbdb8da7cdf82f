import { isAbortError, ReplayMissError } from "../../errors/index.js";
import { calling, type NativeBegun, type NativeFrameHandle } from "../../native.js";
import type { Miss } from "../../types/miss.js";
import type { CallMeta, ErrorInfo } from "../../types/snapshot.js";
import { decodeParsed, decodeValue } from "../../values/decode.js";
import { encodeValue, type Encoded, type Tombstone } from "../../values/encode.js";
import { errorInfoText, fromErrorInfo } from "../../values/error-info.js";
import { addSaved } from "../scope/replay-report.js";
import type { SeenEnd } from "../scope/run-state.js";
import type { Scope } from "../scope/scope.js";
import { UnansweredCall } from "./miss.js";

/** What is called, and how. */
export interface CallSpec<T> {
  readonly kind: string;
  readonly name: string;
  readonly callId: string;
  /** The document that is asked with, as JSON text. */
  readonly request: () => string;
  /** Makes the call. `progress` journals what has arrived of an incomplete answer. */
  readonly make: (progress: Progress<T>) => T | Promise<T>;
  /** How to continue a recorded answer whose end was not recorded; `undefined` if the answer is complete. */
  readonly incompleteAnswer?: ((recorded: T) => IncompleteAnswer | undefined) | undefined;
  /** Of an answer that tells of a failure: which one. It is journaled, and made again, as failures are. */
  readonly failureIn?: ((value: T) => { name: string; message: string } | undefined) | undefined;
  /** Makes the failure of a call that gave a value which cannot be journaled; without it the call
   * succeeds, and its entry says why it cannot be replayed. */
  readonly refuse?: (tombstone: Tombstone["tombstone"]) => Error;
  /** Called before a recorded answer is given; what it throws is the call's failure. */
  readonly beforeReplay?: () => Promise<void> | undefined;
  /** What is to be journaled beside the output, once the call has ended. */
  readonly meta?: () => CallMeta;
  /** Hash of the request as it is sent, where what is recorded of it is redacted. */
  readonly wireHash?: (() => string) | undefined;
  /** Content of the request that its hash does not cover: where and what. */
  readonly inexact?: string | undefined;
}

/**
 * `"restart"`: the call is made from its start, where calls may be made. `"continueOnRead"`: the recorded part is
 * returned, and the call is made when the reader reaches its end.
 */
export type IncompleteAnswer = "restart" | "continueOnRead";
/** `headReceived`: the program gets the answer now, although the call continues. */
export type Progress<T> = (value: T, headReceived?: boolean) => Ended<T>;

/** How a call ended, as events tell it. */
export interface Ended<T> {
  readonly value: T;
  /** Whether the answer came from the recording. */
  readonly cached: boolean;
  /** The value as it was journaled; absent where it could not be. */
  readonly encoded?: Encoded | undefined;
  /** Where and why the value could not be journaled. */
  readonly tombstone?: string | undefined;
  /** As it was journaled where the value tells of a failure. */
  readonly failure?: ErrorInfo | undefined;
  /** Only of a recorded failure: true if the program had handled it when it was recorded. */
  readonly handledWhenRecorded?: boolean | undefined;
  /** What was journaled beside the output. */
  readonly meta?: CallMeta | undefined;
  /**
   * Only of an incomplete recorded answer: makes the call, if it may be made.
   * @throws CallFailure, around a ReplayMissError if not.
   */
  readonly continue?: (() => Promise<Ended<T>>) | undefined;
  /** Only of a recorded answer that was handed out before its call ended: that end. */
  readonly end?: RecordedEnd | undefined;
}

export interface RecordedEnd {
  /** Resolves when the recorded order reaches the end, and journals it. */
  inOrder(): Promise<void>;
  /** Journals it where the run stands. */
  now(): void;
}

/** A failed call. */
export class CallFailure {
  readonly error: unknown;
  /** Whether the failure came from the recording, and the program had gone on after it there. */
  readonly source: "made" | "recorded" | "recorded-handled";
  /** What was journaled beside the failure. */
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
 * Answers a call that has begun from the recording, or makes it and journals how it ended.
 * @throws CallFailure around what the call failed with.
 */
export async function answerOrCall<T>(scope: Scope, begun: NativeBegun, call: CallSpec<T>): Promise<Ended<T>> {
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
    // Other errors come from what is not of the call: a callback of the run, or a recording that was edited.
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
function replayOrMake<T>(scope: Scope, begun: NativeBegun, call: CallSpec<T>): Promise<Ended<T>> {
  const { answer } = begun;
  const isRecorded = answer === "output" || answer === "failure" || answer === "handled-failure";
  return isRecorded ? replayRecorded(scope, begun, call) : makeUnanswered(scope, begun, call);
}

async function replayRecorded<T>(scope: Scope, begun: NativeBegun, call: CallSpec<T>): Promise<Ended<T>> {
  const preparing = call.beforeReplay && prepareReplay(scope, begun, call.beforeReplay);
  if (preparing !== undefined) await preparing;
  const recorded = begun.answer === "output" ? recordedOutput<T>(begun) : answerInFailure(begun, call);
  if (recorded === undefined) {
    noteInexact(scope, call);
    throw await replayFailure(scope, begun);
  }
  const incomplete = call.incompleteAnswer?.(recorded.value);
  if (incomplete === "restart" && scope.run.mode !== "replay") {
    scope.frame.reopen(begun.slot, begun.answered, begun.end);
    return restart(scope, begun, call);
  }
  noteInexact(scope, call);
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

/** Lists an answer that may belong to another request with the same hash. */
function noteInexact({ run }: Scope, { callId, inexact }: Pick<CallSpec<unknown>, "callId" | "inexact">): void {
  if (inexact !== undefined) run.report.inexact.push({ callId, reason: inexact });
}

/** Makes a call whose answer was handed out before. A recorded abort that came later waits until it is answered. */
async function restart<T>(scope: Scope, begun: NativeBegun, call: CallSpec<T>): Promise<Ended<T>> {
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

/** Makes a call of which only a beginning was recorded. */
async function makeOpen<T>(scope: Scope, begun: NativeBegun, call: CallSpec<T>): Promise<Ended<T>> {
  begun.answer = "in-flight";
  return makeUnanswered(scope, begun, call);
}

/** @throws CallFailure, at once or later. */
function makeUnanswered<T>(scope: Scope, begun: NativeBegun, call: CallSpec<T>): Promise<Ended<T>> {
  const make = (): Promise<Ended<T>> => makeMissed(scope, begun, call);
  return scope.run.mode === "replay" && begun.answer === "in-flight" ? outlast(scope).then(make) : make();
}

/** @throws CallFailure, at once or later. */
function makeMissed<T>(scope: Scope, begun: NativeBegun, call: CallSpec<T>): Promise<Ended<T>> {
  if (scope.run.replaying) decideMiss(scope, new UnansweredCall(scope.frame, begun, call));
  const { outerRecording } = scope;
  return outerRecording === undefined
    ? makeCall(scope, begun, call)
    : askOuterRecording(scope, outerRecording, begun, call);
}

/** Lets the recording answer that the run stands in, and journals the answer in both. */
async function askOuterRecording<T>(
  scope: Scope,
  outerRecording: Scope,
  begun: NativeBegun,
  call: CallSpec<T>,
): Promise<Ended<T>> {
  const kind = JSON.stringify(call.kind);
  const callId = outerRecording.nextCallId(call.kind, call.name);
  const isInexact = call.inexact !== undefined;
  const asked = calling(() => {
    const request = outerRecording.recordable(call.request());
    return outerRecording.frame.begin(kind, JSON.stringify(callId), request, undefined, undefined, isInexact);
  });
  try {
    const both = (ended: Ended<T>): Ended<T> => {
      if (begun.slot !== undefined) journal(scope, begun.slot, ended);
      return ended;
    };
    const make = (progress: Progress<T>): T | Promise<T> =>
      call.make((value, headReceived = false) => {
        if (headReceived) scope.frame.answer(begun.slot);
        return both(progress(value, headReceived));
      });
    const ended = await answerOrCall(outerRecording, asked, { ...call, make, callId });
    countLive(scope);
    const { continue: continueCall, end } = ended;
    if (end !== undefined) scope.frame.answer(begun.slot);
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

async function makeCall<T>(scope: Scope, begun: NativeBegun, call: CallSpec<T>): Promise<Ended<T>> {
  const startedAt = performance.now();
  const meta = (): CallMeta => ({
    durationMs: Math.round((performance.now() - startedAt) * 1000) / 1000,
    ...call.meta?.(),
    ...(call.wireHash === undefined ? {} : { wireHash: call.wireHash() }),
  });
  countLive(scope);
  let value: T;
  let encoded: Encoded | Tombstone;
  /** From then on nothing takes its place: what came before may be told a little later. */
  let ended: Ended<T> | undefined;
  const endedWith = (given: T, as: Encoded | Tombstone, headReceived = false): Ended<T> => {
    if (headReceived) scope.frame.answer(begun.slot);
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
function failed(scope: Scope, begun: NativeBegun, error: unknown, meta: CallMeta): CallFailure {
  journalFailure(scope, begun, error, meta);
  return new CallFailure(error, "made", meta);
}

function journalFailure(scope: Scope, { slot }: NativeBegun, error: unknown, meta?: CallMeta): void {
  if (slot === undefined || scope.abandoned) return;
  scope.frame.fail(slot, scope.recordable(errorInfoText(error)), meta && scope.recordable(JSON.stringify(meta)));
  remember(scope, scope.frame, slot, error);
}

/** Not a promise where there is nothing to wait for: the order of what is released must stay. */
function prepareReplay(
  scope: Scope,
  begun: NativeBegun,
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
 * In a strict replay nothing is made; but what nobody waits for is no miss. A call that was in flight had lost a race or
 * was left behind: an unchanged program goes on without it as long as anything else is pending.
 * @throws CallFailure around an AbortError if the agent was aborted meanwhile.
 */
async function outlast(scope: Scope): Promise<void> {
  await scope.run.releases.idle();
  if (scope.signal.aborted) throw new CallFailure(scope.abortError(), "made");
}

/**
 * Whether a call that the recording has no answer for may be made.
 * @throws CallFailure around a ReplayMissError if not.
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

function recordedOutput<T>(begun: NativeBegun): Ended<T> {
  const encoded = { text: begun.text ?? "null", types: begun.types ?? null };
  return { value: decodeValue(encoded.text, encoded.types) as T, cached: true, encoded };
}

/** An answer that tells of a failure; `undefined` where the call failed without one. */
function answerInFailure<T>(begun: NativeBegun, { failureIn }: CallSpec<T>): Ended<T> | undefined {
  if (failureIn === undefined) return undefined;
  const failure = JSON.parse(begun.text ?? "{}") as ErrorInfo;
  const answer = answerOf(failure) as T | undefined;
  if (answer === undefined) return undefined;
  // Another failure may have a field of that name.
  if (failureIn(answer)?.name !== failure.name) return undefined;
  return { value: answer, cached: true, failure, handledWhenRecorded: begun.answer === "handled-failure" };
}

/** A copy of the answer that told of a failure. */
function answerOf({ details, detailsTypes }: ErrorInfo): unknown {
  if (details?.["answer"] === undefined) return undefined;
  return (decodeParsed(structuredClone(details), detailsTypes ?? {}) as { answer: unknown }).answer;
}

/** The failure that an answer tells of, with the answer. */
function failureWith<T>(value: T, { text, types }: Encoded, { failureIn }: CallSpec<T>): ErrorInfo | undefined {
  const failure = failureIn?.(value);
  if (failure === undefined) return undefined;
  const tags = Object.entries(JSON.parse(types ?? "{}") as Record<string, string>);
  const detailsTypes = Object.fromEntries(tags.map(([pointer, tag]) => [`/answer${pointer}`, tag]));
  const details = { answer: JSON.parse(text) as unknown };
  return { ...failure, details, ...(tags.length === 0 ? {} : { detailsTypes }) };
}

async function replayFailure(scope: Scope, begun: NativeBegun): Promise<CallFailure> {
  const error = fromErrorInfo(JSON.parse(begun.text ?? "{}") as ErrorInfo);
  await waitForRelease(scope, begun, false);
  const { reopenedRequests } = scope.run;
  if (!reopenedRequests.isEmpty && isAbortError(error)) await reopenedRequests.answeredBefore(begun.end);
  const meta = release(scope, begun, false);
  if (begun.slot !== undefined) remember(scope, scope.frame, begun.slot, error);
  return new CallFailure(error, begun.answer === "failure" ? "recorded" : "recorded-handled", meta);
}

/** The end of a call whose answer was handed out before; absent where the recording has one position for both. */
function recordedEnd<T>(scope: Scope, begun: NativeBegun, { incompleteAnswer }: CallSpec<T>): RecordedEnd | undefined {
  const { answered, end } = begun;
  if (incompleteAnswer === undefined || answered == null) return undefined;
  let isTold = false;
  const now = (): void => {
    if (isTold) return;
    isTold = true;
    noteOvertaken(scope, scope.frame.release(begun.slot, end));
  };
  return { inOrder: () => scope.run.releases.waitForRelease(end ?? undefined).then(now), now };
}

function noteOvertaken({ run, frameReport }: Scope, overtaken: boolean): void {
  if (!overtaken) return;
  frameReport.overtaken += 1;
  run.report.overtaken += 1;
}

/** Resolves when the recorded order reaches the end of the call, or its answer if that was handed out before. */
function waitForRelease({ run }: Scope, { answered, end }: NativeBegun, headReceived: boolean): Promise<void> {
  return run.releases.waitForRelease((headReceived ? answered : end) ?? undefined);
}

/** Tells that the recorded answer is given, and gives what was journaled beside it. */
function release(scope: Scope, begun: NativeBegun, headReceived: boolean): CallMeta | undefined {
  const { run, frameReport } = scope;
  const { slot, answered, end } = begun;
  frameReport.replayed += 1;
  run.report.replayed += 1;
  noteOvertaken(scope, headReceived ? scope.frame.answer(slot, answered) : scope.frame.release(slot, end));
  if (begun.meta === undefined) return undefined;
  const meta = JSON.parse(begun.meta) as CallMeta | null;
  // It may have been edited.
  if (typeof meta !== "object" || meta === null) return undefined;
  addSaved(run.report.saved, meta);
  return meta;
}

function remember(scope: Scope, frame: NativeFrameHandle, slot: number, error: unknown): void {
  scope.remember(error, () => frame.markStopped(slot));
}
