// The frames of a snapshot for readers: a flat list in which each call has its outcome.

import { native, type NativeSnapshotHandle } from "../native.js";
import type { AgentFrameSnapshot, CallRecord, GenerationStart } from "../types/snapshot.js";

type Nested =
  | "journal"
  | "children"
  | "calls"
  | "generation"
  | "generations"
  | "memoryHashes"
  | "requestTexts"
  | "requestParts";

/** A frame, without the frames in it. */
export interface ListedFrame extends Omit<AgentFrameSnapshot, Nested> {
  /** Position of the parent in the list; absent for the root. */
  parent?: number;
  /** Position in the parent's `generations`. */
  parentGeneration?: number;
  /** Keys of the memory that were edited, added or removed in the snapshot. */
  editedKeys?: string[];
  /** The dumped run replayed it from a recording. */
  replayed?: true;
  /** In order. A run replays the last one. */
  generations: ListedGeneration[];
}

export interface ListedGeneration extends GenerationStart {
  /** Journal rows without a call, then the calls in order of their starts. */
  calls: ListedCall[];
  /** Positions of the frames in it. */
  children: number[];
}

/** A call with its outcome. A journal row without a call has no callId and no order. */
export interface ListedCall extends Omit<CallRecord, "callId" | "startOrder" | "row" | "request" | "requestPart"> {
  callId?: string;
  startOrder?: number;
  /** The dumped run replayed it from a recording. */
  replayed?: true;
  /** Number of its request, if that was recorded. */
  request?: number;
}

/** The prefix of the callIds in a frame. CallIds inside a nested run start at that run's own root. */
export function baseOf({ agentId, callId }: ListedFrame): string {
  return agentId === "" ? "root" : callId;
}

/** The callId without the prefix. */
export function nameIn(base: string, callId: string): string {
  return callId.startsWith(`${base}/`) ? callId.slice(base.length + 1) : callId;
}

export class ReadModel {
  /** Parents come before their children; the root is the first. */
  readonly frames: readonly ListedFrame[];
  readonly #model: InstanceType<typeof native.ReadModel>;

  constructor(snapshot: NativeSnapshotHandle) {
    this.#model = new native.ReadModel(snapshot);
    this.frames = JSON.parse(this.#model.takeFrames()) as ListedFrame[];
  }

  get root(): ListedFrame {
    return this.frames[0] as ListedFrame;
  }

  childrenOf({ children }: ListedGeneration): ListedFrame[] {
    return children.map((child) => this.frames[child] as ListedFrame);
  }

  /** JSON text of the request document of a call, if it was recorded. */
  requestText({ request }: ListedCall): string | undefined {
    return request === undefined ? undefined : (this.#model.request(request) ?? undefined);
  }

  /**
   * The request of a call, if it was recorded, without the parts that the requests of earlier calls of this function
   * contain.
   */
  sharedRequest({ request }: ListedCall): SharedRequest | undefined {
    const text = request === undefined ? null : this.#model.sharedRequest(request);
    return text === null ? undefined : (JSON.parse(text) as SharedRequest);
  }
}

/** A request document, without the parts that earlier requests contain. */
export interface SharedRequest {
  document: unknown;
  /** The parts that it lacks, by JSON pointer. */
  shared?: Record<string, SharedPart>;
}

/** A value of an earlier request. */
export interface SharedPart {
  /** Number of that request. */
  request: number;
  /** JSON pointer to the value in the whole document of that request. */
  pointer: string;
  /** For lists: only the first items, which come before those in the document. */
  keep?: number;
}
