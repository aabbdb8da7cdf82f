// The facts about a captured boundary, and the forms in which a capture is stored.

import type { BudgetAllocation, ContextLedger } from "../window/ledger.js";

/** The place of the capture: a call by the user (`call`), a model call of a run (`model`), or the network (`wire`). */
export type BoundarySource = "call" | "model" | "wire";

/** The request that was sent over the network, without secret headers and secret parts of the URL. */
export interface WireRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Everything known about a boundary except its content. */
export interface BoundaryFacts {
  readonly source: BoundarySource;
  readonly sessionId: string;
  /** Name of the agent that sends the request. */
  readonly agentName: string;
  readonly model: string;
  /** Path of the journaled call, such as `root/agent:writer:0/prompt:gpt:0`. Absent outside of runs. */
  readonly callId?: string | undefined;
  readonly traceId?: string | undefined;
  /** Span of the call, as in the trace events `turn:start` and `turn:end`, or `call:start` and `call:end`. */
  readonly spanId?: string | undefined;
  /** Key of the journal entry, if there is one. */
  readonly journalHash?: string | undefined;
  /** Starts at 1 and increases with each retry of the request. */
  readonly attempt: number;
  /** True if the answer comes from a recording, so nothing is sent. */
  readonly replayed: boolean;
  /** Set on captures made by `process`. */
  readonly timing?: "pre_optimization" | "post_optimization" | undefined;
  readonly wire?: WireRequest | undefined;
}

/** A capture as JSON. */
export interface CaptureRecord {
  readonly timestamp: string;
  readonly source: BoundarySource;
  readonly sessionId: string;
  readonly agentName: string;
  readonly model: string;
  readonly callId?: string;
  readonly traceId?: string;
  readonly spanId?: string;
  readonly attempt: number;
  readonly replayed: boolean;
  readonly timing?: "pre_optimization" | "post_optimization";
  readonly messageHash: string;
  readonly toolsHash: string;
  readonly contentHash: string;
  readonly wireHash: string;
  readonly ledger: ContextLedger;
  readonly budget: BudgetAllocation;
  readonly messages: readonly unknown[];
  readonly tools: readonly unknown[];
  /** The whole request as it was sent or hashed. Present if more than messages and tools is known. */
  readonly request?: string;
  readonly wire?: WireRequest;
  /** Texts for hashes that JSON values cannot reproduce. `source` is true if the number tokens of the texts count. */
  readonly exact?: { readonly messages: string; readonly tools: string; readonly source: boolean };
}

/** The short form of a capture, with snake_case names. */
export interface CaptureDict {
  readonly timestamp: string;
  readonly message_count: number;
  readonly tools_count: number;
  readonly message_hash: string;
  readonly tools_hash: string;
  readonly ledger: Readonly<Record<string, number>>;
  readonly budget: Readonly<Record<string, number>>;
}
