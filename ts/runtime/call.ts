import { ReplayMissError } from "../errors/index.js";
import type { Begun, FrameHandle } from "../native.js";
import type { Miss } from "../types/miss.js";
import type { CallMeta, ErrorInfo } from "../types/snapshot.js";
import { decodeValue } from "../values/decode.js";
import { encodeValue, type Encoded, type Tombstone } from "../values/encode.js";
import { errorInfoText, fromErrorInfo } from "../values/error-info.js";
import { addSaved } from "./replay-report.js";
import type { Scope } from "./scope.js";
import { UnansweredCall } from "./unanswered-call.js";

/** What is called, and how. */
export interface CallSpec<T> {
  readonly kind: string;
  readonly name: string;
  readonly callId: string;
  /** The document that is asked with, as JSON text. */
  readonly request: () => string;
  readonly make: () => T | Promise<T>;
  /** Makes the failure of a call that gave a value which cannot be journaled; without it the call
   * succeeds, and its entry says why it cannot be replayed. */
  readonly refuse?: (tombstone: Tombstone["tombstone"]) => Error;
  /** What is to be journaled beside the output, once the call has ended. */
  readonly meta?: () => CallMeta;
}

/** How a call ended, as events tell it. */
export interface Ended<T> {
  readonly value: T;
  /** Whether the answer came from the recording. */
  readonly cached: boolean;
  /** The value as it was journaled; absent where it could not be. */
  readonly encoded?: Encoded | undefined;
  /** Where and why the value could not be journaled. */
  readonly tombstone?: string | undefined;
  /** What was journaled beside the output. */
  readonly meta?: CallMeta | undefined;
}

/** A failed call, and whether its failure came from the recording. */
export class CallFailure {
  readonly error: unknown;
  readonly cached: boolean;
  /** What was journaled beside the failure. */
  readonly meta: CallMeta | undefined;

  constructor(error: unknown, cached: boolean, meta?: CallMeta) {
    this.error = error;
    this.cached = cached;
    this.meta = meta;
  }
}

/**
 * Answers a call that has begun from the recording, or makes it and journals how it ended.
 * @throws CallFailure around what the call failed with.
 */
export async function settle<T>(scope: Scope, begun: Begun, call: CallSpec<T>): Promise<Ended<T>> {
  if (begun.answer === "output") return replayOutput<T>(scope, begun);
  if (begun.answer === "failure") throw await replayFailure(scope, begun);
  if (scope.run.mode === "replay" && begun.answer === "in-flight") await outlast(scope);
  if (scope.run.replaying) decideMiss(scope, new UnansweredCall(scope.frame, begun, call));
  return makeCall(scope, begun, call);
}

async function makeCall<T>(scope: Scope, begun: Begun, call: CallSpec<T>): Promise<Ended<T>> {
  const { frame } = scope;
  const startedAt = performance.now();
  const meta = (): CallMeta => ({
    durationMs: Math.round((performance.now() - startedAt) * 1000) / 1000,
    ...call.meta?.(),
  });
  scope.tally.live += 1;
  scope.run.report.live += 1;
  let value: T;
  let encoded: Encoded | Tombstone;
  try {
    value = await call.make();
    encoded = encodeValue(value);
    if (call.refuse !== undefined && "tombstone" in encoded) throw call.refuse(encoded.tombstone);
  } catch (error) {
    const known = meta();
    if (begun.slot !== undefined) {
      frame.fail(begun.slot, errorInfoText(error), JSON.stringify(known));
      remember(scope, frame, begun.slot, error);
    }
    throw new CallFailure(error, false, known);
  }
  const known = meta();
  if ("tombstone" in encoded) {
    const { path, reason } = encoded.tombstone;
    const tombstone = `${path === "" ? "the value" : path}: ${reason}`;
    if (begun.slot !== undefined) frame.bury(begun.slot, JSON.stringify(tombstone), JSON.stringify(known));
    return { value, cached: false, tombstone, meta: known };
  }
  if (begun.slot !== undefined) {
    frame.succeed(begun.slot, encoded.text, encoded.types ?? undefined, JSON.stringify(known));
  }
  return { value, cached: false, encoded, meta: known };
}

/**
 * In a strict replay nothing is made; but what nobody waits for is no miss. A call that was in flight had lost a race or
 * was left behind: an unchanged program goes on without it as long as anything else is pending.
 * @throws CallFailure around an AbortError if the agent was aborted meanwhile.
 */
async function outlast(scope: Scope): Promise<void> {
  await scope.run.releases.idle();
  if (scope.signal.aborted) throw new CallFailure(scope.abortError(), false);
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
  // What is left over from a frame that has ended decides nothing.
  if (!scope.closed) run.refuse(error);
  throw new CallFailure(error, false);
}

async function replayOutput<T>(scope: Scope, begun: Begun): Promise<Ended<T>> {
  const encoded = { text: begun.text ?? "null", types: begun.types ?? null };
  const meta = await release(scope, begun);
  return { value: decodeValue(encoded.text, encoded.types) as T, cached: true, encoded, meta };
}

async function replayFailure(scope: Scope, begun: Begun): Promise<CallFailure> {
  const error = fromErrorInfo(JSON.parse(begun.text ?? "{}") as ErrorInfo);
  const meta = await release(scope, begun);
  if (begun.slot !== undefined) remember(scope, scope.frame, begun.slot, error);
  return new CallFailure(error, true, meta);
}

/** Waits for the call's place in the recorded order of ends. */
async function release(scope: Scope, begun: Begun): Promise<CallMeta | undefined> {
  const { run, tally } = scope;
  await run.releases.turn(begun.end ?? undefined);
  tally.replayed += 1;
  run.report.replayed += 1;
  if (scope.frame.release(begun.slot, begun.end)) {
    tally.overtaken += 1;
    run.report.overtaken += 1;
  }
  if (begun.meta === undefined) return undefined;
  const meta = JSON.parse(begun.meta) as CallMeta;
  addSaved(run.report.saved, meta);
  return meta;
}

function remember(scope: Scope, frame: FrameHandle, slot: number, error: unknown): void {
  scope.remember(error, () => frame.markStopped(slot));
}
