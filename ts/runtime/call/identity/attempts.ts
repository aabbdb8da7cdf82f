// Which call a client retries.

import { getContext, storage, type LastCall, type RunContext } from "../../scope/run-context.js";
import type { Generation } from "../../scope/generation.js";
import type { Scope } from "../../scope/scope.js";
import type { AskedFrom } from "./lanes.js";
import type { CallEntry } from "../started-call.js";

/** A call that its client may retry. */
interface RetriableCall {
  /** `undefined` once it has succeeded. */
  entry: CallEntry | undefined;
  readonly frame: CallsOfFrame;
  /** Kind and hash of the request. */
  readonly key: string;
  /** The number that its last attempt reported. */
  attempt: number;
  hasFailed: boolean;
}

/**
 * Leads from the code that asked a call to that call. The code that continues there has the mark, and also what its
 * caller starts afterwards, until that asks calls of its own.
 */
class Mark implements LastCall {
  call: RetriableCall | undefined;
  /** The mark in whose place this one is. Only until the call begins. */
  earlier: Mark | undefined;
  hasBegun: boolean = false;
  /** True until the caller awaits: what it starts until then has marks of its own before it can retry. */
  isNew: boolean = true;

  constructor(earlier: Mark | undefined) {
    this.earlier = earlier;
    void ready.then(() => (this.isNew = false));
  }
}

const ready = Promise.resolve();

/**
 * Marks the code that continues after a call, so that its retry is recognized. Call it in the synchronous part of a
 * wrapper: then only the caller continues in this context, which is otherwise the same.
 * @returns the context to begin the call in.
 */
export function markCaller(context: RunContext): RunContext {
  const current = getContext();
  const inFrame = current?.scope === context.scope ? current : undefined;
  const { lastCall } = inFrame ?? context;
  const mark = new Mark(lastCall instanceof Mark ? lastCall : undefined);
  const marked = context.after(mark);
  if (inFrame !== undefined) storage.enterWith(inFrame === context ? marked : inFrame.after(mark));
  return marked;
}

/** The retriable calls of a generation of a frame by their keys: those that failed and were not retried, and the last. */
class CallsOfFrame {
  readonly #failed = new Map<string, Set<RetriableCall>>();
  /** The last entry with each key. Only for recordings without own attempts. */
  readonly last = new Map<string, CallEntry>();
  /** Keys of calls whose marks were seen by other calls, as in a queue: they do not prove who retries. */
  readonly ambiguous = new Set<string>();

  add(call: RetriableCall): void {
    const failed = this.#failed.get(call.key);
    if (failed === undefined) this.#failed.set(call.key, new Set([call]));
    else failed.add(call);
  }

  remove(call: RetriableCall): void {
    const failed = this.#failed.get(call.key);
    if (failed?.delete(call) === true && failed.size === 0) this.#failed.delete(call.key);
  }

  /** The only call that attempt `number` can repeat. Of several, it is the only one that the same functions wait for. */
  onlyFailed(key: string, number: number, from: AskedFrom): RetriableCall | undefined {
    const all = [...(this.#failed.get(key) ?? [])].filter(({ attempt }) => attempt === number - 1);
    if (all.length > 1) from.capture();
    const lane = all.length > 1 ? from.readLane() : undefined;
    const inLane = lane === undefined ? [] : all.filter(({ entry }) => entry?.from.readLane() === lane);
    const failed = inLane.length === 1 ? inLane : all;
    // The recording tells which calls were retried, so the moment at which this replay fails them does not matter.
    const recorded = failed.find(({ entry }) => entry !== undefined && entry.recordedAttempts > entry.attempts);
    if (recorded !== undefined) return recorded;
    const live = failed.filter(({ entry }) => entry?.recordedAttempts === 0);
    return live.length === 1 ? live[0] : undefined;
  }
}

const callsOfFrames = new WeakMap<Generation, CallsOfFrame>();

/** An attempt of a call, before it is known which call that is. */
export class Attempt {
  readonly #scope: Scope;
  readonly #mark: Mark | undefined;
  readonly #number: number | undefined;
  readonly #calls: CallsOfFrame | undefined;

  /** @param number of earlier attempts, if the client reports it. */
  constructor(context: RunContext, number: number | undefined) {
    this.#scope = context.scope;
    this.#number = number;
    const { lastCall } = context;
    if (lastCall instanceof Mark && !lastCall.hasBegun) this.#mark = lastCall;
    else if (number !== undefined) this.#mark = markCaller(context).lastCall as Mark;
    if (this.#mark === undefined) return;
    this.#calls = callsOfFrames.get(context.generation) ?? new CallsOfFrame();
    callsOfFrames.set(context.generation, this.#calls);
  }

  /**
   * The entry of the call that this attempt repeats: of the last call in the code that asks, or else of the only equal
   * call that failed and was not retried. `undefined` if there is no such call, or more than one.
   * @param getKey returns the kind and the hash of the request, in one text.
   */
  repeated(getKey: () => string, from: AskedFrom): CallEntry | undefined {
    const number = this.#number ?? 0;
    const calls = this.#calls;
    if (number === 0 || calls === undefined) return undefined;
    const key = getKey();
    if (!this.#hasOwnAttempts) return calls.last.get(key);
    const call = this.#lastOfCaller(key, number) ?? calls.onlyFailed(key, number, from);
    if (call === undefined) return undefined;
    call.hasFailed = false;
    call.attempt = number;
    calls.remove(call);
    this.#lead(call);
    return call.entry;
  }

  /** Notes that the attempt repeats no call, and begins an entry. */
  begins(entry: CallEntry, getKey: () => string): void {
    const calls = this.#calls;
    if (calls === undefined) return;
    const key = getKey();
    if (!this.#hasOwnAttempts) {
      if (this.#number !== undefined) calls.last.set(key, entry);
      return;
    }
    const call: RetriableCall = {
      entry,
      frame: calls,
      key,
      attempt: this.#number ?? 0,
      hasFailed: false,
    };
    const earlier = this.#mark?.earlier;
    if (earlier?.isNew === false && earlier.call?.entry !== undefined && earlier.call.key === key) {
      calls.ambiguous.add(key);
    }
    this.#lead(call);
    entry.onOutcome = (failed) => {
      call.hasFailed = failed;
      if (failed) return calls.add(call);
      calls.remove(call);
      call.entry = undefined;
    };
  }

  get #hasOwnAttempts(): boolean {
    return this.#scope.rules.ownAttempts;
  }

  /** The last call that the asking code has asked, if this attempt repeats it. */
  #lastOfCaller(key: string, number: number): RetriableCall | undefined {
    const call = this.#mark?.earlier?.call;
    if (call?.hasFailed !== true || call.frame !== this.#calls || call.key !== key) return undefined;
    return call.attempt === number - 1 && !call.frame.ambiguous.has(key) ? call : undefined;
  }

  #lead(call: RetriableCall): void {
    if (this.#mark === undefined) return;
    this.#mark.call = call;
    this.#mark.earlier = undefined;
    this.#mark.hasBegun = true;
  }
}
