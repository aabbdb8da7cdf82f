// The frames of a snapshot as readers see them: a flat list in which each call has its outcome.

import { native, type NativeSnapshotHandle } from "../native.js";
import type { AgentFrameSnapshot, CallRecord, GenerationStart } from "../types/snapshot.js";

type Nested = "journal" | "children" | "calls" | "generation" | "generations" | "memoryHashes" | "requestTexts";

/** A frame, without the frames in it. */
export interface ListedFrame extends Omit<AgentFrameSnapshot, Nested> {
  /** Position of the parent in the list; absent for the root. */
  parent?: number;
  /** Which of the parent's `generations` it is in. */
  parentGeneration?: number;
  /** Keys of the memory that were edited, added or removed by hand. */
  editedKeys?: string[];
  /** The dumped run replayed it from a recording. */
  replayed?: true;
  /** In order; the last one is the one that a run replays. */
  generations: ListedGeneration[];
}

export interface ListedGeneration extends GenerationStart {
  /** Rows that no call names, then the calls in order of their starts. */
  calls: ListedCall[];
  /** Positions of the frames in it. */
  children: number[];
}

/** A call with its outcome. A row that no call names has neither a callId nor an order. */
export interface ListedCall extends Omit<CallRecord, "callId" | "startOrder" | "row" | "request"> {
  callId?: string;
  startOrder?: number;
  /** The dumped run replayed it from a recording. */
  replayed?: true;
  /** Number of its request, where that was kept. */
  request?: number;
}

export class ReadModel {
  /** Parents come before their children; the root is the first. */
  readonly frames: readonly ListedFrame[];
  readonly #model: InstanceType<typeof native.ReadModel>;

  constructor(snapshot: NativeSnapshotHandle) {
    this.#model = new native.ReadModel(snapshot);
    this.frames = JSON.parse(this.#model.takeFrames()) as ListedFrame[];
  }

  /** JSON text of the request document of a call, where it was kept. */
  requestText({ request }: ListedCall): string | undefined {
    return request === undefined ? undefined : (this.#model.request(request) ?? undefined);
  }

  /** The request by what it adds to an earlier one of its generation, where it was kept. */
  addedRequest({ request }: ListedCall): AddedRequest | undefined {
    const text = request === undefined ? null : this.#model.addedRequest(request);
    return text === null ? undefined : (JSON.parse(text) as AddedRequest);
  }
}

/** A document; or a prompt, by what it adds to an earlier one. */
export type AddedRequest =
  | { document: unknown }
  | {
      /** The callId of the prompt that this one continues. */
      after?: string;
      messages: unknown[];
      model?: unknown;
      options?: unknown;
      schema?: unknown;
      tools?: unknown;
      /** Members of that one that this one lacks. */
      without?: string[];
    };
