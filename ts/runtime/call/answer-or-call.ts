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
  /** Makes the call. `soFar` journals what has come of an answer that is not at its end. */
  readonly make: (soFar: SoFar<T>) => T | Promise<T>;
  /**
   * Of a recorded answer: whether it had not come to its end. Then it is made "again", from its start, where it may be
   * made; or what was recorded is given, and the "rest" is made when somebody asks for it.
   */
  readonly openEnd?: ((recorded: T) => OpenEnd | undefined) | undefined;
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
}

export type OpenEnd = "again" | "rest";
/** `answers`: now the answer is handed out, though the call goes on. */
export type SoFar<T> = (value: T, answers?: boolean) => Ended<T>;

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
  /** Where it does and was recorded: whether the program had gone on after it there. */
  readonly handled?: boolean | undefined;
  /** What was journaled beside the output. */
  readonly meta?: CallMeta | undefined;
  /**
   * Of a recorded answer that had not come to its end: makes the call, if it may be made.
   * @throws CallFailure, around a ReplayMissError if not.
   */
  readonly rest?: (() => Promise<Ended<T>>) | undefined;
  /** Of a recorded answer that was handed out before the call's end: that end, which is to be told in its turn. */
  readonly end?: RecordedEnd | undefined;
}

export interface RecordedEnd {
  /** Resolves when it is the end's turn in the recorded order, and journals it. */
  inTurn(): Promise<void>;
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
export async function settle<T>(scope: Scope, begun: NativeBegun, call: CallSpec<T>): Promise<Ended<T>> {
  const seen = scope.run.seeCall({ kind: call.kind, name: call.name, callId: call.callId, request: call.request });
  try {
    const ended = await replayOrMake(scope, begun, call);
    seen.ended = seenEnd(ended);
    const { rest } = ended;
    if (rest === undefined) return ended;
    return { ...ended, rest: () => rest().finally(() => (seen.ended = { ...seenEnd(ended), cached: false })) };
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
  if (recorded === undefined) throw await replayFailure(scope, begun);
  const open = call.openEnd?.(recorded.value);
  if (open === "again" && scope.run.mode !== "replay") {
    scope.frame.reopen(begun.slot, begun.answered, begun.end);
    return makeAgain(scope, begun, call);
  }
  const end = recordedEnd(scope, begun, call);
  const answers = end !== undefined;
  await turnOf(scope, begun, answers);
  const ended = { ...recorded, meta: release(scope, begun, answers), end };
  if (open === undefined) return ended;
  const rest = (): Promise<Ended<T>> => {
    end?.now();
    return makeOpen(scope, begun, call);
  };
  return { ...ended, rest };
}

/** Makes a call whose answer was handed out before. What was aborted after that is not shown before it is again. */
async function makeAgain<T>(scope: Scope, begun: NativeBegun, call: CallSpec<T>): Promise<Ended<T>> {
  const { askedAgain } = scope.run;
  const asked = askedAgain.begin(begun.answered ?? begun.end);
  const make = (soFar: SoFar<T>): T | Promise<T> =>
    call.make((value, answers) => {
      if (answers === true) asked.answered();
      return soFar(value, answers);
    });
  try {
    return await makeOpen(scope, begun, { ...call, make });
  } finally {
    asked.answered();
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
  const { beyond } = scope;
  return beyond === undefined ? makeCall(scope, begun, call) : askBeyond(scope, beyond, begun, call);
}

/** Lets the recording answer that the run stands in, and journals the answer in both. */
async function askBeyond<T>(scope: Scope, beyond: Scope, begun: NativeBegun, call: CallSpec<T>): Promise<Ended<T>> {
  const kind = JSON.stringify(call.kind);
  const callId = beyond.nextCallId(call.kind, call.name);
  const asked = calling(() => beyond.frame.begin(kind, JSON.stringify(callId), beyond.recordable(call.request())));
  try {
    const both = (ended: Ended<T>): Ended<T> => {
      if (begun.slot !== undefined) journal(scope, begun.slot, ended);
      return ended;
    };
    const make = (soFar: SoFar<T>): T | Promise<T> =>
      call.make((value, answers = false) => {
        if (answers) scope.frame.answer(begun.slot);
        return both(soFar(value, answers));
      });
    const ended = await settle(beyond, asked, { ...call, make, callId });
    countLive(scope);
    const { rest, end } = ended;
    if (end !== undefined) scope.frame.answer(begun.slot);
    return both({
      ...ended,
      ...(rest === undefined ? {} : { rest: () => rest().then(both) }),
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
    inTurn: () => end.inTurn().then(journalIt),
    now() {
      end.now();
      journalIt();
    },
  };
}

function countLive(scope: Scope): void {
  scope.tally.live += 1;
  scope.run.report.live += 1;
}

function journal(scope: Scope, slot: number, { encoded, tombstone, failure, meta }: Ended<unknown>): void {
  if (scope.abandoned) return;
  const { frame, run } = scope;
  const known = scope.recordable(JSON.stringify(meta ?? {}));
  if (failure !== undefined) {
    frame.fail(slot, scope.recordable(JSON.stringify(failure)), known);
  } else if (tombstone !== undefined) {
    frame.bury(slot, scope.recordable(JSON.stringify(tombstone)), known);
  } else if (encoded !== undefined) {
    const { text, types } = run.redaction?.encoded(encoded) ?? encoded;
    frame.succeed(slot, text, types ?? undefined, known);
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
  const endedWith = (given: T, as: Encoded | Tombstone, answers = false): Ended<T> => {
    if (answers) scope.frame.answer(begun.slot);
    const now: Ended<T> = { value: given, cached: false, meta: meta(), ...kept(given, as, call) };
    if (begun.slot !== undefined) journal(scope, begun.slot, now);
    return now;
  };
  try {
    value = await call.make((part, answers) => ended ?? endedWith(part, encodeValue(part), answers));
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
  const { run, tally } = scope;
  if (miss.reason === "not-recorded" || miss.reason === "no-recording") {
    tally.missed += 1;
    run.report.missed += 1;
    if (miss.reason === "not-recorded") tally.firstDivergence ??= miss;
  }
  if (run.allowsMiss(miss)) return;
  const error = new ReplayMissError(miss);
  // What is left over from a frame that has returned decides nothing.
  if (!scope.closed && !scope.isDone) run.refuse(error);
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
  return { value: answer, cached: true, failure, handled: begun.answer === "handled-failure" };
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
  await turnOf(scope, begun, false);
  const { askedAgain } = scope.run;
  if (!askedAgain.isEmpty && isAbortError(error)) await askedAgain.answeredBefore(begun.end);
  const meta = release(scope, begun, false);
  if (begun.slot !== undefined) remember(scope, scope.frame, begun.slot, error);
  return new CallFailure(error, begun.answer === "failure" ? "recorded" : "recorded-handled", meta);
}

/** The end of a call whose answer was handed out before; absent where the recording has one place for both. */
function recordedEnd<T>(scope: Scope, begun: NativeBegun, { openEnd }: CallSpec<T>): RecordedEnd | undefined {
  const { answered, end } = begun;
  if (openEnd === undefined || answered == null) return undefined;
  let isTold = false;
  const now = (): void => {
    if (isTold) return;
    isTold = true;
    noteOvertaken(scope, scope.frame.release(begun.slot, end));
  };
  return { inTurn: () => scope.run.releases.turn(end ?? undefined).then(now), now };
}

function noteOvertaken({ run, tally }: Scope, overtaken: boolean): void {
  if (!overtaken) return;
  tally.overtaken += 1;
  run.report.overtaken += 1;
}

/** Resolves at the call's place in the recorded order of ends, or at that of its answer. */
function turnOf({ run }: Scope, { answered, end }: NativeBegun, answers: boolean): Promise<void> {
  return run.releases.turn((answers ? answered : end) ?? undefined);
}

/** Tells that the recorded answer is given, and gives what was journaled beside it. */
function release(scope: Scope, begun: NativeBegun, answers: boolean): CallMeta | undefined {
  const { run, tally } = scope;
  const { slot, answered, end } = begun;
  tally.replayed += 1;
  run.report.replayed += 1;
  noteOvertaken(scope, answers ? scope.frame.answer(slot, answered) : scope.frame.release(slot, end));
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
