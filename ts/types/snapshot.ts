// The snapshot format: that of `@rejelly/core`, with fields marked as extensions. Readers of `@rejelly/core` skip them.

import type { TokenUsage } from "./model.js";

/** An error as data. */
export interface ErrorInfo {
  name: string;
  message: string;
  stack?: string;
  cause?: ErrorInfo;
  /** Extension: the errors of an AggregateError. */
  errors?: ErrorInfo[];
  /** Further fields of the error, such as `code`. */
  details?: Record<string, unknown>;
  /** Extension: type tags by JSON pointer, for values in `details` that JSON cannot represent. */
  detailsTypes?: Record<string, string>;
  /** Extension: the members of `details` that are not enumerable. */
  hidden?: string[];
  /** Extension: members whose names are registered symbols, by their keys (`Symbol.for`). */
  symbols?: Record<string, unknown>;
  /** Extension: the names of the class and of its ancestors, if `name` does not tell the class. */
  class?: string[];
  /** Extension: by JSON pointer, why a part of the error could not be recorded. "" is the error itself. */
  tombstones?: Record<string, string>;
  /** Extension: `String(error)`, if it is not "name: message". */
  text?: string;
}

export interface ModelUsageItem {
  type: "model";
  name: string;
  provider?: string;
  /** By unit, as integers. */
  costs: Record<string, number>;
  tokens: { prompt: number; completion: number; total: number; details?: Record<string, unknown> };
}

export interface ToolUsageItem {
  type: "tool";
  name: string;
  /** By unit, as integers. */
  costs: Record<string, number>;
  quantity: number;
  unit: string;
  details?: Record<string, unknown>;
}

export type UsageItem = ModelUsageItem | ToolUsageItem;

export interface UsageStats {
  /** By unit, as integers. */
  costs: Record<string, number>;
  totalTokens: number;
  promptTokens: number;
  completionTokens: number;
  /** Number of model calls. */
  callCount: number;
  details?: Record<string, unknown>;
  items: UsageItem[];
}

export interface BudgetState {
  /** Usage of the frame itself. */
  own: UsageStats;
  /** Usage of the frame and all frames below it. */
  aggregate: UsageStats;
}

/** The last output of a request. */
export interface JournalEntry {
  /** An assistant message for a prompt, otherwise JSON; `null` in a tombstone. */
  output: unknown;
  contentHash: string;
  /** A tombstone: where and why the output could not be recorded. A replay executes the call again. */
  error?: string;
}

export interface Journal {
  /** By contentHash. */
  prompt: Record<string, JournalEntry>;
  /** By contentHash. */
  tool: Record<string, JournalEntry>;
  /** Extension: calls of other kinds, by kind and contentHash. */
  other?: Record<string, Record<string, JournalEntry>>;
}

/** Extension: one occurrence of a request. */
export interface CallRecord {
  /** "prompt", "tool" or a custom kind. */
  kind: string;
  callId: string;
  /** The callId of the call of the frame that it was asked inside of. It answers only there. */
  within?: string;
  contentHash: string;
  /** Position of the start in the run's order of starts, answers and ends. */
  startOrder: number;
  /** Position of the answer in the same order, if the call returned it before its end, as streams do. */
  answerOrder?: number;
  /** Position of the end in the same order; absent if the call has not ended. */
  endOrder?: number;
  /** The output is in the journal row of `contentHash`. */
  row?: true;
  /** The output, if it is not in the row. */
  output?: unknown;
  /** Type tags by JSON pointer, for values in the output that JSON cannot represent. */
  types?: Record<string, string>;
  /** Where and why the output could not be recorded. */
  tombstone?: string;
  /** The failure. */
  error?: ErrorInfo;
  /** The frame ended with this failure, so resuming executes the call again. */
  stopped?: true;
  /** The program continued after this failure, so resuming replays it. */
  handled?: true;
  /** Copied from the earlier recording; this run has not requested it yet. */
  carriedOver?: true;
  /**
   * The functions that waited for the call, from the inside out, such as `ask < branch < all[1] < main`. Only if an
   * equal request was open in its frame at the same time: then it tells them apart.
   */
  lane?: string;
  /** The number of attempts, if the client retried the call. */
  attempts?: number;
  /** The call ended in the same tick of the event loop as the call that had ended right before it. */
  sameTick?: true;
  /** Own: a fork removed all of it but its start. */
  dropped?: true;
  /** The request, if requests were recorded and it has no shared parts. */
  request?: KeptRequest;
  /** The request, if it has shared parts: index into `requestParts` of the root. */
  requestPart?: number;
  /** The place and kind of content in the request that its hash does not cover, so that resuming executes the call again. */
  inexact?: string;
  /** Further data about the call. */
  meta?: CallMeta;
}

/** Extension: a request. The numbers are indexes into `requestTexts` of the root, except `base`. */
export type KeptRequest =
  | { document: number }
  /** A prompt. Only version 0.1.0 wrote it. */
  | {
      /** Index in `calls` of the prompt whose messages precede `add`. */
      base?: number;
      /** The messages after those of `base`. */
      add: number[];
      model?: number;
      options?: number;
      schema?: number;
      tools?: number;
    };

/** Extension: a value that requests share. Numbers are indexes of earlier entries of `requestParts`, except `keep`. */
export type RequestPart =
  /** A value. It has `null` in place of its `parts`, which are named by JSON pointer. */
  | { value: unknown; parts?: Record<string, number> }
  /** A list: the first `keep` items of the list `after`, and these. */
  | { list: number[]; after?: number; keep?: number }
  /** A string, in pieces that are concatenated. */
  | { text: number[]; after?: number; keep?: number }
  /** The output of a call, by the SHA-256 of its JSON text. */
  | { output: string }
  /** A string that contains the JSON text of that output. */
  | { outputText: string };

/** Extension: data about a call, apart from its output. */
export interface CallMeta {
  /** Milliseconds. */
  durationMs?: number;
  /** Tokens that a model used. */
  usage?: TokenUsage;
  /** The model reported its usage in the event that finished its answer. */
  usageInFinish?: true;
  /** The reason for the end of the answer, if the model reported it. */
  finishReason?: string;
  /** Timing of a streamed answer. */
  stream?: StreamMeta;
  /** JSON pointers of the parts of the answer that repeat the request. See `echo` of `journalCall`. */
  echoes?: string[];
  /** contentHash of the request as it was sent, if the recorded request is redacted. */
  wireHash?: string;
  /** The id that the model gave to this call of a tool, if the framework passes it to tools. */
  toolCallId?: string;
}

/** Extension: timing and headers of a streamed answer. */
export interface StreamMeta {
  /** Milliseconds from the call to the start of the answer. */
  startMs?: number;
  /** The chunks: bytes of a body or parts of a stream, and milliseconds from the call. */
  chunks?: [size: number, atMs: number][];
  /** Number of earlier attempts of the client, if there were any. */
  attempt?: number;
  /** Headers that differ between equal responses, such as `date` and `x-request-id`. */
  headers?: [name: string, value: string][];
}

export interface FrameState {
  status: "running" | "completed" | "failed";
  /** Result of a completed frame. */
  output?: unknown;
  /** An ErrorInfo, if the frame failed. */
  error?: unknown;
}

/** Extension: the initial state of a generation. */
export interface GenerationStart {
  id: number;
  props?: unknown;
  /** Type tags by JSON pointer, for values in the props that JSON cannot represent. */
  propsTypes?: Record<string, string>;
  memory?: Record<string, unknown>;
}

/** Extension: an earlier generation of a frame. */
export interface GenerationRecord extends GenerationStart {
  journal: Journal;
  calls: CallRecord[];
  children: Record<string, AgentFrameSnapshot>;
}

export interface AgentFrameSnapshot {
  /** `${parentCallId}/${type}:${configId}:${seq}`; "root" for the frame of `runWith`. */
  callId: string;
  /** "" for the frame of `runWith`. */
  agentId: string;
  /** Extension: the callId of the call of the frame above that it was opened inside of. It answers only there. */
  within?: string;
  /** The memory at the time of the dump. */
  memory: Record<string, unknown>;
  /** Journal of the last generation. */
  journal: Journal;
  /** Frames below the last generation, by callId. */
  children: Record<string, AgentFrameSnapshot>;
  state: FrameState;
  budgetState: BudgetState;
  /** Extension: hash of the props. A replay finds the frame by it. */
  inputHash?: string;
  /** Extension: position of the start in the run's order of starts, answers and ends. */
  startOrder?: number;
  /** Extension: position of the end in the same order. */
  endOrder?: number;
  /** Extension: the calls of the last generation, in the order of their starts. */
  calls?: CallRecord[];
  /** Extension: the last generation. */
  generation?: GenerationStart;
  /** Extension: earlier generations, in order. */
  generations?: GenerationRecord[];
  /** Extension: hash of the value of each memory key. A value that does not match its hash was edited. */
  memoryHashes?: Record<string, string>;
  /** Extension: type tags by JSON pointer, for values in `state.output` that JSON cannot represent. */
  outputTypes?: Record<string, string>;
  /** Extension: the parent frame ended with the failure of this one. */
  stopped?: true;
  /** Extension: this frame failed, and its parent continued. */
  handled?: true;
  /** Extension: copied from the earlier recording; this run has not requested it yet. */
  carriedOver?: true;
  /** Own, in the root only: request documents without shared parts, each once. */
  requestTexts?: unknown[];
  /** Own, in the root only: the other request documents, and their parts, each once. */
  requestParts?: RequestPart[];
}

/** The origin of a snapshot. */
export interface Provenance {
  traceId: string;
  spanId?: string;
  anchor?: "before" | "after";
  source?: "dump" | "restore";
  /** Own: id of the run that was not resumed from another one. All runs that resume it keep it. */
  firstRun?: string;
  /** Own, in a fork: the snapshot that was changed. */
  forkedFrom?: { processId: string; timestamp: number };
}

/** Lost, duplicated or unreadable events of a trace, and how restoring handled them. */
export interface SnapshotWarning {
  /** Stable identifier, such as "order-uncertain". */
  code: string;
  message: string;
  /** Line of the trace file, or position in the list of events, from 1. */
  line?: number;
  spanId?: string;
}

export interface AgentSnapshot {
  /** The trace's id, or `restore:<spanId|latest>:<ms>`. */
  processId: string;
  /** Milliseconds since 1970. */
  timestamp: number;
  root: AgentFrameSnapshot;
  provenance: Provenance;
  version: number;
  /** Extension: the program that made the recording, and its replay flags. */
  recorder?: Recorder;
  /** Tags of the user. */
  metadata?: Record<string, unknown>;
  /** Extension: the repairs that restoring made. */
  warnings?: SnapshotWarning[];
  /** Extension: the rules that normalized requests before they were hashed. */
  normalize?: RecordedRule[];
  /** Extension: the rules that redacted the run before it was recorded. */
  redact?: RecordedRedaction;
}

/** Extension: the program that made a recording, and the rules by which the recording answers. */
export interface Recorder {
  /** Version of agent-rewind. */
  version: string;
  /** Numbers of the replay flags, in ascending order. A recording without a recorder has none. */
  flags: number[];
  /** The random key of the digests that stand for secrets in requests, hex digits. Absent without such digests. */
  salt?: string;
}

/** Extension: the settings of `runWith({ redact })`. */
export interface RecordedRedaction {
  /** Version of the built-in rules. */
  builtIn: number;
  /** Built-in rules that were not applied. */
  without?: string[];
  /** The rules of the user. */
  rules: RecordedRule[];
  /** Identifies the key of the digests without revealing it: 16 hex digits; absent without a key. */
  keyId?: string;
}

/** A rule of `runWith({ normalize })` or `runWith({ redact })`. */
export interface RecordedRule {
  id: string;
  /** A text that changes whenever the rule changes. */
  definition: string;
}

export interface RestoreOptions {
  /** The span to restore to. Default: the end of the trace. */
  spanId?: string;
  /** "before" the span's start, or "after" its end (default). */
  anchor?: "before" | "after";
  /** Tags for the snapshot. */
  metadata?: Record<string, unknown>;
  /** The run to restore, if the trace has several. Default: the run that started last, with a warning. */
  traceId?: string;
  /**
   * The snapshot that the run of the trace resumed. What the run had not requested of it is carried over, so that nothing
   * is lost if the run was killed early.
   */
  resumedFrom?: AgentSnapshot;
}
