import type { Scope } from "../../scope/scope.js";
import type { CallData } from "../call-data.js";
import { captureStack, type CapturedStack } from "./async-stack.js";

/** The place in the program that a call is asked from. */
export class AskedFrom {
  #stack: CapturedStack | undefined;
  #read = false;
  #lane: string | undefined;

  constructor(stack: CapturedStack | undefined) {
    this.#stack = stack;
  }

  /** Captures the stack, once. Call it before the first await of the call. */
  capture(): void {
    this.#stack ??= captureStack();
  }

  /** Reads the lane, if the stack was captured. Costs a few microseconds, once. */
  readLane(): string | undefined {
    if (this.#read) return this.#lane;
    this.#read = true;
    const lane = this.#stack?.lane();
    if (lane?.complete === true) this.#lane = lane.names.join(" < ");
    return this.#lane;
  }

  /** The lane if it was read and is complete. Only then is it recorded. */
  get lane(): string | undefined {
    return this.#lane;
  }
}

/** A replayed call needs its own lane only if the recording does not answer it, so its stack is captured when that is known. */
export function askedFrom({ run, outerRecording }: Scope): AskedFrom {
  return new AskedFrom((run.replaying ? outerRecording !== undefined : run.recording) ? captureStack() : undefined);
}

/** The lane of a new call as a JSON literal, if its frame replays calls with lanes. */
export function laneToFind(scope: Scope, from: AskedFrom): string | undefined {
  if (!scope.run.replaying || !scope.rules.lanes) return undefined;
  from.capture();
  const lane = from.readLane();
  return lane === undefined ? undefined : scope.recordable(JSON.stringify(lane));
}

/** A call that begins, and its journal entry. */
interface Opened {
  readonly scope: Scope;
  readonly contentHash: string;
  readonly slot: number | undefined;
  readonly entry: {
    readonly callId: string;
    readonly from: AskedFrom;
    readonly hasRecordedAnswer: boolean;
    readonly recordedData: CallData;
  };
}

/** The open calls with one request in one frame. */
interface OpenCalls {
  count: number;
  /** The first one, until another one opens. */
  only: Opened | undefined;
}

const openCalls = new WeakMap<Scope, Map<string, OpenCalls>>();

/** An open call. Calls with equal requests that are open together need their lanes, the first one too. */
export class OpenCall {
  readonly #ofScope: Map<string, OpenCalls>;
  readonly #contentHash: string;
  /** The lanes that became known when the call began, with their callIds: that of the first one, and its own. */
  readonly lanes: readonly (readonly [callId: string, lane: string])[];

  constructor(call: Opened) {
    const { scope, contentHash } = call;
    this.#contentHash = contentHash;
    let ofScope = openCalls.get(scope);
    if (ofScope === undefined) openCalls.set(scope, (ofScope = new Map<string, OpenCalls>()));
    this.#ofScope = ofScope;
    const open = this.#ofScope.get(contentHash);
    if (open === undefined) {
      this.#ofScope.set(contentHash, { count: 1, only: call });
      const { lane } = call.entry.recordedData;
      this.lanes = lane === undefined ? [] : [[call.entry.callId, lane]];
      return;
    }
    open.count += 1;
    this.lanes = [...(open.only === undefined ? [] : noteLane(open.only)), ...noteLane(call)];
    open.only = undefined;
  }

  close(): void {
    const open = this.#ofScope.get(this.#contentHash);
    if (open === undefined) return;
    open.count -= 1;
    open.only = undefined;
    if (open.count === 0) this.#ofScope.delete(this.#contentHash);
  }
}

/** Journals the lane of an open call. A recorded answer comes with its lane. */
function noteLane({ scope, slot, entry }: Opened): [callId: string, lane: string][] {
  const lane = entry.hasRecordedAnswer ? entry.recordedData.lane : entry.from.readLane();
  if (lane === undefined) return [];
  if (slot !== undefined && !entry.hasRecordedAnswer) {
    scope.frame.setLane(slot, scope.recordable(JSON.stringify(lane)));
  }
  return [[entry.callId, lane]];
}
