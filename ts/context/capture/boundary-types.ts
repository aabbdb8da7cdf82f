// What is told of a boundary, and how it is kept.

import type { BudgetAllocation, ContextLedger } from "../window/ledger.js";

/** Where a boundary was captured: by a call of the user's, at the model call of a run, or at the network. */
export type BoundarySource = "call" | "model" | "wire";

/** The request that was sent over the network. Values of headers and of the URL that are secret are left out. */
export interface WireRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** What is known of a boundary beside its content. */
export interface BoundaryFacts {
  readonly source: BoundarySource;
  readonly sessionId: string;
  /** Name of the agent that sends. */
  readonly agentName: string;
  readonly model: string;
  /** Path of the journaled call, such as `root/agent:writer:0/prompt:gpt:0`; absent outside of runs. */
  readonly callId?: string | undefined;
  readonly traceId?: string | undefined;
  /** Span of the call: that of the trace events `turn:start` and `turn:end`, or `call:start` and `call:end`. */
  readonly spanId?: string | undefined;
  /** Key of the journal entry, where there is one. */
  readonly journalHash?: string | undefined;
  /** From 1; each retry of a request is one more. */
  readonly attempt: number;
  /** Whether the answer comes from a recording: nothing leaves. */
  readonly replayed: boolean;
  /** Of a snapshot that `process` keeps. */
  readonly timing?: "pre_optimization" | "post_optimization" | undefined;
  readonly wire?: WireRequest | undefined;
}

/** A snapshot as JSON. */
export interface SnapshotRecord {
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
  /** The whole request as it was sent or hashed, where more than messages and tools is known. */
  readonly request?: string;
  readonly wire?: WireRequest;
  /** Where JSON values alone do not give the hashes again: the texts, and whether their number tokens count. */
  readonly exact?: { readonly messages: string; readonly tools: string; readonly source: boolean };
}

/** A snapshot in the names of the source. */
export interface SnapshotDict {
  readonly timestamp: string;
  readonly message_count: number;
  readonly tools_count: number;
  readonly message_hash: string;
  readonly tools_hash: string;
  readonly ledger: Readonly<Record<string, number>>;
  readonly budget: Readonly<Record<string, number>>;
}
