// The trace events of a run, in the format of `@rejelly/core`, with fields marked as extensions. Readers of
// `@rejelly/core` skip them.

import type { Message, ToolCall, ToolChoice } from "./messages.js";
import type { TokenUsage, ToolSchema } from "./model.js";
import type {
  BudgetState,
  CallMeta,
  ErrorInfo,
  Provenance,
  RecordedRedaction,
  RecordedRule,
  Recorder,
  UsageStats,
} from "./snapshot.js";
import type { ReplayReport } from "./report.js";

/** Position of an event in the tree of spans. */
export interface TraceRef {
  /** 32 hex digits. */
  traceId: string;
  /** 16 hex digits. */
  spanId: string;
  /** Span of the caller; "" if the event has no parent. */
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
  /** Extension: position in the run's order of events. */
  _seq?: number;
}

/** The start of something that shows which earlier failures the program has handled. */
interface Start {
  /** Extension: callIds of failed calls and sub-agents of the frame that the program had seen before. */
  handledFailures?: string[];
}

/** The end of a frame. */
interface FrameEnd {
  /** Extension: callIds of the calls and sub-agents that the frame failed with. */
  failedBy?: string[];
}

/** How a span ended. */
interface Ended {
  /** Milliseconds. */
  duration: number;
  success: boolean;
  error?: ErrorInfo;
}

/** Extension: type tags by JSON pointer, for values in the field without "Types" that JSON cannot represent. */
type Types = Record<string, string>;

interface Result {
  result?: unknown;
  resultTypes?: Types;
}

interface RunWithFields {
  config: { isProd: boolean; enableSnapshot: boolean };
  dependencies: { hasEventBus: boolean; hasGlobalModel: boolean; registeredModels: string[] };
  props?: unknown;
  propsTypes?: Types;
  /** Extension: the rules that normalized the requests. */
  normalize?: RecordedRule[];
  /** Extension: the rules that redacted the run. */
  redact?: RecordedRedaction;
  restoration?: {
    isRestored: boolean;
    sourceProcessId?: string;
    snapshotTimestamp?: number;
    snapshotVersion?: number;
    provenance?: Provenance;
  };
}

/** The initial state of a frame that continues a recording, so that its trace is complete without that recording. */
interface Continued {
  /** Extension: the usage of the recording. */
  budgetState?: BudgetState;
}

export interface RunWithStartEvent extends EventBase<"runWith:start">, RunWithFields, Continued {
  /** Extension: the program that records the run, and its replay flags. */
  recorder?: Recorder;
  /** Own: id of the run that was not resumed from another one. All runs that resume it keep it. */
  firstRun?: string;
  /** Extension: the memory at the start, if the run continues a recording. */
  memory?: Record<string, unknown>;
}

/**
 * Extension: the function of a run returned a stream. The run, which is the parent span, ends when the program has read
 * the stream.
 */
export interface RunWithReturnEvent extends EventBase<"runWith:return"> {}

export interface RunWithEndEvent extends EventBase<"runWith:end">, RunWithFields, Ended, FrameEnd, Result {
  metrics: {
    totalPromptTokens: number;
    totalCompletionTokens: number;
    totalTokens: number;
    costs: Record<string, number>;
  };
  /** Extension: the memory at the end. */
  memory?: Record<string, unknown>;
}

interface Inner {
  /** Extension: the callId of the journaled call that it was asked inside of, in the same frame. */
  within?: string;
}

interface AgentFields extends Inner {
  props: unknown;
  propsTypes?: Types;
  maxReborns: number;
  /** Extension: hash of the props. */
  inputHash?: string;
  /** Extension: path of the frame. */
  callId?: string;
}

export interface AgentStartEvent extends EventBase<"agent:start">, AgentFields, Continued, Start {
  /** Own, only of an agent that is called without a run: as in `runWith:start`. */
  recorder?: Recorder;
  /** As `recorder`. */
  firstRun?: string;
}

export interface AgentEndEvent extends EventBase<"agent:end">, AgentFields, Ended, FrameEnd, Result {
  /** Extension: the failure is from a recording in which the program continued after it. */
  handled?: true;
  generationCount: number;
}

/** An agent starts over with new props. The event is a span of its own, without an end. */
export interface AgentRebornEvent extends EventBase<"agent:reborn"> {
  generationId: number;
  newProps?: unknown;
  newPropsTypes?: Types;
}

interface GenerationFields {
  generationId: number;
  props: unknown;
  propsTypes?: Types;
}

export interface GenerationStartEvent extends EventBase<"generation:start">, GenerationFields {
  /** Extension: the memory at the start. */
  memory?: Record<string, unknown>;
}

export interface GenerationEndEvent extends EventBase<"generation:end">, GenerationFields, Ended, Result {
  endReason: "return" | "error" | "reborn";
  /** The memory at the end. */
  memory: Record<string, unknown>;
}

interface PromptAgentFields {
  generationId: number;
  policyId: string;
}

export interface PromptAgentStartEvent extends EventBase<"promptAgent:start">, PromptAgentFields {}

export interface PromptAgentEndEvent extends EventBase<"promptAgent:end">, PromptAgentFields, Ended, Result {
  totalSteps: number;
}

/** The messages that a turn in a trace file adds to those of the turns before it. */
export interface MessagesDelta {
  /** Number of messages before. */
  count: number;
  /** SHA-256 of the JSON texts of the messages before, each followed by a newline: 64 hex digits. */
  prefixHash: string;
  add: Message[];
}

interface TurnFields extends Inner {
  /** From 0. */
  step: number;
  /** In a trace file, only the first turn of a prompt has `messages`; the others have `messagesDelta`. */
  messages: Message[];
  messageCount: number;
  /** JSON schema of the answer. */
  schema?: Record<string, unknown>;
  toolConfig?: { tools: ToolSchema[]; toolChoice?: ToolChoice };
  /** Extension: path of the prompt in the journal. */
  callId?: string;
}

export interface TurnStartEvent extends EventBase<"turn:start">, TurnFields, CallStarted {
  /** Extension: hash of the request. */
  contentHash?: string;
}

/** How a call ended. */
interface CallEnd extends Ended {
  /** True if the answer is from a recording. */
  cache: boolean;
  /** Extension: the failure is from a recording in which the program continued after it. */
  handled?: true;
  /** Extension: as in `CallRecord`. */
  lane?: string;
  /** Extension: as in `CallRecord`. */
  attempts?: number;
  /** Extension: as in `CallRecord`. */
  sameTick?: true;
  /** Extension: callIds of the calls and sub-agents inside this call that it failed with. */
  failedBy?: string[];
}

export interface TurnEndEvent extends EventBase<"turn:end">, TurnFields, CallEnd {
  contentHash: string;
  resultType?: "content" | "tool_calls";
  message?: Message;
  /** Extension: the reason why the answer could not be recorded. */
  tombstone?: string;
  /** Extension: data about the answer apart from the message; as recorded, if the answer was replayed. */
  meta?: CallMeta;
}

interface ModelCallFields {
  adapterId: string;
  provider?: string;
  messageCount: number;
  usedTools: boolean;
}

export interface ModelCallStartEvent extends EventBase<"model:call:start">, ModelCallFields {}

export interface ModelCallEndEvent extends EventBase<"model:call:end">, ModelCallFields, Ended {
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

/** The tool calls of a turn start. They run in parallel. */
export interface ToolsExecuteStartEvent extends EventBase<"tools:execute:start">, ToolsExecuteFields, Start {}

export interface ToolExecution extends Inner {
  /** The id that the model gave the call. */
  callId: string;
  toolName: string;
  input: unknown;
  output?: unknown;
  outputTypes?: Types;
  /** Milliseconds. */
  duration: number;
  success: boolean;
  error?: ErrorInfo;
  /** True if the output is from a recording. */
  cache?: boolean;
  contentHash?: string;
  /** Extension: the reason why the output could not be recorded. */
  tombstone?: string;
  /** Extension: the span of the `tool:call` events. */
  spanId?: string;
}

export interface ToolsExecuteEndEvent extends EventBase<"tools:execute:end">, ToolsExecuteFields, Ended {
  successCount: number;
  failureCount: number;
  toolResults: ToolExecution[];
}

interface ToolCallFields extends Inner {
  toolName: string;
  /** The id that the model gave the call. */
  callId: string;
  /** Path of the call in the journal. */
  journalCallId: string;
  contentHash: string;
  input: unknown;
}

interface CallEnded extends CallEnd {
  output?: unknown;
  outputTypes?: Types;
  /** The reason why the output could not be recorded. */
  tombstone?: string;
  /** Content of the request that its hash does not cover. */
  inexact?: string;
  /** Further data about the call. */
  meta?: CallMeta;
}

/** Extension: one tool of a batch has started. */
export interface ToolCallStartEvent extends EventBase<"tool:call:start">, ToolCallFields, CallStarted {}

/** Extension: one tool of a batch has finished; the others may still run. */
export interface ToolCallEndEvent extends EventBase<"tool:call:end">, ToolCallFields, CallEnded {}

interface CallFields extends Inner {
  kind: string;
  name: string;
  callId: string;
  contentHash: string;
}

/** The start of a call that is journaled. */
interface CallStarted extends Start {
  /**
   * Extension: the lanes of equal calls that are open together, by callId: as in `CallRecord`. The second one that
   * starts also has the lane of the first one.
   */
  lanes?: Record<string, string>;
}

/** Extension: a call of a custom kind has started. */
export interface CallStartEvent extends EventBase<"call:start">, CallFields, CallStarted {
  /** Extension: as in `runWith:start`. Present if the request contains digests of secrets. */
  recorder?: Recorder;
  /** Number of earlier attempts of the client, if there were any. All attempts have the same callId. */
  attempt?: number;
}

/**
 * Extension: a call has returned its answer but has not ended, as streams do. Contains the part of the answer that had
 * arrived. A second event reports the first data that arrived after that.
 */
export interface CallAnswerEvent extends EventBase<"call:answer">, CallFields, CallEnded {}

/** Extension: a call of a custom kind has finished. */
export interface CallEndEvent extends EventBase<"call:end">, CallFields, CallEnded {}

/** A frame used tokens, calls or tools. The event is a span of its own. */
export interface BudgetUpdateEvent extends EventBase<"budget:update"> {
  /** Names of the used models and tools, such as "model:openai:gpt-5". */
  identifiers: string[];
  delta: UsageStats;
  aggregate: UsageStats;
  own: UsageStats;
}

/** Extension: an agent has set the initial value of a key of its memory. The event is a span of its own. */
export interface MemoryInitEvent extends EventBase<"memory:init"> {
  key: string;
  value: unknown;
}

/** The numbers of replayed and live calls, at the end of a run. The event is a span of its own. */
export interface ReplayReportEvent extends EventBase<"replay:report"> {
  report: ReplayReport;
}

interface ValidationFields {
  rawText: string;
  parserId?: string;
  /** From 0. */
  attempt: number;
  success?: boolean;
}

export interface ValidationSuccessEvent extends EventBase<"validation:success">, ValidationFields {
  data: unknown;
}

export interface ValidationFailEvent extends EventBase<"validation:fail">, ValidationFields {
  data?: unknown;
  errors: unknown;
}

export interface CustomSpanStartEvent extends EventBase<"custom:span:start"> {
  name: string;
}

export interface CustomSpanEndEvent extends EventBase<"custom:span:end">, Ended {
  name: string;
}

export interface SysLogEvent extends EventBase<"sys:log"> {
  level: string;
  message: string;
  args: unknown[];
}

export interface ErrorEvent extends EventBase<"error"> {
  error: ErrorInfo;
}

export type TraceEvent =
  | RunWithStartEvent
  | RunWithReturnEvent
  | RunWithEndEvent
  | AgentStartEvent
  | AgentEndEvent
  | AgentRebornEvent
  | GenerationStartEvent
  | GenerationEndEvent
  | PromptAgentStartEvent
  | PromptAgentEndEvent
  | TurnStartEvent
  | TurnEndEvent
  | ModelCallStartEvent
  | ModelCallEndEvent
  | ToolsExecuteStartEvent
  | ToolsExecuteEndEvent
  | ToolCallStartEvent
  | ToolCallEndEvent
  | CallStartEvent
  | CallAnswerEvent
  | CallEndEvent
  | BudgetUpdateEvent
  | MemoryInitEvent
  | ReplayReportEvent
  | ValidationSuccessEvent
  | ValidationFailEvent
  | CustomSpanStartEvent
  | CustomSpanEndEvent
  | SysLogEvent
  | ErrorEvent;

export type TraceEventType = TraceEvent["type"];

/** The event of a type. */
export type TraceEventOf<Type extends TraceEventType> = Extract<TraceEvent, { type: Type }>;

/** A line of a trace file in place of events that were dropped because their buffer was full. */
export interface TraceGap {
  type: "gap";
  /** Number of missing events. */
  count: number;
  schemaVersion: 1;
  /** Milliseconds since 1970. */
  timestamp: number;
}
