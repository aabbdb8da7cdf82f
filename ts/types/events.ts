// What a run tells about itself. Fields marked "own" are additions that older readers skip.

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

/** Place of an event in the tree of spans. */
export interface TraceRef {
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
  config: { isProd: boolean; enableSnapshot: boolean };
  dependencies: { hasEventBus: boolean; hasGlobalModel: boolean; registeredModels: string[] };
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

export interface RunWithStartEvent extends EventBase<"runWith:start">, RunWithFields, Continued {
  /** Own: what records the run, and the rules by which its recording answers. */
  recorder?: Recorder;
  /** Own, over a recording: the memory at the start. */
  memory?: Record<string, unknown>;
}

export interface RunWithEndEvent extends EventBase<"runWith:end">, RunWithFields, Ended, Result {
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

export interface AgentStartEvent extends EventBase<"agent:start">, AgentFields, Continued {
  /** Own, of an agent that was called outside of runs: as in `runWith:start`. */
  recorder?: Recorder;
}

export interface AgentEndEvent extends EventBase<"agent:end">, AgentFields, Ended, Result {
  generationCount: number;
}

/** A span of its own, without an end. */
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
  /** Own: the memory at the start. */
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

/** What a turn in a trace file adds to the conversation of the turns before it. */
export interface MessagesDelta {
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
  toolConfig?: { tools: ToolSchema[]; toolChoice?: ToolChoice };
  /** Own: path of the prompt's call. */
  callId?: string;
}

export interface TurnStartEvent extends EventBase<"turn:start">, TurnFields {
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

export interface TurnEndEvent extends EventBase<"turn:end">, TurnFields, CallEnd {
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

/** Start of the tool calls of a turn, which run in parallel. */
export interface ToolsExecuteStartEvent extends EventBase<"tools:execute:start">, ToolsExecuteFields {}

export interface ToolExecution {
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

export interface ToolsExecuteEndEvent extends EventBase<"tools:execute:end">, ToolsExecuteFields, Ended {
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
export interface ToolCallStartEvent extends EventBase<"tool:call:start">, ToolCallFields {}

/** Own: one tool has finished; the batch may still run. */
export interface ToolCallEndEvent extends EventBase<"tool:call:end">, ToolCallFields, CallEnded {}

interface CallFields {
  kind: string;
  name: string;
  callId: string;
  contentHash: string;
}

/** Own: a call of a kind of the program's own has started. */
export interface CallStartEvent extends EventBase<"call:start">, CallFields {
  /** How often its client had tried before, where it had: the call is that of the same callId. */
  attempt?: number;
}

/**
 * Own: a call has handed out its answer, and goes on, as streams do; with what had come of the answer. A second one
 * tells of the first that came after that.
 */
export interface CallAnswerEvent extends EventBase<"call:answer">, CallFields, CallEnded {}

/** Own: a call of a kind of the program's own has finished. */
export interface CallEndEvent extends EventBase<"call:end">, CallFields, CallEnded {}

/** A span of its own. */
export interface BudgetUpdateEvent extends EventBase<"budget:update"> {
  /** What was used, such as "model:openai:gpt-5". */
  identifiers: string[];
  delta: UsageStats;
  aggregate: UsageStats;
  own: UsageStats;
}

/** Own: an agent has set up a key of its memory, with this first value; a span of its own. */
export interface MemoryInitEvent extends EventBase<"memory:init"> {
  key: string;
  value: unknown;
}

/** What was replayed and what was made; at the end of a run, in a span of its own. */
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

/** A line of a trace file that stands for events that were dropped, for their buffer was full. */
export interface TraceGap {
  type: "gap";
  /** How many events are missing. */
  count: number;
  schemaVersion: 1;
  /** Milliseconds since 1970. */
  timestamp: number;
}
