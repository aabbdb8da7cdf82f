// The documented shape of snapshots. Fields marked "own" are additions that older readers skip.

import type { TokenUsage } from "./model.js";

/** An error as data. */
export interface ErrorInfo {
  name: string;
  message: string;
  stack?: string;
  cause?: ErrorInfo;
  /** Own: the errors of an AggregateError. */
  errors?: ErrorInfo[];
  /** Further fields of the error, such as `code`. */
  details?: Record<string, unknown>;
  /** Own: type tags by JSON pointer, for what JSON lacks in `details`. */
  detailsTypes?: Record<string, string>;
  /** Own: `String(error)`, where it is not made of name and message. */
  text?: string;
}

export interface ModelUsageItem {
  type: "model";
  name: string;
  provider?: string;
  /** By unit, in whole numbers. */
  costs: Record<string, number>;
  tokens: { prompt: number; completion: number; total: number; details?: Record<string, unknown> };
}

export interface ToolUsageItem {
  type: "tool";
  name: string;
  /** By unit, in whole numbers. */
  costs: Record<string, number>;
  quantity: number;
  unit: string;
  details?: Record<string, unknown>;
}

export type UsageItem = ModelUsageItem | ToolUsageItem;

export interface UsageStats {
  /** By unit, in whole numbers. */
  costs: Record<string, number>;
  totalTokens: number;
  promptTokens: number;
  completionTokens: number;
  /** Calls of models. */
  callCount: number;
  details?: Record<string, unknown>;
  items: UsageItem[];
}

export interface BudgetState {
  /** Of the frame alone. */
  own: UsageStats;
  /** Of the frame and all frames under it. */
  aggregate: UsageStats;
}

/** The last output that a request got. */
export interface JournalEntry {
  /** An assistant message for a prompt, JSON for a tool; `null` in a tombstone. */
  output: unknown;
  contentHash: string;
  /** A tombstone: where and why the output could not be recorded. Its call goes live on replay. */
  error?: string;
}

export interface Journal {
  /** By contentHash. */
  prompt: Record<string, JournalEntry>;
  /** By contentHash. */
  tool: Record<string, JournalEntry>;
  /** Own: calls of other kinds, by kind and contentHash. */
  other?: Record<string, Record<string, JournalEntry>>;
}

/** Own: one occurrence of a request. */
export interface CallRecord {
  /** "prompt", "tool" or a kind of the program's own. */
  kind: string;
  callId: string;
  contentHash: string;
  /** Place of the start in the run's order of starts and ends. */
  startOrder: number;
  /** Place of the answer in the same order, where the call handed it out before its end, as streams are. */
  answerOrder?: number;
  /** Place of the end in the same order; absent while the call has not ended. */
  endOrder?: number;
  /** The output of this occurrence stands in the journal's row. */
  row?: true;
  /** The output, where it does not stand in the row. */
  output?: unknown;
  /** What JSON lacks in the output: type tags by JSON pointer. */
  types?: Record<string, string>;
  /** Where and why the output could not be recorded. */
  tombstone?: string;
  /** The failure. */
  error?: ErrorInfo;
  /** The frame ended with this failure: resuming makes the call again. */
  stopped?: true;
  /** The program went on after this failure: resuming replays it. */
  handled?: true;
  /** Recorded by an earlier run, and not reached yet by the resumed one that was dumped. */
  unreached?: true;
  /** What was asked. */
  request?: KeptRequest;
  /** What else is known of the call. */
  meta?: CallMeta;
}

/** Own: a request, by places in the root's `requestTexts`. */
export type KeptRequest =
  | { document: number }
  | {
      /** Index in `calls` of the prompt that this one continues. */
      base?: number;
      /** The messages that come after those of `base`. */
      add: number[];
      model?: number;
      options?: number;
      schema?: number;
      tools?: number;
    };

/** Own: what is known of a call beside its output. */
export interface CallMeta {
  /** Milliseconds. */
  durationMs?: number;
  /** Of a model. */
  usage?: TokenUsage;
  /** The model reported its usage in the event that ended its answer. */
  usageInFinish?: true;
  /** Why the model ended its answer, where it said so. */
  finishReason?: string;
  /** Of an answer that came in pieces. */
  stream?: StreamMeta;
  /** contentHash of the request as it was sent, where what is kept of it was redacted. */
  wireHash?: string;
}

/** Own: how an answer came, beside what it said. */
export interface StreamMeta {
  /** Milliseconds from the call to the start of the answer. */
  startMs?: number;
  /** The pieces: bytes of a body or parts of a stream, and milliseconds from the call. */
  chunks?: [size: number, atMs: number][];
  /** How often its client had tried before, if it had. */
  attempt?: number;
  /** Headers of a response that differ from time to time, such as `date` and `x-request-id`. */
  headers?: [name: string, value: string][];
}

export interface FrameState {
  status: "running" | "completed" | "failed";
  /** Of a completed frame. */
  output?: unknown;
  /** Of a failed frame: an ErrorInfo. */
  error?: unknown;
}

/** Own: with what a generation started. */
export interface GenerationStart {
  id: number;
  props?: unknown;
  /** What JSON lacks in the props: type tags by JSON pointer. */
  propsTypes?: Record<string, string>;
  memory?: Record<string, unknown>;
}

/** Own: an earlier generation of a frame. */
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
  /** At the moment of the dump. */
  memory: Record<string, unknown>;
  /** Of the last generation. */
  journal: Journal;
  /** Of the last generation, by callId. */
  children: Record<string, AgentFrameSnapshot>;
  state: FrameState;
  budgetState: BudgetState;
  /** Own: hash of the props, by which the frame is found again. */
  inputHash?: string;
  /** Own: place of the start in the run's order of starts and ends. */
  startOrder?: number;
  /** Own: place of the end in the same order. */
  endOrder?: number;
  /** Own: the calls of the last generation, in order of their starts. */
  calls?: CallRecord[];
  /** Own: the last generation. */
  generation?: GenerationStart;
  /** Own: earlier generations, in order. */
  generations?: GenerationRecord[];
  /** Own: hash of each key of the memory; a value that does not match it any more was edited. */
  memoryHashes?: Record<string, string>;
  /** Own: what JSON lacks in `state.output`: type tags by JSON pointer. */
  outputTypes?: Record<string, string>;
  /** Own: the parent frame ended with the failure of this one. */
  stopped?: true;
  /** Own: this frame failed, and its parent went on after that. */
  handled?: true;
  /** Own: recorded by an earlier run, and not reached yet by the resumed one that was dumped. */
  unreached?: true;
  /** Own, of the root: messages, schemas, tool lists and documents that were asked, each once. */
  requestTexts?: unknown[];
}

/** Where a snapshot comes from. */
export interface Provenance {
  traceId: string;
  spanId?: string;
  anchor?: "before" | "after";
  source?: "dump" | "restore";
  /** Own, of a fork: the snapshot that it was made of. */
  forkedFrom?: { processId: string; timestamp: number };
}

/** What was missing, doubled or unreadable in a trace, and what was made of it. */
export interface SnapshotWarning {
  /** Stable identifier, such as "order-uncertain". */
  code: string;
  message: string;
  /** Line of the trace file, or place in the list of events; from 1. */
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
  /** Own: what recorded it, and the rules by which it answers. */
  recorder?: Recorder;
  /** The user's own tags. */
  metadata?: Record<string, unknown>;
  /** Own: what restoring had to repair. */
  warnings?: SnapshotWarning[];
  /** Own: the rules that requests were normalized by before they were hashed. */
  normalize?: RecordedRule[];
  /** Own: the rules that the run was redacted by before it was recorded. */
  redact?: RecordedRedaction;
}

/** Own: what made a recording. */
export interface Recorder {
  /** Version of agent-rewind. */
  version: string;
  /** Numbers of the replay flags that were in force, in ascending order. A recording without a recorder has none. */
  flags: number[];
}

/** Own: what `runWith({ redact })` was given. */
export interface RecordedRedaction {
  /** Version of the built-in rules. */
  builtIn: number;
  /** Built-in rules that were not applied. */
  without?: string[];
  /** The rules of the user. */
  rules: RecordedRule[];
  /** Names the key of the digests without telling it: 16 hex digits; absent without a key. */
  keyId?: string;
}

/** A rule of `runWith({ normalize })` or `runWith({ redact })`. */
export interface RecordedRule {
  id: string;
  /** Changes when the rule does. */
  definition: string;
}

export interface RestoreOptions {
  /** The span to restore to; by default the end of the trace. */
  spanId?: string;
  /** Before the span's start, or after its end (the default). */
  anchor?: "before" | "after";
  /** Own tags of the snapshot. */
  metadata?: Record<string, unknown>;
  /** The run to restore, where the events are of several. Default: the one that started last, with a warning. */
  traceId?: string;
}
