// The public contract of "agent-rewind", generated from ts/index.ts by `npm run build`.

import * as Binding from "./native/binding.cjs";

/** Where in a run the code stands: the agent's frame, and the span that new spans hang on. */
declare class RunContext {
  #private;
  /** Path of the frame, such as `root/agent:writer:0`. */
  get callId(): string;
  /** Id of the agent; empty in the frame of `runWith`. */
  get agentId(): string;
  /** How many agents are around the code: 0 in the frame of `runWith`. */
  get depth(): number;
  /** Aborts when the agent is to stop. A model or tool that is still at work should listen to it. */
  get signal(): AbortSignal;
  /** Ids of the trace (32 hex digits) and of the span that the code runs in (16 hex digits). */
  get trace(): {
    readonly traceId: string;
    readonly spanId: string;
  };
  /** Whether the run is journaled and can be dumped. */
  get enableSnapshot(): boolean;
  /** A copy of the agent's memory. */
  get memory(): Map<string, unknown>;
  /** Calls `fn` in this context, from wherever. */
  run<R>(fn: () => R): R;
  /** A function that calls `fn` in this context. For callbacks that lose it: those of native code,
  * `ReadableStream.pull`, generators that are iterated elsewhere. */
  bind<A extends unknown[], R>(fn: (...args: A) => R): (...args: A) => R;
}
/** @deprecated Use {@link RunContext}. */
type Context = RunContext;
/** The context that the code runs in, or `undefined` outside of runs and agents. */
declare function getContext(): RunContext | undefined;
/**
* The context that the code runs in, to be kept for later.
* @throws ContextNotFoundError outside of runs and agents.
*/
declare function captureContext(): RunContext;
/** Options of the error classes that wrap another error. */
interface CauseOptions {
  cause?: unknown;
}
/** Base of all errors of this package. `name` and `code` are stable; `message` is for people. */
declare class RewindError extends Error {
  /** Stable identifier, `ERR_REWIND_…`. */
  readonly code: string;
  constructor(message: string, code: string, options?: CauseOptions);
}
/** What was to be captured cannot be. */
declare class CaptureError extends RewindError {
  constructor(message: string, options?: CauseOptions);
}
declare function isCaptureError(value: unknown): value is CaptureError;
/** A function that needs a run or an agent around it was called outside. */
declare class ContextNotFoundError extends RewindError {
  /** The function that was called. */
  readonly apiName: string | undefined;
  constructor(apiName?: string);
}
declare function isContextNotFoundError(value: unknown): value is ContextNotFoundError;
/** An agent was equipped after its prompt. */
declare class AfterPromptAgentError extends RewindError {
  readonly apiName: string;
  constructor(apiName: string);
}
declare function isAfterPromptAgentError(value: unknown): value is AfterPromptAgentError;
/** `runWith` was called inside a run. */
declare class NestedRunError extends RewindError {
  constructor();
}
declare function isNestedRunError(value: unknown): value is NestedRunError;
/** The agents of a run call each other too deep. */
declare class MaxDepthExceededError extends RewindError {
  readonly maxDepth: number;
  readonly agentId: string;
  constructor(maxDepth: number, agentId: string);
}
declare function isMaxDepthExceededError(value: unknown): value is MaxDepthExceededError;
/** A run or an agent was aborted. */
declare class AbortError extends RewindError {
  /** The reason that was given, as it was given. */
  readonly reason: unknown;
  constructor(reason?: unknown);
}
/** Also holds for the AbortError of the platform (a DOMException). */
declare function isAbortError(value: unknown): value is Error & {
  readonly name: "AbortError";
};
/** A snapshot cannot be changed as `forkSnapshot` was told. */
declare class ForkError extends RewindError {
  /** Place in the arguments, such as `changes.0.at`. */
  readonly path: string;
  /** What was to be changed, as it was given. */
  readonly at: unknown;
  /** What could have been given at `path`, the nearest first; empty where that is no question of names. */
  readonly known: readonly string[];
  constructor(path: string, message: string, {
    at,
    known
  }?: {
    at?: unknown;
    known?: readonly string[];
  });
}
declare function isForkError(value: unknown): value is ForkError;
/** A request to an MCP server ended without an answer. */
declare class McpCallEndedError extends RewindError {
  /** Whether the connection was closed, or the client took the request back. */
  readonly how: "closed" | "cancelled";
  /** Why it was taken back, as the client told the server. */
  readonly reason: string | undefined;
  constructor(method: string, how: "closed" | "cancelled", reason?: string);
}
declare function isMcpCallEndedError(value: unknown): value is McpCallEndedError;
/** An agent has no model. */
declare class ModelNotFoundError extends RewindError {
  readonly agentId: string | undefined;
  constructor(agentId?: string);
}
declare function isModelNotFoundError(value: unknown): value is ModelNotFoundError;
/** An agent names a model that is not registered. */
declare class ModelRegistryNotFoundError extends RewindError {
  readonly modelId: string;
  readonly agentId: string;
  /** Ids of the models that are registered. */
  readonly registeredIds: readonly string[] | undefined;
  constructor(modelId: string, agentId: string, registeredIds?: readonly string[]);
}
declare function isModelRegistryNotFoundError(value: unknown): value is ModelRegistryNotFoundError;
/** A model adapter failed; `cause` is what it threw. */
declare class ModelCallError extends RewindError {
  /** Id of the model adapter. */
  readonly modelId: string;
  readonly provider: string | undefined;
  readonly agentId: string | undefined;
  constructor(modelId: string, cause: unknown, {
    provider,
    agentId
  }?: {
    provider?: string | undefined;
    agentId?: string | undefined;
  });
}
declare function isModelCallError(value: unknown): value is ModelCallError;
/** No answer of the model fitted the schema, also not when it was asked again. */
declare class AttemptsExhaustedError extends RewindError {
  readonly agentId: string;
  /** How many answers were tried. */
  readonly attempts: number;
  /** What was wrong with the last answer. */
  readonly faults: readonly string[];
  /** The last answer. */
  readonly rawText: string | undefined;
  constructor(agentId: string, attempts: number, faults: readonly string[], {
    rawText,
    ...options
  }?: CauseOptions & {
    rawText?: string;
  });
}
declare function isAttemptsExhaustedError(value: unknown): value is AttemptsExhaustedError;
/** The model called tools in turn after turn and gave no answer. */
declare class TurnBudgetExceededError extends RewindError {
  readonly agentId: string;
  readonly maxTurnSteps: number;
  constructor(agentId: string, maxTurnSteps: number);
}
declare function isTurnBudgetExceededError(value: unknown): value is TurnBudgetExceededError;
/** An agent was reborn too often. */
declare class MaxRebornsExceededError extends RewindError {
  readonly agentId: string;
  readonly maxReborns: number;
  constructor(agentId: string, maxReborns: number);
}
declare function isMaxRebornsExceededError(value: unknown): value is MaxRebornsExceededError;
/** An audit log cannot be opened, written or read. */
declare class AuditLogError extends RewindError {
  /** The log. */
  readonly path: string;
  constructor(message: string, {
    path,
    code,
    ...options
  }: CauseOptions & {
    path: string;
    code?: string;
  });
}
declare function isAuditLogError(value: unknown): value is AuditLogError;
/** A rule of redaction cannot be used, or a snapshot was recorded under other rules. */
declare class RedactError extends RewindError {
  constructor(message: string, options?: CauseOptions);
}
declare function isRedactError(value: unknown): value is RedactError;
/** A model is to be told a schema whose library gives no JSON schema of it. */
declare class JsonSchemaNotFoundError extends RewindError {
  /** What the schema is of: `promptAgent`, or `tool "<name>"`. */
  readonly owner: string;
  /** Library of the schema, by its Standard Schema name. */
  readonly vendor: string | undefined;
  constructor(about: {
    owner: string;
    remedy: string;
    vendor: string | undefined;
    install?: string | undefined;
  }, options?: CauseOptions);
}
declare function isJsonSchemaNotFoundError(value: unknown): value is JsonSchemaNotFoundError;
/** The native addon could not be loaded; `cause` is why. */
declare class NativeMissingError extends RewindError {
  readonly platform: string;
  readonly arch: string;
  /** C library, on Linux only. */
  readonly libc: "glibc" | "musl" | undefined;
  /** The package that holds the addon for this machine. */
  readonly packageName: string;
  constructor(cause: unknown);
}
declare function isNativeMissingError(value: unknown): value is NativeMissingError;
/** A recording's file cannot be read. */
declare class InvalidRecordingError extends RewindError {
  readonly path: string;
  /** From 1. */
  readonly line: number;
  constructor(path: string, line: number, message: string, options?: CauseOptions);
}
declare function isInvalidRecordingError(value: unknown): value is InvalidRecordingError;
/** There is no recording of a test, and none may be made. */
declare class RecordingMissingError extends RewindError {
  readonly test: string;
  readonly path: string;
  constructor(test: string, path: string, call: string, options?: CauseOptions);
}
declare function isRecordingMissingError(value: unknown): value is RecordingMissingError;
/** A test asked for something that its recording does not have. */
declare class RecordingStaleError extends RewindError {
  readonly test: string;
  readonly path: string;
  constructor(test: string, path: string, why: string, options?: CauseOptions);
}
declare function isRecordingStaleError(value: unknown): value is RecordingStaleError;
/** A recording would hold a secret. It was not written. */
declare class SecretInRecordingError extends RewindError {
  readonly path: string;
  /** What was found, and in which lines, from 1. */
  readonly secrets: readonly {
    readonly rule: string;
    readonly line: number;
  }[];
  constructor(path: string, secrets: readonly {
    readonly rule: string;
    readonly line: number;
  }[]);
}
declare function isSecretInRecordingError(value: unknown): value is SecretInRecordingError;
/** Why a recording has no answer for a call. */
type MissReason = "no-recording" | "not-recorded" | "in-flight" | "tombstone" | "retry" | "inexact";
/** A place in which a request differs from a recorded one. */
interface Difference {
  /** JSON pointer into the request; for what was removed, into the recorded one. */
  pointer: string;
  change: "changed" | "added" | "removed" | "reordered";
  /** Part of the request that the place is in. */
  part: "messages" | "tools" | "schema" | "options" | "model" | "input" | "other";
  /** What kind of value differs, such as "date", "uuid", "whitespace" or "text". */
  nature: string;
  /** Short excerpts. */
  recorded?: string;
  actual?: string;
}
/** Where a request differs from the nearest one that was recorded. */
interface MissExplanation {
  /** The recorded call whose request is nearest. */
  nearest: {
    callId: string;
    contentHash: string;
  };
  differences: Difference[];
  /** How many further differences there are. */
  more: number;
  /** The same in words. */
  text: string;
}
/** A call that the recording has no answer for. */
interface Miss {
  readonly kind: string;
  readonly name: string;
  readonly callId: string;
  readonly contentHash: string;
  readonly reason: MissReason;
  /** With the reason "inexact": JSON pointer and kind of that content. */
  readonly inexact?: string | undefined;
  /** Absent where requests were not kept. */
  readonly explanation?: MissExplanation | undefined;
}
/** What was asked for while snapshots are disabled. */
type SnapshotDisabledSource = "dump" | "runWith";
/** A snapshot was asked for, or given, where snapshots are disabled. */
declare class SnapshotDisabledError extends RewindError {
  readonly source: SnapshotDisabledSource;
  constructor({
    source
  }: {
    source: SnapshotDisabledSource;
  });
}
declare function isSnapshotDisabledError(value: unknown): value is SnapshotDisabledError;
/** A snapshot cannot be restored from a trace. */
declare class RestoreError extends RewindError {
  /** The span that was asked for. */
  readonly spanId: string | undefined;
  /** Place in the trace, such as a file or a line. */
  readonly path: string | undefined;
  constructor(message: string, {
    code,
    spanId,
    path,
    ...options
  }?: CauseOptions & {
    code?: string;
    spanId?: string;
    path?: string;
  });
}
declare function isRestoreError(value: unknown): value is RestoreError;
/** Something wrong in a snapshot. */
interface Fault {
  /** Dotted path, such as `root.children.x.state.status`; "" is the snapshot itself. */
  path: string;
  message: string;
}
/** A snapshot from outside is not one. Lists all faults. */
declare class InvalidSnapshotError extends RewindError {
  readonly faults: readonly Fault[];
  constructor(faults: readonly Fault[], options?: CauseOptions);
}
declare function isInvalidSnapshotError(value: unknown): value is InvalidSnapshotError;
/** Requests cannot be normalized: a rule threw, or a snapshot was recorded under other rules. */
declare class NormalizeError extends RewindError {
  constructor(message: string, options?: CauseOptions);
}
declare function isNormalizeError(value: unknown): value is NormalizeError;
/** Something is too deep or too large to be represented. */
declare class LimitError extends RewindError {
  /** Place in the data. */
  readonly path: string | undefined;
  readonly limit: number | undefined;
  constructor(message: string, {
    path,
    limit,
    ...options
  }?: CauseOptions & {
    path?: string;
    limit?: number;
  });
}
declare function isLimitError(value: unknown): value is LimitError;
/** A call that was not allowed to be made, and why the recording does not answer it. */
interface MissedCall {
  /** "prompt", "tool" or a kind of the program's own. */
  kind: string;
  /** Name of the model or tool. */
  name: string;
  callId: string;
  contentHash: string;
  reason: MissReason;
  /** With the reason "inexact": JSON pointer and kind of the content that the hash does not cover. */
  inexact?: string | undefined;
  /** Where the request differs from the nearest one that was recorded; absent where requests were not kept. */
  explanation?: MissExplanation | undefined;
}
/** A replay was asked something that its recording does not answer. */
declare class ReplayMissError extends RewindError {
  readonly kind: string;
  /** Name of the model or tool. `name` is that of the error. */
  readonly calledName: string;
  readonly callId: string;
  readonly contentHash: string;
  readonly reason: MissReason;
  readonly explanation: MissExplanation | undefined;
  constructor({
    kind,
    name,
    callId,
    contentHash,
    reason,
    inexact,
    explanation
  }: MissedCall);
}
/** A stream is read on where its consumer had left it when it was recorded. */
declare class StreamCutError extends RewindError {
  constructor(call: string);
}
declare function isStreamCutError(value: unknown): value is StreamCutError;
declare function isReplayMissError(value: unknown): value is ReplayMissError;
/** A tool gave a value that cannot be recorded, and so could not be replayed. */
declare class InvalidToolOutputError extends RewindError {
  readonly toolName: string;
  /** JSON pointer into the output; "" is the output itself. */
  readonly path: string;
  readonly reason: string;
  constructor(toolName: string, path: string, reason: string);
}
declare function isInvalidToolOutputError(value: unknown): value is InvalidToolOutputError;
/** A trace file could not be written. */
declare class TraceWriteError extends RewindError {
  /** The trace file. */
  readonly path: string;
  constructor(path: string, cause: unknown);
}
declare function isTraceWriteError(value: unknown): value is TraceWriteError;
/** A line of a trace file could not be read. */
declare class TraceReadError extends RewindError {
  /** The trace file. */
  readonly path: string;
  /** From 1. */
  readonly line: number;
  constructor(path: string, line: number, reason: string, cause?: unknown);
}
declare function isTraceReadError(value: unknown): value is TraceReadError;
interface TextPart {
  type: "text";
  text: string;
}
interface ImagePart {
  type: "image";
  image: {
    url: string;
    detail?: string;
  };
}
interface VideoPart {
  type: "video";
  video: {
    url: string;
  };
}
type ContentPart = TextPart | ImagePart | VideoPart;
/** A call of a tool that a model asks for. */
interface ToolCall {
  id: string;
  name: string;
  /** JSON text, as the model wrote it. */
  arguments: string;
  /** What the adapter has to get back with this call. */
  extra?: Record<string, unknown>;
}
interface Message {
  role: "system" | "user" | "assistant" | "tool";
  content: string | ContentPart[] | null;
  reasoning_content?: string;
  tool_calls?: ToolCall[];
  /** In a message of the role "tool": the call that it answers. */
  tool_call_id?: string;
  name?: string;
  /** What the adapter has to get back with this message. */
  extra?: Record<string, unknown>;
}
type ToolChoice = "auto" | "none" | "required" | {
  type: "function";
  function: {
    name: string;
  };
};
interface TokenUsage {
  promptTokens: number;
  completionTokens: number;
  totalTokens: number;
  details?: Record<string, unknown>;
}
/** A piece of a tool call; pieces of one call have the same `index`, and their `arguments` are joined. */
interface ToolCallDelta {
  index: number;
  id?: string;
  name?: string;
  /** Next piece of the JSON text. */
  arguments?: string;
  extra?: Record<string, unknown>;
}
type StreamEvent = {
  type: "text";
  content: string;
} | {
  type: "reasoning";
  content: string;
} | {
  type: "tool_call";
  toolCall: ToolCallDelta;
} | {
  type: "extra";
  extra: Record<string, unknown>;
} | {
  type: "usage";
  usage: TokenUsage;
} | {
  type: "error";
  error: unknown;
} | {
  type: "finish";
  finishReason: string;
  usage?: TokenUsage;
};
/** A tool, as a model is told of it. */
interface ToolSchema {
  name: string;
  description: string;
  /** JSON schema (draft-07) of the input. */
  parameters: Record<string, unknown>;
  middlewares?: readonly {
    name: string;
    config?: unknown;
  }[];
}
interface StreamOptions {
  /** JSON schema (draft-07) that the answer has to fit. */
  schema?: Record<string, unknown>;
  tools?: ToolSchema[];
  toolChoice?: ToolChoice;
  /** Aborts when the agent is to stop. */
  signal?: AbortSignal;
  /** Model options such as temperature or seed; part of the request's hash. */
  additionalOptions?: Record<string, unknown>;
}
interface ModelAdapter {
  readonly id: string;
  readonly provider?: string;
  /** Options for every call, which those of a prompt override; part of the request's hash. JSON. */
  readonly modelOptions?: Readonly<Record<string, unknown>>;
  /** Sends the messages and gives the answer as it comes. */
  stream(messages: Message[], options?: StreamOptions): AsyncGenerator<StreamEvent>;
  /** Costs of a call by unit, in whole numbers. */
  calculateCost?(usage: TokenUsage): Record<string, number>;
}
/** An error as data. */
interface ErrorInfo {
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
interface ModelUsageItem {
  type: "model";
  name: string;
  provider?: string;
  /** By unit, in whole numbers. */
  costs: Record<string, number>;
  tokens: {
    prompt: number;
    completion: number;
    total: number;
    details?: Record<string, unknown>;
  };
}
interface ToolUsageItem {
  type: "tool";
  name: string;
  /** By unit, in whole numbers. */
  costs: Record<string, number>;
  quantity: number;
  unit: string;
  details?: Record<string, unknown>;
}
type UsageItem = ModelUsageItem | ToolUsageItem;
interface UsageStats {
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
interface BudgetState {
  /** Of the frame alone. */
  own: UsageStats;
  /** Of the frame and all frames under it. */
  aggregate: UsageStats;
}
/** The last output that a request got. */
interface JournalEntry {
  /** An assistant message for a prompt, JSON for a tool; `null` in a tombstone. */
  output: unknown;
  contentHash: string;
  /** A tombstone: where and why the output could not be recorded. Its call goes live on replay. */
  error?: string;
}
interface Journal {
  /** By contentHash. */
  prompt: Record<string, JournalEntry>;
  /** By contentHash. */
  tool: Record<string, JournalEntry>;
  /** Own: calls of other kinds, by kind and contentHash. */
  other?: Record<string, Record<string, JournalEntry>>;
}
/** Own: one occurrence of a request. */
interface CallRecord {
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
type KeptRequest = {
  document: number;
} | {
  /** Index in `calls` of the prompt that this one continues. */base?: number; /** The messages that come after those of `base`. */
  add: number[];
  model?: number;
  options?: number;
  schema?: number;
  tools?: number;
};
/** Own: what is known of a call beside its output. */
interface CallMeta {
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
interface StreamMeta {
  /** Milliseconds from the call to the start of the answer. */
  startMs?: number;
  /** The pieces: bytes of a body or parts of a stream, and milliseconds from the call. */
  chunks?: [size: number, atMs: number][];
  /** How often its client had tried before, if it had. */
  attempt?: number;
  /** Headers of a response that differ from time to time, such as `date` and `x-request-id`. */
  headers?: [name: string, value: string][];
}
interface FrameState {
  status: "running" | "completed" | "failed";
  /** Of a completed frame. */
  output?: unknown;
  /** Of a failed frame: an ErrorInfo. */
  error?: unknown;
}
/** Own: with what a generation started. */
interface GenerationStart {
  id: number;
  props?: unknown;
  /** What JSON lacks in the props: type tags by JSON pointer. */
  propsTypes?: Record<string, string>;
  memory?: Record<string, unknown>;
}
/** Own: an earlier generation of a frame. */
interface GenerationRecord extends GenerationStart {
  journal: Journal;
  calls: CallRecord[];
  children: Record<string, AgentFrameSnapshot>;
}
interface AgentFrameSnapshot {
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
interface Provenance {
  traceId: string;
  spanId?: string;
  anchor?: "before" | "after";
  source?: "dump" | "restore";
  /** Own, of a fork: the snapshot that it was made of. */
  forkedFrom?: {
    processId: string;
    timestamp: number;
  };
}
/** What was missing, doubled or unreadable in a trace, and what was made of it. */
interface SnapshotWarning {
  /** Stable identifier, such as "order-uncertain". */
  code: string;
  message: string;
  /** Line of the trace file, or place in the list of events; from 1. */
  line?: number;
  spanId?: string;
}
interface AgentSnapshot {
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
interface Recorder {
  /** Version of agent-rewind. */
  version: string;
  /** Numbers of the replay flags that were in force, in ascending order. A recording without a recorder has none. */
  flags: number[];
}
/** Own: what `runWith({ redact })` was given. */
interface RecordedRedaction {
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
interface RecordedRule {
  id: string;
  /** Changes when the rule does. */
  definition: string;
}
interface RestoreOptions {
  /** The span to restore to; by default the end of the trace. */
  spanId?: string;
  /** Before the span's start, or after its end (the default). */
  anchor?: "before" | "after";
  /** Own tags of the snapshot. */
  metadata?: Record<string, unknown>;
  /** The run to restore, where the events are of several. Default: the one that started last, with a warning. */
  traceId?: string;
}
/** What became of the calls of a frame. */
interface FrameReport {
  readonly callId: string;
  readonly agentId: string;
  /** "own": the frame continued a recorded one; "lent": it was answered from one with other props; "none". */
  readonly recording: "own" | "lent" | "none";
  /** Calls answered from the recording. */
  replayed: number;
  /** Calls that were made. */
  live: number;
  /** Calls that the recording had no entry for. */
  missed: number;
  /** Replayed ends that came before an earlier recorded start or end. */
  overtaken: number;
  /** The recorded result was taken, and the handler not run. */
  reused: boolean;
  /** The first call that the recording had no entry for. */
  firstDivergence?: Miss;
  /** What was recorded and not asked for. */
  unused?: {
    calls: number;
    frames: number;
  };
}
/** A recorded answer that may belong to another request. */
interface InexactAnswer {
  readonly callId: string;
  /** JSON pointer and kind of the content that the hash of the request does not cover, such as "/query: instance of Query". */
  readonly reason: string;
}
/** What became of the calls of a run. */
interface ReplayReport {
  readonly mode: "live" | "resume" | "replay";
  replayed: number;
  live: number;
  missed: number;
  overtaken: number;
  /** The frames of a run that replayed, in order of their starts. */
  frames: FrameReport[];
  /**
  * Calls that were answered although their request has content that its hash does not cover. Only recordings without
  * the replay flag 1 answer such calls.
  */
  inexact: InexactAnswer[];
  /** What the replayed calls had cost when they were made. */
  saved: {
    milliseconds: number;
    promptTokens: number;
    completionTokens: number;
    totalTokens: number;
  };
}
/** Place of an event in the tree of spans. */
interface TraceRef {
  /** 32 hex digits. */
  traceId: string;
  /** 16 hex digits. */
  spanId: string;
  /** "" for none. */
  parentSpanId: string;
  attributes?: Record<string, unknown>;
}
interface EventBase<Type extends string> {
  type: Type;
  /** "" in the frame of `runWith`. */
  agentId?: string;
  schemaVersion: 1;
  /** Milliseconds since 1970. */
  timestamp: number;
  trace: TraceRef;
  /** Own: place in the run's order of events. */
  _seq?: number;
}
/** How a span ended. */
interface Ended {
  /** Milliseconds. */
  duration: number;
  success: boolean;
  error?: ErrorInfo;
}
/** Own: type tags by JSON pointer, for what JSON lacks in the field of that name without "Types". */
type Types = Record<string, string>;
interface Result {
  result?: unknown;
  resultTypes?: Types;
}
interface RunWithFields {
  config: {
    isProd: boolean;
    enableSnapshot: boolean;
  };
  dependencies: {
    hasEventBus: boolean;
    hasGlobalModel: boolean;
    registeredModels: string[];
  };
  props?: unknown;
  propsTypes?: Types;
  /** Own: the rules that requests were normalized by. */
  normalize?: RecordedRule[];
  /** Own: the rules that the run was redacted by. */
  redact?: RecordedRedaction;
  restoration?: {
    isRestored: boolean;
    sourceProcessId?: string;
    snapshotTimestamp?: number;
    snapshotVersion?: number;
    provenance?: Provenance;
  };
}
/** What a frame over a recording starts with, so that its trace alone tells the whole. */
interface Continued {
  /** Own: the usage of the recording. */
  budgetState?: BudgetState;
}
interface RunWithStartEvent extends EventBase<"runWith:start">, RunWithFields, Continued {
  /** Own: what records the run, and the rules by which its recording answers. */
  recorder?: Recorder;
  /** Own, over a recording: the memory at the start. */
  memory?: Record<string, unknown>;
}
interface RunWithEndEvent extends EventBase<"runWith:end">, RunWithFields, Ended, Result {
  metrics: {
    totalPromptTokens: number;
    totalCompletionTokens: number;
    totalTokens: number;
    costs: Record<string, number>;
  };
  /** Own. */
  memory?: Record<string, unknown>;
}
interface AgentFields {
  props: unknown;
  propsTypes?: Types;
  maxReborns: number;
  /** Own: hash of the props. */
  inputHash?: string;
  /** Own: path of the frame. */
  callId?: string;
}
interface AgentStartEvent extends EventBase<"agent:start">, AgentFields, Continued {
  /** Own, of an agent that was called outside of runs: as in `runWith:start`. */
  recorder?: Recorder;
}
interface AgentEndEvent extends EventBase<"agent:end">, AgentFields, Ended, Result {
  generationCount: number;
}
/** A span of its own, without an end. */
interface AgentRebornEvent extends EventBase<"agent:reborn"> {
  generationId: number;
  newProps?: unknown;
  newPropsTypes?: Types;
}
interface GenerationFields {
  generationId: number;
  props: unknown;
  propsTypes?: Types;
}
interface GenerationStartEvent extends EventBase<"generation:start">, GenerationFields {
  /** Own: the memory at the start. */
  memory?: Record<string, unknown>;
}
interface GenerationEndEvent extends EventBase<"generation:end">, GenerationFields, Ended, Result {
  endReason: "return" | "error" | "reborn";
  /** The memory at the end. */
  memory: Record<string, unknown>;
}
interface PromptAgentFields {
  generationId: number;
  policyId: string;
}
interface PromptAgentStartEvent extends EventBase<"promptAgent:start">, PromptAgentFields {}
interface PromptAgentEndEvent extends EventBase<"promptAgent:end">, PromptAgentFields, Ended, Result {
  totalSteps: number;
}
/** What a turn in a trace file adds to the conversation of the turns before it. */
interface MessagesDelta {
  /** How many messages there were. */
  count: number;
  /** SHA-256 over their JSON texts, each with a newline: 64 hex digits. */
  prefixHash: string;
  add: Message[];
}
interface TurnFields {
  /** From 0. */
  step: number;
  /** In a trace file only the first turn of a prompt has them; the others have `messagesDelta`. */
  messages: Message[];
  messageCount: number;
  /** JSON schema of the answer. */
  schema?: Record<string, unknown>;
  toolConfig?: {
    tools: ToolSchema[];
    toolChoice?: ToolChoice;
  };
  /** Own: path of the prompt's call. */
  callId?: string;
}
interface TurnStartEvent extends EventBase<"turn:start">, TurnFields {
  /** Own. */
  contentHash?: string;
}
/** How the call of a model or a tool, or any other, ended. */
interface CallEnd extends Ended {
  /** Whether the answer came from a recording. */
  cache: boolean;
  /** Own: the failure came from a recording, in which the program had gone on after it. */
  handled?: true;
}
interface TurnEndEvent extends EventBase<"turn:end">, TurnFields, CallEnd {
  contentHash: string;
  resultType?: "content" | "tool_calls";
  message?: Message;
  /** Own: why the answer could not be recorded. */
  tombstone?: string;
  /** Own: what is known of the answer beside the message; of a replayed one, as it was recorded. */
  meta?: CallMeta;
}
interface ModelCallFields {
  adapterId: string;
  provider?: string;
  messageCount: number;
  usedTools: boolean;
}
interface ModelCallStartEvent extends EventBase<"model:call:start">, ModelCallFields {}
interface ModelCallEndEvent extends EventBase<"model:call:end">, ModelCallFields, Ended {
  rawText: string;
  finishReason?: string;
  reasoning?: string;
  toolCalls?: ToolCall[];
  /** Time to the first token, in milliseconds. */
  ttft?: number;
  usage?: TokenUsage;
  costs?: Record<string, number>;
}
interface ToolsExecuteFields {
  toolCallsCount: number;
  toolNames: string[];
}
/** Start of the tool calls of a turn, which run in parallel. */
interface ToolsExecuteStartEvent extends EventBase<"tools:execute:start">, ToolsExecuteFields {}
interface ToolExecution {
  /** The model's id of the call. */
  callId: string;
  toolName: string;
  input: unknown;
  output?: unknown;
  outputTypes?: Types;
  /** Milliseconds. */
  duration: number;
  success: boolean;
  error?: ErrorInfo;
  /** Whether the output came from a recording. */
  cache?: boolean;
  contentHash?: string;
  /** Own: why the output could not be recorded. */
  tombstone?: string;
  /** Own: the span of the `tool:call` events. */
  spanId?: string;
}
interface ToolsExecuteEndEvent extends EventBase<"tools:execute:end">, ToolsExecuteFields, Ended {
  successCount: number;
  failureCount: number;
  toolResults: ToolExecution[];
}
interface ToolCallFields {
  toolName: string;
  /** The model's id of the call. */
  callId: string;
  /** Path of the call in the journal. */
  journalCallId: string;
  contentHash: string;
  input: unknown;
}
interface CallEnded extends CallEnd {
  output?: unknown;
  outputTypes?: Types;
  /** Why the output could not be recorded. */
  tombstone?: string;
  /** What else is known of the call. */
  meta?: CallMeta;
}
/** Own: one tool has started. */
interface ToolCallStartEvent extends EventBase<"tool:call:start">, ToolCallFields {}
/** Own: one tool has finished; the batch may still run. */
interface ToolCallEndEvent extends EventBase<"tool:call:end">, ToolCallFields, CallEnded {}
interface CallFields {
  kind: string;
  name: string;
  callId: string;
  contentHash: string;
}
/** Own: a call of a kind of the program's own has started. */
interface CallStartEvent extends EventBase<"call:start">, CallFields {
  /** How often its client had tried before, where it had: the call is that of the same callId. */
  attempt?: number;
}
/**
* Own: a call has handed out its answer, and goes on, as streams do; with what had come of the answer. A second one
* tells of the first that came after that.
*/
interface CallAnswerEvent extends EventBase<"call:answer">, CallFields, CallEnded {}
/** Own: a call of a kind of the program's own has finished. */
interface CallEndEvent extends EventBase<"call:end">, CallFields, CallEnded {}
/** A span of its own. */
interface BudgetUpdateEvent extends EventBase<"budget:update"> {
  /** What was used, such as "model:openai:gpt-5". */
  identifiers: string[];
  delta: UsageStats;
  aggregate: UsageStats;
  own: UsageStats;
}
/** Own: an agent has set up a key of its memory, with this first value; a span of its own. */
interface MemoryInitEvent extends EventBase<"memory:init"> {
  key: string;
  value: unknown;
}
/** What was replayed and what was made; at the end of a run, in a span of its own. */
interface ReplayReportEvent extends EventBase<"replay:report"> {
  report: ReplayReport;
}
interface ValidationFields {
  rawText: string;
  parserId?: string;
  /** From 0. */
  attempt: number;
  success?: boolean;
}
interface ValidationSuccessEvent extends EventBase<"validation:success">, ValidationFields {
  data: unknown;
}
interface ValidationFailEvent extends EventBase<"validation:fail">, ValidationFields {
  data?: unknown;
  errors: unknown;
}
interface CustomSpanStartEvent extends EventBase<"custom:span:start"> {
  name: string;
}
interface CustomSpanEndEvent extends EventBase<"custom:span:end">, Ended {
  name: string;
}
interface SysLogEvent extends EventBase<"sys:log"> {
  level: string;
  message: string;
  args: unknown[];
}
interface ErrorEvent extends EventBase<"error"> {
  error: ErrorInfo;
}
type TraceEvent = RunWithStartEvent | RunWithEndEvent | AgentStartEvent | AgentEndEvent | AgentRebornEvent | GenerationStartEvent | GenerationEndEvent | PromptAgentStartEvent | PromptAgentEndEvent | TurnStartEvent | TurnEndEvent | ModelCallStartEvent | ModelCallEndEvent | ToolsExecuteStartEvent | ToolsExecuteEndEvent | ToolCallStartEvent | ToolCallEndEvent | CallStartEvent | CallAnswerEvent | CallEndEvent | BudgetUpdateEvent | MemoryInitEvent | ReplayReportEvent | ValidationSuccessEvent | ValidationFailEvent | CustomSpanStartEvent | CustomSpanEndEvent | SysLogEvent | ErrorEvent;
type TraceEventType = TraceEvent["type"];
/** The event of a type. */
type TraceEventOf<Type extends TraceEventType> = Extract<TraceEvent, {
  type: Type;
}>;
/** A line of a trace file that stands for events that were dropped, for their buffer was full. */
interface TraceGap {
  type: "gap";
  /** How many events are missing. */
  count: number;
  schemaVersion: 1;
  /** Milliseconds since 1970. */
  timestamp: number;
}
type EventCallback<Type extends TraceEventType | "*"> = (event: Type extends TraceEventType ? TraceEventOf<Type> : TraceEvent) => void;
/** Ends a subscription. */
type Unsubscribe = () => void;
interface EventBus {
  /** Whether anybody listens; without listeners nobody needs to build events. */
  readonly hasSubscribers: boolean;
  /** Calls `callback` for every event of a type, or of all with "*". */
  subscribe<Type extends TraceEventType | "*">(type: Type, callback: EventCallback<Type>): Unsubscribe;
  /** The same for the next event only. */
  subscribeOnce<Type extends TraceEventType | "*">(type: Type, callback: EventCallback<Type>): Unsubscribe;
  /** The same for several types. */
  subscribeMany<Type extends TraceEventType>(types: readonly Type[], callback: EventCallback<Type>): Unsubscribe;
  /**
  * Calls the subscribers before it returns, in the order in which they subscribed. Who subscribes meanwhile gets the
  * next event; who unsubscribes meanwhile gets nothing more. Never throws.
  */
  emit(event: TraceEvent): void;
  /** Ends all subscriptions. */
  reset(): void;
}
interface EventBusOptions {
  /**
  * Told what a subscriber threw, or its promise was rejected with. By default the first error of each subscriber is
  * shown by `console.warn`.
  */
  onError?: (error: unknown, event: TraceEvent) => void;
}
/** Makes a bus. Its functions need no `this`. */
declare function createEventBus({
  onError
}?: EventBusOptions): EventBus;
/** The bus that runs without an `eventBus` of their own emit to. One per process. */
declare function getGlobalEventBus(): EventBus;
/** Version of the events' shape; additions are optional fields. */
declare const TRACE_EVENT_SCHEMA_VERSION: 1;
/** The types of events. */
declare const EVENTS: {
  readonly RUN_WITH_START: "runWith:start";
  readonly RUN_WITH_END: "runWith:end";
  readonly AGENT_START: "agent:start";
  readonly AGENT_END: "agent:end";
  readonly AGENT_REBORN: "agent:reborn";
  readonly GENERATION_START: "generation:start";
  readonly GENERATION_END: "generation:end";
  readonly PROMPT_AGENT_START: "promptAgent:start";
  readonly PROMPT_AGENT_END: "promptAgent:end";
  readonly TURN_START: "turn:start";
  readonly TURN_END: "turn:end";
  readonly MODEL_CALL_START: "model:call:start";
  readonly MODEL_CALL_END: "model:call:end";
  readonly TOOLS_EXECUTE_START: "tools:execute:start";
  readonly TOOLS_EXECUTE_END: "tools:execute:end";
  readonly TOOL_CALL_START: "tool:call:start";
  readonly TOOL_CALL_END: "tool:call:end";
  readonly CALL_START: "call:start";
  readonly CALL_ANSWER: "call:answer";
  readonly CALL_END: "call:end";
  readonly REPLAY_REPORT: "replay:report";
  readonly BUDGET_UPDATE: "budget:update";
  readonly MEMORY_INIT: "memory:init";
  readonly VALIDATION_SUCCESS: "validation:success";
  readonly VALIDATION_FAIL: "validation:fail";
  readonly CUSTOM_SPAN_START: "custom:span:start";
  readonly CUSTOM_SPAN_END: "custom:span:end";
  readonly SYS_LOG: "sys:log";
  readonly ERROR: "error";
};
/** Aborts an agent from inside: `handle(reason)` and `handle.abort(reason)` are the same. */
interface AbortHandle {
  /**
  * Aborts the agent and its sub-agents, but not its caller. Does nothing once the agent has ended.
  * @param reason becomes `signal.reason`, as it is.
  */
  (reason?: unknown): void;
  abort(reason?: unknown): void;
  /** The agent's signal. */
  readonly signal: AbortSignal;
}
/** The signal that aborts when the current agent is to stop; `undefined` outside of runs and agents. */
declare function getContextSignal(): AbortSignal | undefined;
/**
* A function that aborts the current agent. Outside of runs and agents it does nothing, and its signal never aborts. The
* handle stays that of the agent that got it, wherever it is called.
*/
declare function getAbortHandle(): AbortHandle;
/** What a handler returns to be called again, in a new generation. */
interface RebornSignal {
  /** Props of the next generation; those of this one if absent. */
  readonly newProps?: unknown;
}
/**
* Makes the value that a handler returns to start again with an empty prompt and its memory kept.
* @param newProps props of the next generation; by default those of this one.
*/
declare function reborn(newProps?: unknown): RebornSignal;
/** Whether a handler's result asks for a new generation. */
declare function isRebornSignal(value: unknown): value is RebornSignal;
/** What a frame has used, told at each use. */
interface BudgetUpdate extends BudgetState {
  /** What was used just now, in this frame or under it. */
  readonly delta: UsageStats;
}
/** What a consumer of a model's answer is told beside each event. */
interface StreamInfo {
  readonly agentId: string;
  /** Path of the call, such as `root/agent:writer:0/prompt:gpt:0`; the same for all events of an answer. */
  readonly callId: string;
  /** Number of the turn in its prompt, from 0. */
  readonly step: number;
  /** Whether the answer comes from a recording: its reasoning, its text and each tool call are then one event each. */
  readonly replayed: boolean;
}
/**
* Takes a model's answer as it comes. Events are copies; what the consumer throws goes to `console.warn`, once, and
* what it returns is not waited for.
*/
type StreamConsumer = (event: StreamEvent, info: StreamInfo) => unknown;
/** A layer around an agent's handler. */
interface AgentMiddleware {
  readonly name: string;
  readonly handler: (context: {
    readonly agentId: string;
    readonly props: unknown;
  }, next: () => Promise<unknown>) => Promise<unknown>;
  readonly config?: unknown;
}
interface AgentConfig<Props, Result> {
  /** Name of the agent; part of the callId. */
  id: string;
  /**
  * The model, or its id in the run's registry; by default the model of the run. An agent whose model id is not
  * registered fails with a ModelRegistryNotFoundError when it starts.
  */
  model?: string | ModelAdapter;
  /** How often a wrong answer is asked again. Default 3. */
  maxRetries?: number;
  /** How many turns a prompt may take. Default 10. */
  maxTurnSteps?: number;
  /** How often the agent may be reborn. Default 100. */
  maxReborns?: number;
  /** What the agent does: equips its prompt, prompts, calls tools and other agents. */
  handler: (props: Props) => Promise<Result | RebornSignal> | Result | RebornSignal;
  middlewares?: readonly AgentMiddleware[];
  /** Takes the answers to the agent's prompts as they come; on replay, as recorded. */
  onStream?: StreamConsumer;
}
/** Calls the agent; in a run or another agent as its sub-agent, elsewhere as a run of its own. */
interface Agent<Props, Result> {
  (...args: undefined extends Props ? [props?: Props] : [props: Props]): Promise<Result>;
  readonly id: string;
  /** A new agent with some of the configuration changed. */
  fork(changes: Partial<AgentConfig<Props, Result>>): Agent<Props, Result>;
}
/**
* Makes an agent: a function whose calls are frames, recorded and replayed.
*
* @example
* ```ts
* import { createAgent, equipInstruction, promptAgent, runWith } from "agent-rewind";
* import { createMockModel } from "agent-rewind/testing";
* import { z } from "zod";
*
* const adviser = createAgent({
*   id: "adviser",
*   handler: async ({ city }: { city: string }) => {
*     equipInstruction(`What should I wear in ${city} today?`);
*     return promptAgent(z.object({ advice: z.string() }));
*   },
* });
* const model = createMockModel({ rules: ['{"advice":"a coat"}'] });
* console.log((await runWith(() => adviser({ city: "Oslo" }), { model })).advice);
* ```
*/
declare function createAgent<Props = undefined, Result = unknown>(config: AgentConfig<Props, Result>): Agent<Props, Result>;
/** The part of Standard Schema that is used: any library that speaks it can validate. */
interface StandardSchemaLike<Output = unknown> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => unknown;
    readonly types?: {
      readonly input: unknown;
      readonly output: Output;
    } | undefined;
  };
}
/** What a schema gives. */
type InferOutput<S> = S extends {
  readonly "~standard": {
    readonly types?: {
      readonly output: infer Output;
    } | undefined;
  };
} ? Output : unknown;
/** What a tool's handler is told beside its input. */
interface ToolContext {
  /** Aborts when the agent that called the tool is to stop. */
  readonly signal: AbortSignal;
  /** Path of this call, such as `root/agent:writer:0/tool:search:1`. */
  readonly callId: string;
}
/** A layer around a tool's handler; the journal is the innermost layer, so it sees the final input. */
interface ToolMiddleware {
  readonly name: string;
  readonly handler: (context: {
    readonly toolName: string;
    readonly input: unknown;
  }, next: (input?: unknown) => Promise<unknown>) => Promise<unknown>;
  /** Settings of the layer; part of the request's hash in recordings of `@rejelly/core`. */
  readonly config?: unknown;
}
/** Something that a model can call. */
interface Tool<Input = any, Output = unknown> {
  readonly name: string;
  readonly description: string;
  /** Schema of the input: of zod 3.25+, zod 4, or another library that speaks Standard Schema. */
  readonly parameters: StandardSchemaLike<Input>;
  /** JSON schema of the input, for a schema whose library gives none; by default what the library gives. */
  readonly jsonSchema?: Readonly<Record<string, unknown>>;
  readonly handler: (input: Input, context: ToolContext) => Output | Promise<Output>;
  readonly middlewares?: readonly ToolMiddleware[];
}
/** What a tool is to have instead; its middlewares are added, inside those that it has. */
type ToolChanges<Input, Output> = Partial<Tool<Input, Output>>;
/**
* Makes a new tool from another one, which stays as it is.
*
* @param changes fields that take the place of the tool's own. `middlewares` alone are added to it: they run inside
* those that it has, and around the journal. A function gives the fields of the new tool from the old one; what it
* gives takes the place of the tool's own, `middlewares` too.
*/
declare function augmentTool<Input, Output>(tool: Tool<Input, Output>, changes: ToolChanges<Input, Output> | ((tool: Tool<Input, Output>) => ToolChanges<Input, Output>)): Tool<Input, Output>;
type Native = typeof Binding;
/** The Rust core. */
declare const native: Native;
/** A rule that is built in. `"base64"` replaces images and files by their size and hash. */
type BuiltinRedactRule = "anthropic-key" | "openai-key" | "google-key" | "aws-key" | "github-key" | "gitlab-key" | "slack-key" | "stripe-key" | "huggingface-key" | "groq-key" | "xai-key" | "perplexity-key" | "replicate-key" | "fireworks-key" | "cerebras-key" | "together-key" | "nvidia-key" | "langsmith-key" | "npm-key" | "jwt" | "private-key" | "card-number" | "url-password" | "authorization" | "base64";
/** A rule of one's own. */
type RedactRule = {
  /** Stands in the placeholders: 1 to 64 of the characters A-Z, a-z, 0-9, `_`, `.` and `-`. */id: string;
} & ({
  /**
  * What matches in any key or text is replaced. Matched in linear time: without look-around, backreferences and
  * `\p`; `i` is known for ASCII only.
  */
  pattern: RegExp | string;
} | {
  /** Texts and numbers under members of these names are replaced; case, `_` and `-` make no difference. */keys: readonly string[];
});
interface RedactOptions {
  rules?: readonly RedactRule[];
  /**
  * Makes the digests in placeholders (HMAC-SHA256). Without one, secrets that could be guessed (card numbers, passwords
  * in URLs, Authorization values, what rules of one's own find) get placeholders without a digest, so that two of a
  * kind cannot be told apart.
  */
  key?: string;
  /** Built-in rules that are not to be applied: `["base64"]` keeps images and files. */
  without?: readonly BuiltinRedactRule[];
}
type NativeStream = InstanceType<typeof native.RedactStream>;
interface RedactStreamOptions {
  /**
  * How many bytes of UTF-8 are held back, so that a secret that lies over several chunks is seen as a whole. A longer
  * secret is replaced as far as it is known, and the rest of it is left out.
  * @default 4096
  */
  holdBack?: number;
}
/** Redacts text that comes in chunks. */
declare class RedactStream {
  #private;
  /** @throws RangeError if less is to be held back than secrets are long. */
  constructor(start: (holdBack: number) => NativeStream, {
    holdBack
  }: RedactStreamOptions);
  /** Takes a chunk, and gives the text that is certain to hold no secret; often "". */
  push(chunk: string): string;
  /** Gives what was held back. */
  end(): string;
}
/** A secret that was found. */
interface RedactFinding {
  /** Id of the rule. */
  rule: string;
  /** JSON pointer of the string or number; of a key, that of its object. Its keys are those of the input. */
  pointer: string;
  /** The secret is in a key. */
  key?: true;
  /** Where it begins and ends in the string, in UTF-16 units. */
  span: [start: number, end: number];
}
/** Replaces secrets by placeholders. Its placeholders depend on nothing but its options and the secret. */
declare class Redactor {
  #private;
  /** The rules as a snapshot records them; without the key, which only an id tells. */
  readonly recorded: RecordedRedaction;
  /** @throws TypeError, RedactError for a rule that is none, or that is not supported. */
  constructor(options?: RedactOptions, owner?: string);
  /** Plain text. Where it is JSON, the names of its members count. */
  text(text: string): string;
  /**
  * A copy of a value, in keys and values. What becomes a placeholder is a string, also where it was a number.
  * @throws TypeError for what is not JSON, nor a Date, Map, Set, URL, BigInt, bytes or `undefined`.
  */
  value(value: unknown): unknown;
  /**
  * JSON text. White space, order and numbers stay as they are.
  * @throws RewindError (`ERR_REWIND_INVALID_JSON`) with the byte offset, LimitError
  */
  json(text: string): string;
  /** What `text` would replace. */
  findInText(text: string): RedactFinding[];
  /** What `json` would replace, in order. */
  findInJson(text: string): RedactFinding[];
  /** For text that comes in chunks. */
  stream(options?: RedactStreamOptions): RedactStream;
}
/** What is left out of the hash of a request. What is sent, and what is kept, stays as it is. */
type NormalizeRule = {
  /** Name of the rule; part of what a snapshot records. */id: string;
} & ({
  /**
  * JSON pointers into the request document (`/messages/0/content`, `/input/requestId`; `*` stands for any
  * key or index): what stands there is blanked.
  */
  pointer: string | readonly string[];
} | {
  /** What matches in any text of the document is replaced, by `[id]` or by `replacement`. */pattern: RegExp;
  replacement?: string;
} | {
  /**
  * Gives the document to be hashed; called with a copy. It has to give the same for equal documents.
  * Reads the whole conversation at every turn, which the other rules do not.
  */
  apply: (document: Record<string, unknown>, kind: string) => unknown;
});
/** Whoever takes events: a bus, a trace writer. */
interface EventSink {
  emit(event: TraceEvent): void;
}
/** What a tool used, for the budget. */
interface ToolUsage {
  /** Name of the tool, or of the service behind it. */
  readonly name: string;
  /** By unit, such as `{ microdollars: 1200 }`, in whole numbers. */
  readonly costs: Readonly<Record<string, number>>;
  /** How much was used, in `unit`. */
  readonly quantity: number;
  /** What `quantity` counts, such as "request" or "page". */
  readonly unit: string;
  /** What else tells this use from others, as JSON; uses that differ in it are counted apart. */
  readonly details?: Readonly<Record<string, unknown>>;
}
/**
* Tokens, costs and calls used so far by the current frame alone (`own`), and with its sub-agents (`aggregate`).
* @throws ContextNotFoundError outside of runs and agents.
*/
declare function getUsageStats(): BudgetState;
/**
* Counts what a tool used in the budget of the current frame, and in the aggregates of the frames above it. Uses of
* the same name, unit and details are one item. A call that is replayed is not made, and so counts nothing anew.
* @throws ContextNotFoundError outside of runs and agents.
* @throws TypeError if an amount is not a finite number, or the details are not JSON.
*/
declare function recordToolUsage(usage: ToolUsage): void;
interface BudgetOptions {
  /**
  * Told of every use in the current frame and under it, in the context in which it was equipped; `own` and
  * `aggregate` are those of that frame. It can stop the agent with `getAbortHandle().abort()`; what it throws goes
  * to `console.warn`, once.
  */
  onUpdate: (update: BudgetUpdate) => unknown;
}
/**
* Adds a system message to the agent's prompt.
* @throws AfterPromptAgentError once the agent has been prompted in this generation.
*/
declare function equipSystem(text: string): void;
/**
* Adds a user message to the agent's prompt.
* @throws AfterPromptAgentError once the agent has been prompted in this generation.
*/
declare function equipInstruction(content: string | readonly ContentPart[]): void;
/**
* Lets the model call a tool. A second tool of the same name takes the place of the first.
* @throws AfterPromptAgentError once the agent has been prompted in this generation.
* @throws TypeError if the tool is none.
*/
declare function equipTool(tool: Tool, options?: {
  middleware?: ToolMiddleware | readonly ToolMiddleware[];
}): void;
/**
* Watches what the agent and its sub-agents use, until its generation ends. Replayed calls use nothing.
* @throws AfterPromptAgentError once the agent has been prompted in this generation.
*/
declare function equipBudget({
  onUpdate
}: BudgetOptions): void;
/**
* A value that lives as long as the agent, over its generations, and that snapshots keep. Values are
* copies: changing one changes nothing until it is set.
*
* @param initial what the key holds at first; ignored where it holds something already.
* @returns the value, and a function that sets it to a new one or to what a function makes of the latest.
* @throws TypeError if the key is no string, or a value is not JSON.
*/
declare function equipMemory<T>(key: string, initial: T): [T, (value: T | ((previous: T) => T)) => void];
/**
* Runs a function as a sub-agent: in a frame of its own, with its own journal, memory, budget and
* abort signal, that is found again on replay by `id` and `input`. Outside of runs it is a run of its own.
* This is what agents are made of, and what an agent loop of your own can use.
*
* @param frame.id what is run; part of the callId.
* @param frame.input what it is run with. `undefined` and `{}` are the same input.
* @param fn may return `reborn(newInput)` to be called again with its memory kept.
* @throws MaxDepthExceededError, AbortError, and whatever `fn` throws.
*
* @example
* ```ts
* import { journalCall, runFrame, runWith } from "agent-rewind";
*
* const research = (topic: string) =>
*   runFrame({ id: "researcher", input: { topic } }, async ({ topic }) =>
*     journalCall({ kind: "chat", name: "some-model", request: { topic } }, () => `all about ${topic}`),
*   );
* // Replay finds each frame by its id and input, whichever starts first.
* console.log(await runWith(() => Promise.all([research("rain"), research("snow")])));
* ```
*/
declare function runFrame<Input, Result>(frame: {
  id: string;
  input: Input;
  signal?: AbortSignal;
}, fn: (input: Input) => Result | RebornSignal | Promise<Result | RebornSignal>): Promise<Result>;
/** A call to be journaled. */
interface JournaledCall {
  /** What is called: `"prompt"`, `"tool"`, or a kind of your own such as `"embedding"`. Each kind has its own journal. */
  kind: string;
  /** Name of what is called (a tool, a model); part of the callId. */
  name: string;
  /**
  * What is asked. The answer is found again by the hash of it, so it must hold all that the answer
  * depends on, and nothing that changes from run to run. For `"prompt"` it is the whole request
  * document (`messages`, `model`, …); for all other kinds the document hashed is `{ input: request, name }`.
  */
  request: unknown;
  /** The context to journal in; by default the current one. */
  context?: RunContext;
  /**
  * How often the client that calls had tried before: 0 or more for a client that says so. From 1 on, the call is the
  * same one as the last with an equal request in its frame, and what it ends with replaces how that one had ended.
  */
  attempt?: number;
}
/** What is told to the function that makes a call. */
interface CallInfo {
  readonly callId: string;
  /** SHA-256 of the RFC 8785 form of the request document, 64 hex digits. */
  readonly contentHash: string;
  readonly signal: AbortSignal;
}
/**
* Journals one call in the current context: if the run replays a recording that holds the answer,
* gives a copy of that; else makes the call with `make` and journals what it gives or fails with.
* This is what prompts and tools are made of, and what an agent loop of your own can use.
*
* @throws ContextNotFoundError outside of runs and agents, when no `context` is given.
* @throws whatever `make` throws, also when a failure is replayed.
*
* @example
* ```ts
* import { journalCall } from "agent-rewind";
*
* // In a run, a frame or a test. The request is everything that decides the answer.
* export const search = (query: string): Promise<string[]> =>
*   journalCall({ kind: "http", name: "search", request: { query } }, async ({ signal }) => {
*     const response = await fetch(`https://example.com/search?q=${encodeURIComponent(query)}`, { signal });
*     return (await response.json()) as string[];
*   });
* ```
*/
declare function journalCall<T>(call: JournaledCall, make: (info: CallInfo) => T | Promise<T>): Promise<T>;
interface PromptOptions {
  /** Which tools the model may or must call. Part of the request's hash. */
  toolChoice?: ToolChoice;
  /** Options for the model, such as `{ temperature: 0, seed: 7 }`; given to the adapter as
  * `additionalOptions`, and part of the request's hash. JSON; members that are `undefined` are left out. */
  modelOptions?: Readonly<Record<string, unknown>>;
  /** JSON schema of the answer, for a schema whose library gives none; by default what the library gives. */
  jsonSchema?: Readonly<Record<string, unknown>>;
  /** Takes the model's answers as they come, those of its turns with tool calls too; on replay, as recorded. */
  onStream?: StreamConsumer;
}
/**
* Prompts the model with what was equipped, lets it call tools until it answers, and checks the answer
* with the schema; a wrong answer is asked again, with its faults listed.
*
* @param schema of zod 3.25+, zod 4, or another library that speaks Standard Schema, such as valibot or ArkType.
* @throws AfterPromptAgentError when called twice in a generation.
* @throws AttemptsExhaustedError when `maxRetries` further answers did not fit the schema.
* @throws TurnBudgetExceededError when the model still calls tools after `maxTurnSteps` turns.
* @throws JsonSchemaNotFoundError when the schema's, or a tool's, library gives no JSON schema, and none was given.
* @throws ModelCallError, ModelNotFoundError, ModelRegistryNotFoundError, AbortError
* @throws TypeError if the schema is none, or the options are not JSON.
*
* @example
* ```ts
* import { createAgent, equipInstruction, equipTool, promptAgent } from "agent-rewind";
* import { z } from "zod";
*
* export const traveller = createAgent({
*   id: "traveller",
*   handler: async ({ city }: { city: string }) => {
*     equipInstruction(`What should I wear in ${city} today?`);
*     equipTool({
*       name: "weather",
*       description: "Returns the weather of a city",
*       parameters: z.object({ city: z.string() }),
*       handler: async (input: { city: string }) => ({ ...input, celsius: 21 }),
*     });
*     const { advice } = await promptAgent(z.object({ advice: z.string() }), {
*       modelOptions: { temperature: 0 },
*     });
*     return advice;
*   },
* });
* ```
*/
declare function promptAgent<S extends StandardSchemaLike>(schema: S, options?: PromptOptions): Promise<InferOutput<S>>;
interface RunWithOptions<Props = unknown> {
  /** Given to the function. */
  initialProps?: Props;
  /** Replays from this snapshot: what had finished is not called again. */
  snapshot?: AgentSnapshot;
  /** True if the run is journaled and can be dumped. Default: true, unless NODE_ENV is "production". */
  enableSnapshot?: boolean;
  /** Takes the run's events, instead of the global bus. */
  eventBus?: EventSink;
  /** The model of agents that have none of their own. */
  model?: ModelAdapter;
  /** Models by the names that agents give. */
  modelRegistry?: Record<string, ModelAdapter>;
  /** Joins the run to a trace. */
  trace?: {
    traceId?: string;
    parentSpanId?: string;
    attributes?: Record<string, unknown>;
  };
  /** Aborts the run's agents. */
  signal?: AbortSignal;
  /** How deep agents may call agents, at most 999. Default 50. */
  maxDepth?: number;
  /**
  * What the snapshot is used for. "resume" (default with a snapshot): what it holds is replayed, the rest is
  * made. "replay": nothing is made; a call that the snapshot has no answer for is a ReplayMissError. "live"
  * (default without one): everything is made, and a snapshot is not looked at.
  */
  mode?: "live" | "resume" | "replay";
  /** With "resume": decides for each call that the snapshot has no answer for. */
  onMiss?: (miss: Miss) => "live" | "error";
  /** What is done with sub-agents that had ended: "rerun" runs their handlers against the recording, so that
  * changed code takes effect; "reuse" takes their recorded result. Default "rerun". */
  completedFrames?: "rerun" | "reuse";
  /** Takes the report of what was replayed and what was made, when the run has ended. */
  onReport?: (report: ReplayReport) => void;
  /** What is left out of the hashes of requests and props: ids and times that change from run to run. A snapshot that
  * was recorded under other rules is hashed anew, where it keeps what was asked. */
  normalize?: readonly NormalizeRule[];
  /** Replaces secrets in all that is recorded: requests, outputs, failures, memory, events. What the agent sees, and
  * what is sent, stays as it is. `true` for what is known by itself; options for rules and a key of one's own. A
  * snapshot that was recorded under other rules is refused. */
  redact?: boolean | RedactOptions | Redactor;
  /** Whether what was asked is kept in snapshots, for explaining a miss. Default true. */
  requests?: boolean;
  /** What is done with recorded failures: "auto" makes the calls again whose failure ended the run and
  * replays those that were handled. Default "auto". */
  failures?: "auto" | "replay" | "retry";
  /** Which memory frames get back: "auto" is that of the start where there are calls to replay, else the
  * dumped one; "dump" is always the dumped one. Default "auto", with mode "replay" "start". */
  memory?: "auto" | "start" | "dump";
}
/**
* Runs a function as the root of a run: recorded, and replayed from a snapshot if one is given.
*
* @throws NestedRunError inside a run or an agent.
* @throws SnapshotDisabledError for a snapshot in production without `enableSnapshot: true`.
* @throws InvalidSnapshotError with all faults of a snapshot; nothing has run then.
* @throws NormalizeError for a snapshot that was recorded under other rules and does not keep what was asked.
* @throws RedactError for a snapshot that was redacted by other rules, or by none, and for a rule that is not supported.
* @throws whatever the function throws.
*
* @example
* ```ts
* import { journalCall, runWith } from "agent-rewind";
* import { dumpSnapshot } from "agent-rewind/debugger";
*
* const ask = (question: string) =>
*   journalCall({ kind: "chat", name: "some-model", request: { question } }, async () => "an answer");
*
* const { answer, snapshot } = await runWith(async () => ({ answer: await ask("first?"), snapshot: dumpSnapshot() }));
* // The same request is answered from the snapshot.
* console.log(answer === (await runWith(() => ask("first?"), { snapshot })));
* ```
*/
declare function runWith<Props, Result>(fn: (props: Props) => Promise<Result> | Result, options?: RunWithOptions<Props>): Promise<Result>;
/** The same, for who writes out only the type of the result. */
declare function runWith<Result>(fn: () => Promise<Result> | Result, options?: RunWithOptions): Promise<Result>;
/**
* Runs a function in a span of its own: what it does hangs under that span in the trace.
*
* @param name what the span is called in the trace.
* @param attributes stand in `trace.attributes` of the span's two events.
* @returns what `fn` returns.
* @throws ContextNotFoundError outside of runs and agents.
* @throws whatever `fn` throws.
*/
declare function withCustomSpan<Result>(name: string, fn: () => Result | Promise<Result>, attributes?: Readonly<Record<string, unknown>>): Promise<Result>;
type WithSnapshot<Props> = Omit<RunWithOptions<Props>, "mode" | "snapshot"> & {
  snapshot: AgentSnapshot;
};
/**
* Runs a function with every call answered from a snapshot, and none made: a call that the snapshot has no
* answer for rejects with a ReplayMissError, and so does the whole, even if the agent catches it.
* @throws ReplayMissError, and as `runWith` does.
*
* @example
* ```ts
* import { isReplayMissError, replay } from "agent-rewind";
* import { readSnapshot } from "agent-rewind/debugger";
*
* export async function check(agent: () => Promise<string>): Promise<void> {
*   const snapshot = await readSnapshot("run.json");
*   try {
*     console.log(await replay(agent, { snapshot }));
*   } catch (error) {
*     if (isReplayMissError(error)) console.log(error.explanation?.text);
*     throw error;
*   }
* }
* ```
*/
declare function replay<Props, Result>(fn: (props: Props) => Promise<Result> | Result, options: Omit<WithSnapshot<Props>, "onMiss">): Promise<Result>;
declare function replay<Result>(fn: () => Promise<Result> | Result, options: Omit<WithSnapshot<unknown>, "onMiss">): Promise<Result>;
/**
* Runs a function with what a snapshot holds answered from it, and the rest made and journaled.
* @throws as `runWith` does.
*
* @example
* ```ts
* import { resume } from "agent-rewind";
* import { restoreSnapshotFromFile } from "agent-rewind/debugger";
*
* export async function goOn(agent: () => Promise<string>): Promise<string> {
*   const snapshot = await restoreSnapshotFromFile("run.jsonl");
*   return resume(agent, {
*     snapshot,
*     // Models may be called again, tools may not.
*     onMiss: ({ kind }) => (kind === "tool" ? "error" : "live"),
*     onReport: ({ replayed, live }) => console.log({ replayed, live }),
*   });
* }
* ```
*/
declare function resume<Props, Result>(fn: (props: Props) => Promise<Result> | Result, options: WithSnapshot<Props>): Promise<Result>;
declare function resume<Result>(fn: () => Promise<Result> | Result, options: WithSnapshot<unknown>): Promise<Result>;
type WithoutSnapshot<Props> = Omit<RunWithOptions<Props>, "mode" | "snapshot" | "onMiss" | "completedFrames" | "failures" | "memory">;
/**
* Runs a function with every call made.
* @throws as `runWith` does.
*/
declare function live<Props, Result>(fn: (props: Props) => Promise<Result> | Result, options: WithoutSnapshot<Props>): Promise<Result>;
declare function live<Result>(fn: () => Promise<Result> | Result, options?: WithoutSnapshot<unknown>): Promise<Result>;
/**
* Calls a tool in the current context, journaled and traced as if a model had called it.
* @throws whatever the tool throws, or the faults of the input.
*/
declare function callTool<Input, Output>(tool: Tool<Input, Output>, args: Input): Promise<Output>;
export { AbortError, type AbortHandle, AfterPromptAgentError, type Agent, type AgentConfig, AgentEndEvent, AgentFrameSnapshot, type AgentMiddleware, AgentRebornEvent, AgentSnapshot, AgentStartEvent, AttemptsExhaustedError, AuditLogError, type BudgetOptions, BudgetState, type BudgetUpdate, BudgetUpdateEvent, type BuiltinRedactRule, CallAnswerEvent, CallEndEvent, type CallInfo, CallMeta, CallRecord, CallStartEvent, CaptureError, CauseOptions, ContentPart, type Context, ContextNotFoundError, CustomSpanEndEvent, CustomSpanStartEvent, Difference, EVENTS, ErrorEvent, ErrorInfo, type EventBus, type EventSink, Fault, ForkError, FrameReport, FrameState, GenerationEndEvent, GenerationRecord, GenerationStart, GenerationStartEvent, ImagePart, InexactAnswer, InferOutput, InvalidRecordingError, InvalidSnapshotError, InvalidToolOutputError, Journal, JournalEntry, type JournaledCall, JsonSchemaNotFoundError, KeptRequest, LimitError, MaxDepthExceededError, MaxRebornsExceededError, McpCallEndedError, MemoryInitEvent, Message, MessagesDelta, Miss, MissExplanation, MissReason, MissedCall, ModelAdapter, ModelCallEndEvent, ModelCallError, ModelCallStartEvent, ModelNotFoundError, ModelRegistryNotFoundError, ModelUsageItem, NativeMissingError, NestedRunError, NormalizeError, type NormalizeRule, PromptAgentEndEvent, PromptAgentStartEvent, type PromptOptions, Provenance, type RebornSignal, RecordedRedaction, RecordedRule, Recorder, RecordingMissingError, RecordingStaleError, RedactError, type RedactOptions, type RedactRule, type Redactor, ReplayMissError, ReplayReport, ReplayReportEvent, RestoreError, RestoreOptions, RewindError, type RunContext, RunWithEndEvent, type RunWithOptions, RunWithStartEvent, SecretInRecordingError, SnapshotDisabledError, SnapshotDisabledSource, SnapshotWarning, StandardSchemaLike, type StreamConsumer, StreamCutError, StreamEvent, type StreamInfo, StreamMeta, StreamOptions, SysLogEvent, TRACE_EVENT_SCHEMA_VERSION, TextPart, TokenUsage, Tool, ToolCall, ToolCallDelta, ToolCallEndEvent, ToolCallStartEvent, type ToolChanges, ToolChoice, ToolContext, ToolExecution, ToolMiddleware, ToolSchema, type ToolUsage, ToolUsageItem, ToolsExecuteEndEvent, ToolsExecuteStartEvent, TraceEvent, TraceEventOf, TraceEventType, TraceGap, TraceReadError, TraceRef, TraceWriteError, TurnBudgetExceededError, TurnEndEvent, TurnStartEvent, UsageItem, UsageStats, ValidationFailEvent, ValidationSuccessEvent, VideoPart, augmentTool, callTool, captureContext, createAgent, createEventBus, equipBudget, equipInstruction, equipMemory, equipSystem, equipTool, getAbortHandle, getContext, getContextSignal, getGlobalEventBus, getUsageStats, isAbortError, isAfterPromptAgentError, isAttemptsExhaustedError, isAuditLogError, isCaptureError, isContextNotFoundError, isForkError, isInvalidRecordingError, isInvalidSnapshotError, isInvalidToolOutputError, isJsonSchemaNotFoundError, isLimitError, isMaxDepthExceededError, isMaxRebornsExceededError, isMcpCallEndedError, isModelCallError, isModelNotFoundError, isModelRegistryNotFoundError, isNativeMissingError, isNestedRunError, isNormalizeError, isRebornSignal, isRecordingMissingError, isRecordingStaleError, isRedactError, isReplayMissError, isRestoreError, isSecretInRecordingError, isSnapshotDisabledError, isStreamCutError, isTraceReadError, isTraceWriteError, isTurnBudgetExceededError, journalCall, live, promptAgent, reborn, recordToolUsage, replay, resume, runFrame, runWith, withCustomSpan };
