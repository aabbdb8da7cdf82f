// The public contract of "agent-rewind", generated from ts/index.ts by `npm run build`.

import * as Binding from "./native/binding.cjs";

/** The position of the code in a run: its frame, and the span that is the parent of new spans. */
declare class RunContext {
  #private;
  /** Path of the frame, such as `root/agent:writer:0`. */
  get callId(): string;
  /** Id of the agent; empty in the frame of `runWith`. */
  get agentId(): string;
  /** Number of agents around the code: 0 in the frame of `runWith`. */
  get depth(): number;
  /** Aborts when the agent must stop. Pass it to models and tools, so that they stop too. */
  get signal(): AbortSignal;
  /** Ids of the trace (32 hex digits) and of the span that the code runs in (16 hex digits). */
  get trace(): {
    readonly traceId: string;
    readonly spanId: string;
  };
  /** True if the run is journaled and can be dumped. */
  get enableSnapshot(): boolean;
  /** A copy of the agent's memory. */
  get memory(): Map<string, unknown>;
  /** Calls `fn` in this context. */
  run<R>(fn: () => R): R;
  /**
  * Returns a function that calls `fn` in this context. For callbacks that lose it: callbacks of native code,
  * `ReadableStream.pull`, and generators that are iterated elsewhere.
  */
  bind<A extends unknown[], R>(fn: (...args: A) => R): (...args: A) => R;
}
/** @deprecated Use {@link RunContext}. */
type Context = RunContext;
/** The context that the code runs in, or `undefined` outside of runs and agents. */
declare function getContext(): RunContext | undefined;
/**
* The context that the code runs in. Keep it to call functions in it later.
* @throws ContextNotFoundError outside of runs and agents.
*/
declare function captureContext(): RunContext;
/** Options of the error classes that wrap another error. */
interface CauseOptions {
  cause?: unknown;
}
/** Base of all errors of this package. `name` and `code` are stable; `message` is for people and may change. */
declare class RewindError extends Error {
  /** Stable identifier, `ERR_REWIND_…`. */
  readonly code: string;
  constructor(message: string, code: string, options?: CauseOptions);
  /** Makes `instanceof` true for errors of another copy of the package too, such as its ESM and its CommonJS build. */
  static override [Symbol.hasInstance](value: unknown): boolean;
}
/** Tests by its name if a value is an error of one class. */
type ErrorGuard<E> = (value: unknown) => value is E;
/** An audit log cannot be opened, written or read. */
declare class AuditLogError extends RewindError {
  /** Path of the log. */
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
declare const isAuditLogError: ErrorGuard<AuditLogError>;
/** A request or an answer cannot be captured. */
declare class CaptureError extends RewindError {
  constructor(message: string, options?: CauseOptions);
}
declare const isCaptureError: ErrorGuard<CaptureError>;
/** A function that needs a run or an agent was called outside of one. */
declare class ContextNotFoundError extends RewindError {
  /** The function that was called. */
  readonly apiName: string | undefined;
  constructor(apiName?: string);
}
declare const isContextNotFoundError: ErrorGuard<ContextNotFoundError>;
/** A function that equips an agent was called after the agent's prompt. */
declare class AfterPromptAgentError extends RewindError {
  /** The function that was called. */
  readonly apiName: string;
  constructor(apiName: string);
}
declare const isAfterPromptAgentError: ErrorGuard<AfterPromptAgentError>;
/** `runWith` was called inside a run. */
declare class NestedRunError extends RewindError {
  constructor();
}
declare const isNestedRunError: ErrorGuard<NestedRunError>;
/** The agents of a run call each other too deeply. */
declare class MaxDepthExceededError extends RewindError {
  readonly maxDepth: number;
  readonly agentId: string;
  constructor(maxDepth: number, agentId: string);
}
declare const isMaxDepthExceededError: ErrorGuard<MaxDepthExceededError>;
/** A run or an agent was aborted. */
declare class AbortError extends RewindError {
  /** The reason of the abort, unchanged. */
  readonly reason: unknown;
  constructor(reason?: unknown);
}
/** Also accepts the AbortError of the platform (a DOMException). */
declare function isAbortError(value: unknown): value is Error & {
  readonly name: "AbortError";
};
/** `forkSnapshot` cannot apply a change to a snapshot. */
declare class ForkError extends RewindError {
  /** Path in the arguments, such as `changes.0.at`. */
  readonly path: string;
  /** The target of the change, as it was passed. */
  readonly at: unknown;
  /** The names that are valid at `path`, the most similar one first; empty if `path` does not expect a name. */
  readonly known: readonly string[];
  constructor(path: string, message: string, {
    at,
    known
  }?: {
    at?: unknown;
    known?: readonly string[];
  });
}
declare const isForkError: ErrorGuard<ForkError>;
/** A request to an MCP server ended without an answer. */
declare class McpCallEndedError extends RewindError {
  /** "closed": the connection was closed. "cancelled": the client cancelled the request. */
  readonly how: "closed" | "cancelled";
  /** The reason for the cancellation that the client sent to the server. */
  readonly reason: string | undefined;
  constructor(method: string, how: "closed" | "cancelled", reason?: string);
}
declare const isMcpCallEndedError: ErrorGuard<McpCallEndedError>;
/** An agent has no model. */
declare class ModelNotFoundError extends RewindError {
  readonly agentId: string | undefined;
  constructor(agentId?: string);
}
declare const isModelNotFoundError: ErrorGuard<ModelNotFoundError>;
/** An agent names a model that is not registered. */
declare class ModelRegistryNotFoundError extends RewindError {
  readonly modelId: string;
  readonly agentId: string;
  /** Ids of the registered models. */
  readonly registeredIds: readonly string[] | undefined;
  constructor(modelId: string, agentId: string, registeredIds?: readonly string[]);
}
declare const isModelRegistryNotFoundError: ErrorGuard<ModelRegistryNotFoundError>;
/** A model adapter threw; `cause` is the thrown value. */
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
declare const isModelCallError: ErrorGuard<ModelCallError>;
/** No answer of the model matched the schema, and no attempts are left. */
declare class AttemptsExhaustedError extends RewindError {
  readonly agentId: string;
  /** Number of answers that were tried. */
  readonly attempts: number;
  /** The faults of the last answer. */
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
declare const isAttemptsExhaustedError: ErrorGuard<AttemptsExhaustedError>;
/** The model called tools turn after turn and did not answer. */
declare class TurnBudgetExceededError extends RewindError {
  readonly agentId: string;
  readonly maxTurnSteps: number;
  constructor(agentId: string, maxTurnSteps: number);
}
declare const isTurnBudgetExceededError: ErrorGuard<TurnBudgetExceededError>;
/** An agent started over too often. */
declare class MaxRebornsExceededError extends RewindError {
  readonly agentId: string;
  readonly maxReborns: number;
  constructor(agentId: string, maxReborns: number);
}
declare const isMaxRebornsExceededError: ErrorGuard<MaxRebornsExceededError>;
/** The native addon could not be loaded; `cause` is the reason. */
declare class NativeMissingError extends RewindError {
  readonly platform: string;
  readonly arch: string;
  /** C library, on Linux only. */
  readonly libc: "glibc" | "musl" | undefined;
  /** The package with the addon for this machine. */
  readonly packageName: string;
  /** The options are the version of this package and the names of its platform packages, as far as known. */
  constructor(cause: unknown, {
    version,
    packages
  }?: {
    version?: string;
    packages?: readonly string[];
  });
}
declare const isNativeMissingError: ErrorGuard<NativeMissingError>;
/** This runtime cannot record a program that is not changed for it. */
declare class UnsupportedNodeError extends RewindError {
  /** The runtime and its version, such as "Node.js 20.19.0". */
  readonly runtime: string;
  constructor(runtime: string, entryPoint: string);
}
declare const isUnsupportedNodeError: ErrorGuard<UnsupportedNodeError>;
/** True for errors that are about the recording of a test, not about the test. */
declare function isRecordingError(error: unknown): boolean;
/** A file of a recording is invalid. */
declare class InvalidRecordingError extends RewindError {
  readonly path: string;
  /** Number of the line, from 1. */
  readonly line: number;
  constructor(path: string, line: number, message: string, options?: CauseOptions);
}
declare const isInvalidRecordingError: ErrorGuard<InvalidRecordingError>;
/** A test has no recording, and recordings are not created here. */
declare class RecordingMissingError extends RewindError {
  readonly test: string;
  readonly path: string;
  constructor(test: string, path: string, call: string);
}
declare const isRecordingMissingError: ErrorGuard<RecordingMissingError>;
/** A call that a recording does not answer. */
interface StaleCall {
  readonly kind: string;
  /** The name of the model, tool or host. */
  readonly name: string;
  readonly callId: string;
  /** JSON pointer of the first difference in the request. */
  readonly pointer?: string | undefined;
  /** The recorded value there, as JSON text of at most 80 characters. */
  readonly before?: string | undefined;
  /** The value there now. */
  readonly after?: string | undefined;
  /** The command that accepts the change. */
  readonly accept: string;
}
/** A test made a request that its recording does not contain. */
declare class RecordingStaleError extends RewindError {
  readonly test: string;
  readonly path: string;
  readonly call: StaleCall;
  /** The changed lines: `- ` is recorded, `+ ` is requested now, two spaces are context. */
  readonly lines: readonly string[];
  /** The message without the changed lines. */
  readonly summary: string;
  constructor(test: string, path: string, why: string, lines: readonly string[], call: StaleCall);
}
declare const isRecordingStaleError: ErrorGuard<RecordingStaleError>;
/** A secret in a recording. */
interface FoundSecret {
  /** The redaction rule that found it. */
  readonly rule: string;
  /** The callId of the call or frame that contains it. */
  readonly place: string;
  /** JSON pointer in that call, such as `/request/input/body/messages/0/content`. */
  readonly pointer: string;
}
/** A recording was not written, because it would contain a secret. */
declare class SecretInRecordingError extends RewindError {
  readonly path: string;
  readonly secrets: readonly FoundSecret[];
  constructor(path: string, secrets: readonly FoundSecret[]);
}
declare const isSecretInRecordingError: ErrorGuard<SecretInRecordingError>;
/** A redaction rule cannot be used, or a snapshot was recorded under other rules. */
declare class RedactError extends RewindError {
  constructor(message: string, options?: CauseOptions);
}
declare const isRedactError: ErrorGuard<RedactError>;
/** A schema cannot be sent to a model: its library provides no JSON schema for it. */
declare class JsonSchemaNotFoundError extends RewindError {
  /** The owner of the schema: `promptAgent`, or `tool "<name>"`. */
  readonly owner: string;
  /** Standard Schema name of the library. */
  readonly vendor: string | undefined;
  constructor(about: {
    owner: string;
    remedy: string;
    vendor: string | undefined;
    install?: string | undefined;
  }, options?: CauseOptions);
}
declare const isJsonSchemaNotFoundError: ErrorGuard<JsonSchemaNotFoundError>;
/** The reason why a recording has no answer for a call. */
type MissReason = "no-recording" | "not-recorded" | "in-flight" | "tombstone" | "retry" | "inexact";
/** One difference between a request and a recorded one. */
interface Difference {
  /** JSON pointer into the request; if the change is "removed", into the recorded request. */
  pointer: string;
  change: "changed" | "added" | "removed" | "reordered";
  /** Part of the request that `pointer` points into. */
  part: "messages" | "tools" | "schema" | "options" | "model" | "input" | "other";
  /** Kind of the value that differs, such as "date", "uuid", "whitespace" or "text". */
  nature: string;
  /** Short excerpts of the two values. */
  recorded?: string;
  actual?: string;
}
/** The differences between a request and the most similar recorded one. */
interface MissExplanation {
  /** The recorded call with the most similar request. */
  nearest: {
    callId: string;
    contentHash: string;
  };
  differences: Difference[];
  /** Number of further differences. */
  more: number;
  /** The explanation as text. */
  text: string;
  /** The first difference in a few words, such as `temperature: 0.2 → 0.7` or `messages[0].content (system) changed`. */
  cause: string;
  /** The first differences line by line: `- ` is recorded, `+ ` is requested now, two spaces are context. */
  lines: string[];
}
/** A call without a recorded answer. */
interface Miss {
  readonly kind: string;
  readonly name: string;
  readonly callId: string;
  readonly contentHash: string;
  readonly reason: MissReason;
  /** With the reason "inexact": JSON pointer and kind of that content. */
  readonly inexact?: string | undefined;
  /** Number of the replay flag because of which a recorded entry does not answer. */
  readonly flag?: number | undefined;
  /** Absent if requests were not recorded. */
  readonly explanation?: MissExplanation | undefined;
}
/** The function that needs snapshots: `dumpSnapshot`, or `runWith` with a snapshot. */
type SnapshotDisabledSource = "dump" | "runWith";
/** A snapshot was requested or passed in a run with snapshots disabled. */
declare class SnapshotDisabledError extends RewindError {
  readonly source: SnapshotDisabledSource;
  constructor({
    source
  }: {
    source: SnapshotDisabledSource;
  });
}
declare const isSnapshotDisabledError: ErrorGuard<SnapshotDisabledError>;
/** A snapshot cannot be restored from a trace. */
declare class RestoreError extends RewindError {
  /** The requested span. */
  readonly spanId: string | undefined;
  /** Place in the trace, such as `events.3`. */
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
declare const isRestoreError: ErrorGuard<RestoreError>;
/** A fault in a snapshot. */
interface Fault {
  /** Dotted path, such as `root.children.x.state.status`; "" is the snapshot itself. */
  path: string;
  message: string;
}
/** A value is not a valid snapshot. Lists all faults. */
declare class InvalidSnapshotError extends RewindError {
  readonly faults: readonly Fault[];
  constructor(faults: readonly Fault[], options?: CauseOptions);
}
declare const isInvalidSnapshotError: ErrorGuard<InvalidSnapshotError>;
/** Requests cannot be normalized: a rule threw, or a snapshot was recorded under other rules. */
declare class NormalizeError extends RewindError {
  constructor(message: string, options?: CauseOptions);
}
declare const isNormalizeError: ErrorGuard<NormalizeError>;
/** A value is nested too deeply, or is too large. */
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
declare const isLimitError: ErrorGuard<LimitError>;
/** A call that the recording does not answer, and that may not be live. */
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
  /** Number of the replay flag because of which a recorded entry does not answer. */
  flag?: number | undefined;
  /** The differences from the most similar recorded request; absent if requests were not recorded. */
  explanation?: MissExplanation | undefined;
}
/** A replay reached a call that its recording does not answer. */
declare class ReplayMissError extends RewindError {
  readonly kind: string;
  /** Name of the model or tool. `name` is the name of the error. */
  readonly calledName: string;
  readonly callId: string;
  readonly contentHash: string;
  readonly reason: MissReason;
  /** With the reason "inexact": JSON pointer and kind of the content that the hash does not cover. */
  readonly inexact: string | undefined;
  /** Number of the replay flag because of which a recorded entry does not answer. */
  readonly flag: number | undefined;
  readonly explanation: MissExplanation | undefined;
  constructor({
    kind,
    name,
    callId,
    contentHash,
    reason,
    inexact,
    flag,
    explanation
  }: MissedCall);
}
/** A replayed stream is read further than its consumer read it in the recorded run, and cannot be continued. */
declare class StreamCutError extends RewindError {
  constructor(call: string, reason?: string);
}
declare const isStreamCutError: ErrorGuard<StreamCutError>;
declare const isReplayMissError: ErrorGuard<ReplayMissError>;
/** A request that no wrapper recorded. */
interface UnrecordedCall {
  /** Such as "POST". */
  readonly method: string;
  /** With the port, if it is not the default one. */
  readonly host: string;
  /** Without the query, which may contain secrets. */
  readonly path: string;
  /** The function of the program that sent it, with file and line; "unknown" if its stack does not show that. */
  readonly callSite: string;
}
/** A request would have reached the network, although its answer is not recorded. It was refused. */
declare class UnrecordedRequestError extends RewindError {
  readonly method: string;
  readonly host: string;
  readonly path: string;
  readonly callSite: string;
  /** @param remedy what to do about it. */
  constructor({
    method,
    host,
    path,
    callSite
  }: UnrecordedCall, remedy: string);
}
declare const isUnrecordedRequestError: ErrorGuard<UnrecordedRequestError>;
/** The tables of a store were written by a newer version of this package. */
declare class StoreVersionError extends RewindError {
  /** Version of the tables. */
  readonly found: number;
  /** The newest version that this package supports. */
  readonly supported: number;
  constructor(found: number, supported: number);
}
declare const isStoreVersionError: ErrorGuard<StoreVersionError>;
/** A store cannot be opened here. */
declare class StoreOpenError extends RewindError {
  constructor(message: string, options?: {
    cause?: unknown;
  });
}
declare const isStoreOpenError: ErrorGuard<StoreOpenError>;
/** Another process executes the run. */
declare class RunLeasedError extends RewindError {
  readonly id: string;
  /** The process that executes the run, such as "worker-3:4711". */
  readonly owner: string;
  /** When its lease ends, unless it renews the lease. */
  readonly until: Date;
  constructor(id: string, owner: string, until: Date);
}
declare const isRunLeasedError: ErrorGuard<RunLeasedError>;
/** The run was recorded by another version of the program, and the options refuse to continue it. */
declare class RunVersionError extends RewindError {
  readonly id: string;
  readonly recorded: string;
  readonly current: string;
  constructor(id: string, recorded: string, current: string);
}
declare const isRunVersionError: ErrorGuard<RunVersionError>;
/** The process no longer has the lease of its run, or cannot reach the store to renew it. */
declare class LeaseLostError extends RewindError {
  readonly id: string;
  constructor(id: string, why: string, options?: {
    cause?: unknown;
  });
}
declare const isLeaseLostError: ErrorGuard<LeaseLostError>;
interface UncertainEffect {
  readonly callId: string;
  readonly tool: string;
  readonly input: unknown;
  readonly idempotencyKey: string;
  /** Absent if the recording does not contain it. */
  readonly startedAt?: Date | undefined;
}
/** A call with `effect: "once"` had started and nothing shows if it took effect. It is not executed again. */
declare class UncertainEffectError extends RewindError implements UncertainEffect {
  readonly callId: string;
  readonly tool: string;
  readonly input: unknown;
  readonly idempotencyKey: string;
  readonly startedAt: Date | undefined;
  constructor(effect: UncertainEffect, options?: {
    cause?: unknown;
  });
}
declare const isUncertainEffectError: ErrorGuard<UncertainEffectError>;
/** A tool returned a value that cannot be recorded, and so cannot be replayed. */
declare class InvalidToolOutputError extends RewindError {
  readonly toolName: string;
  /** JSON pointer into the output; "" is the output itself. */
  readonly path: string;
  readonly reason: string;
  constructor(toolName: string, path: string, reason: string);
}
declare const isInvalidToolOutputError: ErrorGuard<InvalidToolOutputError>;
/** A trace file could not be written. */
declare class TraceWriteError extends RewindError {
  /** Path of the trace file. */
  readonly path: string;
  constructor(path: string, cause: unknown);
}
declare const isTraceWriteError: ErrorGuard<TraceWriteError>;
/** A line of a trace file could not be read. */
declare class TraceReadError extends RewindError {
  /** Path of the trace file. */
  readonly path: string;
  /** Number of the line, from 1. */
  readonly line: number;
  constructor(path: string, line: number, reason: string, cause?: unknown);
}
declare const isTraceReadError: ErrorGuard<TraceReadError>;
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
/** A tool call that a model requests. */
interface ToolCall {
  id: string;
  name: string;
  /** Arguments as JSON text, as the model wrote them. */
  arguments: string;
  /** Data of the adapter, which gets it back with this call. */
  extra?: Record<string, unknown>;
}
interface Message {
  role: "system" | "user" | "assistant" | "tool";
  content: string | ContentPart[] | null;
  reasoning_content?: string;
  tool_calls?: ToolCall[];
  /** In a message of the role "tool": id of the call that it answers. */
  tool_call_id?: string;
  name?: string;
  /** Data of the adapter, which gets it back with this message. */
  extra?: Record<string, unknown>;
}
type ToolChoice = "auto" | "none" | "required" | {
  type: "function";
  function: {
    name: string;
  };
};
/** A class that replayed failures come back as. The error classes among its static members count too. */
type ErrorClass = abstract new (...args: any[]) => object;
interface TokenUsage {
  promptTokens: number;
  completionTokens: number;
  totalTokens: number;
  details?: Record<string, unknown>;
}
/** A part of a tool call. Parts of one call have the same `index`, and their `arguments` are concatenated. */
interface ToolCallDelta {
  index: number;
  id?: string;
  name?: string;
  /** Next part of the JSON text. */
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
/** The description of a tool that a model gets. */
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
  /** JSON schema (draft-07) of the answer. */
  schema?: Record<string, unknown>;
  tools?: ToolSchema[];
  toolChoice?: ToolChoice;
  /** Aborts when the agent must stop. */
  signal?: AbortSignal;
  /** Model options, such as temperature or seed. They are part of the request's hash. */
  additionalOptions?: Record<string, unknown>;
}
interface ModelAdapter {
  readonly id: string;
  readonly provider?: string;
  /** Default options of all calls, as JSON. Options of a prompt override them. They are part of the request's hash. */
  readonly modelOptions?: Readonly<Record<string, unknown>>;
  /** Sends the messages, and yields the answer as it arrives. */
  stream(messages: Message[], options?: StreamOptions): AsyncGenerator<StreamEvent>;
  /** Classes that its replayed failures come back as, such as those of its client. */
  readonly errors?: readonly ErrorClass[];
  /** Costs of a call by unit, as integers. */
  calculateCost?(usage: TokenUsage): Record<string, number>;
}
/** An error as data. */
interface ErrorInfo {
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
interface ModelUsageItem {
  type: "model";
  name: string;
  provider?: string;
  /** By unit, as integers. */
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
  /** By unit, as integers. */
  costs: Record<string, number>;
  quantity: number;
  unit: string;
  details?: Record<string, unknown>;
}
type UsageItem = ModelUsageItem | ToolUsageItem;
interface UsageStats {
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
interface BudgetState {
  /** Usage of the frame itself. */
  own: UsageStats;
  /** Usage of the frame and all frames below it. */
  aggregate: UsageStats;
}
/** The last output of a request. */
interface JournalEntry {
  /** An assistant message for a prompt, otherwise JSON; `null` in a tombstone. */
  output: unknown;
  contentHash: string;
  /** A tombstone: where and why the output could not be recorded. A replay executes the call again. */
  error?: string;
}
interface Journal {
  /** By contentHash. */
  prompt: Record<string, JournalEntry>;
  /** By contentHash. */
  tool: Record<string, JournalEntry>;
  /** Extension: calls of other kinds, by kind and contentHash. */
  other?: Record<string, Record<string, JournalEntry>>;
}
/** Extension: one occurrence of a request. */
interface CallRecord {
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
type KeptRequest = {
  document: number;
} | {
  /** Index in `calls` of the prompt whose messages precede `add`. */base?: number; /** The messages after those of `base`. */
  add: number[];
  model?: number;
  options?: number;
  schema?: number;
  tools?: number;
};
/** Extension: a value that requests share. Numbers are indexes of earlier entries of `requestParts`, except `keep`. */
type RequestPart = {
  value: unknown;
  parts?: Record<string, number>;
} | {
  list: number[];
  after?: number;
  keep?: number;
} | {
  text: number[];
  after?: number;
  keep?: number;
} | {
  output: string;
} | {
  outputText: string;
};
/** Extension: data about a call, apart from its output. */
interface CallMeta {
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
interface StreamMeta {
  /** Milliseconds from the call to the start of the answer. */
  startMs?: number;
  /** The chunks: bytes of a body or parts of a stream, and milliseconds from the call. */
  chunks?: [size: number, atMs: number][];
  /** Number of earlier attempts of the client, if there were any. */
  attempt?: number;
  /** Headers that differ between equal responses, such as `date` and `x-request-id`. */
  headers?: [name: string, value: string][];
}
interface FrameState {
  status: "running" | "completed" | "failed";
  /** Result of a completed frame. */
  output?: unknown;
  /** An ErrorInfo, if the frame failed. */
  error?: unknown;
}
/** Extension: the initial state of a generation. */
interface GenerationStart {
  id: number;
  props?: unknown;
  /** Type tags by JSON pointer, for values in the props that JSON cannot represent. */
  propsTypes?: Record<string, string>;
  memory?: Record<string, unknown>;
}
/** Extension: an earlier generation of a frame. */
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
interface Provenance {
  traceId: string;
  spanId?: string;
  anchor?: "before" | "after";
  source?: "dump" | "restore";
  /** Own: id of the run that was not resumed from another one. All runs that resume it keep it. */
  firstRun?: string;
  /** Own, in a fork: the snapshot that was changed. */
  forkedFrom?: {
    processId: string;
    timestamp: number;
  };
}
/** Lost, duplicated or unreadable events of a trace, and how restoring handled them. */
interface SnapshotWarning {
  /** Stable identifier, such as "order-uncertain". */
  code: string;
  message: string;
  /** Line of the trace file, or position in the list of events, from 1. */
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
interface Recorder {
  /** Version of agent-rewind. */
  version: string;
  /** Numbers of the replay flags, in ascending order. A recording without a recorder has none. */
  flags: number[];
  /** The random key of the digests that stand for secrets in requests, hex digits. Absent without such digests. */
  salt?: string;
}
/** Extension: the settings of `runWith({ redact })`. */
interface RecordedRedaction {
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
interface RecordedRule {
  id: string;
  /** A text that changes whenever the rule changes. */
  definition: string;
}
interface RestoreOptions {
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
/** Statistics of the calls of a frame. */
interface FrameReport {
  readonly callId: string;
  readonly agentId: string;
  /** "own": the frame continued its recorded one. "lent": it used a recorded frame with other props. */
  readonly recording: "own" | "lent" | "none";
  /** Calls answered from the recording, with those that were recorded inside them. */
  replayed: number;
  /** Live calls. */
  live: number;
  /** Calls without a recorded entry. */
  missed: number;
  /** Replayed ends that happened before a start or end that precedes them in the recording. */
  overtaken: number;
  /** True if the recorded result was returned without running the handler. */
  reused: boolean;
  /** The first call without a recorded entry. */
  firstDivergence?: Miss;
  /** Numbers of recorded calls and frames that were not requested. */
  unused?: {
    calls: number;
    frames: number;
  };
}
/** A recorded answer that may belong to another request. */
interface InexactAnswer {
  readonly callId: string;
  /** JSON pointer and kind of the content that the hash does not cover, such as "/query: instance of Query". */
  readonly reason: string;
}
/** A recorded answer that was not given, because a replay flag of the recording forbids it. */
interface WithheldAnswer {
  readonly callId: string;
  /** Number of the replay flag. */
  readonly flag: number;
  /** The place in the request that is the reason, such as "/query: instance of Query". */
  readonly reason: string;
}
/** A call that had started and not ended when the recording was taken. It may have taken effect. */
interface InFlightCall {
  readonly kind: string;
  /** Path of the call in the recording. */
  readonly callId: string;
  readonly contentHash: string;
  /** The id that the function of the call received, and receives again if a resumed run executes it. */
  readonly idempotencyKey: string;
}
/** Requests of one kind from one place that no wrapper recorded. */
interface UnrecordedRequest {
  /** Of HTTP, such as "POST". "TCP" for another connection, such as one to a database. The method of MCP over stdio. */
  readonly method: string;
  /** With the port, if it is not the default one. For MCP over stdio the command. */
  readonly host: string;
  /** Without the query. */
  readonly path: string;
  /** The function of the program that sent it, with file and line. */
  readonly callSite: string;
  count: number;
}
/** A replayed failure that lacks something that the recorded one had. */
interface IncompleteError {
  readonly callId: string;
  /** Name of the recorded class. */
  readonly name: string;
  /** The missing parts: the class, because no option `errors` names it, or parts that could not be recorded. */
  readonly lost: readonly string[];
}
/** Statistics of the calls of a run. The numbers count as in {@link FrameReport}. */
interface ReplayReport {
  readonly mode: "live" | "resume" | "replay";
  replayed: number;
  live: number;
  missed: number;
  overtaken: number;
  /** Recorded failures that were replayed. `failures: "retry"` executes their calls again instead. */
  replayedFailures: number;
  /**
  * CallIds of the failed calls that were executed again because nothing in the recording shows if the program had handled
  * the failure. `failures: "replay"` replays them.
  */
  unprovenFailures: string[];
  /** CallId of the replayed failure that the run ended with. */
  endedByReplayed?: string;
  /** The frames, in the order of their starts; empty if the run had no recording. */
  frames: FrameReport[];
  /**
  * Calls that were answered although their request has content that its hash does not cover. Only recordings without
  * the replay flag 1 answer such calls.
  */
  inexact: InexactAnswer[];
  /** Calls that were not answered, although the recording has an entry with the same hash. */
  withheld: WithheldAnswer[];
  /** Calls that the recording of a resumed run does not contain the end of. They are executed again. */
  inFlight: InFlightCall[];
  /** Replayed failures that lack something that the recorded ones had. */
  incompleteErrors: IncompleteError[];
  /**
  * Requests to the network that were not recorded, sent or refused. Only for runs whose option `network` is not
  * "allow"; at most 100 entries.
  */
  unrecorded: UnrecordedRequest[];
  /** Time and tokens that the replayed calls used when they were recorded. */
  saved: {
    milliseconds: number;
    promptTokens: number;
    completionTokens: number;
    totalTokens: number;
  };
}
/** Position of an event in the tree of spans. */
interface TraceRef {
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
interface RunWithStartEvent extends EventBase<"runWith:start">, RunWithFields, Continued {
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
interface RunWithReturnEvent extends EventBase<"runWith:return"> {}
interface RunWithEndEvent extends EventBase<"runWith:end">, RunWithFields, Ended, FrameEnd, Result {
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
interface AgentStartEvent extends EventBase<"agent:start">, AgentFields, Continued, Start {
  /** Own, only of an agent that is called without a run: as in `runWith:start`. */
  recorder?: Recorder;
  /** As `recorder`. */
  firstRun?: string;
}
interface AgentEndEvent extends EventBase<"agent:end">, AgentFields, Ended, FrameEnd, Result {
  /** Extension: the failure is from a recording in which the program continued after it. */
  handled?: true;
  generationCount: number;
}
/** An agent starts over with new props. The event is a span of its own, without an end. */
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
  /** Extension: the memory at the start. */
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
/** The messages that a turn in a trace file adds to those of the turns before it. */
interface MessagesDelta {
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
  toolConfig?: {
    tools: ToolSchema[];
    toolChoice?: ToolChoice;
  };
  /** Extension: path of the prompt in the journal. */
  callId?: string;
}
interface TurnStartEvent extends EventBase<"turn:start">, TurnFields, CallStarted {
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
interface TurnEndEvent extends EventBase<"turn:end">, TurnFields, CallEnd {
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
/** The tool calls of a turn start. They run in parallel. */
interface ToolsExecuteStartEvent extends EventBase<"tools:execute:start">, ToolsExecuteFields, Start {}
interface ToolExecution extends Inner {
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
interface ToolsExecuteEndEvent extends EventBase<"tools:execute:end">, ToolsExecuteFields, Ended {
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
interface ToolCallStartEvent extends EventBase<"tool:call:start">, ToolCallFields, CallStarted {}
/** Extension: one tool of a batch has finished; the others may still run. */
interface ToolCallEndEvent extends EventBase<"tool:call:end">, ToolCallFields, CallEnded {}
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
interface CallStartEvent extends EventBase<"call:start">, CallFields, CallStarted {
  /** Extension: as in `runWith:start`. Present if the request contains digests of secrets. */
  recorder?: Recorder;
  /** Number of earlier attempts of the client, if there were any. All attempts have the same callId. */
  attempt?: number;
}
/**
* Extension: a call has returned its answer but has not ended, as streams do. Contains the part of the answer that had
* arrived. A second event reports the first data that arrived after that.
*/
interface CallAnswerEvent extends EventBase<"call:answer">, CallFields, CallEnded {}
/** Extension: a call of a custom kind has finished. */
interface CallEndEvent extends EventBase<"call:end">, CallFields, CallEnded {}
/** A frame used tokens, calls or tools. The event is a span of its own. */
interface BudgetUpdateEvent extends EventBase<"budget:update"> {
  /** Names of the used models and tools, such as "model:openai:gpt-5". */
  identifiers: string[];
  delta: UsageStats;
  aggregate: UsageStats;
  own: UsageStats;
}
/** Extension: an agent has set the initial value of a key of its memory. The event is a span of its own. */
interface MemoryInitEvent extends EventBase<"memory:init"> {
  key: string;
  value: unknown;
}
/** The numbers of replayed and live calls, at the end of a run. The event is a span of its own. */
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
type TraceEvent = RunWithStartEvent | RunWithReturnEvent | RunWithEndEvent | AgentStartEvent | AgentEndEvent | AgentRebornEvent | GenerationStartEvent | GenerationEndEvent | PromptAgentStartEvent | PromptAgentEndEvent | TurnStartEvent | TurnEndEvent | ModelCallStartEvent | ModelCallEndEvent | ToolsExecuteStartEvent | ToolsExecuteEndEvent | ToolCallStartEvent | ToolCallEndEvent | CallStartEvent | CallAnswerEvent | CallEndEvent | BudgetUpdateEvent | MemoryInitEvent | ReplayReportEvent | ValidationSuccessEvent | ValidationFailEvent | CustomSpanStartEvent | CustomSpanEndEvent | SysLogEvent | ErrorEvent;
type TraceEventType = TraceEvent["type"];
/** The event of a type. */
type TraceEventOf<Type extends TraceEventType> = Extract<TraceEvent, {
  type: Type;
}>;
/** A line of a trace file in place of events that were dropped because their buffer was full. */
interface TraceGap {
  type: "gap";
  /** Number of missing events. */
  count: number;
  schemaVersion: 1;
  /** Milliseconds since 1970. */
  timestamp: number;
}
type EventCallback<Type extends TraceEventType | "*"> = (event: Type extends TraceEventType ? TraceEventOf<Type> : TraceEvent) => void;
/** Ends a subscription. */
type Unsubscribe = () => void;
interface EventBus {
  /** True if there are subscribers. Without subscribers, events need not be built. */
  readonly hasSubscribers: boolean;
  /** Calls `callback` for every event of a type, or for all events with "*". */
  subscribe<Type extends TraceEventType | "*">(type: Type, callback: EventCallback<Type>): Unsubscribe;
  /** Like `subscribe`, for the next event only. */
  subscribeOnce<Type extends TraceEventType | "*">(type: Type, callback: EventCallback<Type>): Unsubscribe;
  /** Like `subscribe`, for several types. */
  subscribeMany<Type extends TraceEventType>(types: readonly Type[], callback: EventCallback<Type>): Unsubscribe;
  /**
  * Calls the subscribers synchronously, in the order of subscription. A subscriber added during an `emit` receives only
  * later events; one that is removed receives nothing more. Never throws.
  */
  emit(event: TraceEvent): void;
  /** Ends all subscriptions. */
  reset(): void;
}
interface EventBusOptions {
  /**
  * Receives an error that a subscriber threw, or the reason for which its promise was rejected. By default the first
  * error of each subscriber is printed by `console.warn`.
  */
  onError?: (error: unknown, event: TraceEvent) => void;
}
/** Creates an event bus. Its functions need no `this`. */
declare function createEventBus(options?: EventBusOptions): EventBus;
/** Returns the bus of runs without an `eventBus` option. There is one per process. */
declare function getGlobalEventBus(): EventBus;
/** Version of the shape of events. New optional fields do not change it. */
declare const TRACE_EVENT_SCHEMA_VERSION: 1;
/** The event types. */
declare const EVENTS: {
  readonly RUN_WITH_START: "runWith:start";
  readonly RUN_WITH_RETURN: "runWith:return";
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
  * @param reason becomes `signal.reason`.
  */
  (reason?: unknown): void;
  abort(reason?: unknown): void;
  /** The agent's signal. */
  readonly signal: AbortSignal;
}
/** The signal that aborts when the current agent must stop; `undefined` outside of runs and agents. */
declare function getContextSignal(): AbortSignal | undefined;
/**
* Returns a function that aborts the current agent. It can be called later, in any context. Outside of runs and agents
* the function does nothing, and its signal never aborts.
*/
declare function getAbortHandle(): AbortHandle;
/** The value that a handler returns to be called again in a new generation. */
interface RebornSignal {
  /** Props of the next generation. Default: the props of this one. */
  readonly newProps?: unknown;
}
/**
* Creates the value that a handler returns to start over with an empty prompt and its memory kept.
* @param newProps props of the next generation. Default: the props of this one.
*/
declare function reborn(newProps?: unknown): RebornSignal;
/** True if a handler's result requests a new generation. */
declare function isRebornSignal(value: unknown): value is RebornSignal;
/** The usage of a frame, reported at each use. */
interface BudgetUpdate extends BudgetState {
  /** The use that caused this update, in this frame or below it. */
  readonly delta: UsageStats;
}
/** Describes the origin of a stream event. */
interface StreamInfo {
  readonly agentId: string;
  /** The callId, such as `root/agent:writer:0/prompt:gpt:0`. All events of an answer have the same. */
  readonly callId: string;
  /** Number of the turn in the prompt, from 0. */
  readonly step: number;
  /** True if the answer comes from a recording. Its reasoning, its text and each tool call are then one event each. */
  readonly replayed: boolean;
}
/**
* Receives a model's answer while it arrives. Events are copies. The first error that the consumer throws is printed
* with `console.warn`. Its result is not awaited.
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
  * The model, or its id in the run's registry. Default: the model of the run. An agent whose model id is not
  * registered fails with a ModelRegistryNotFoundError when it starts.
  */
  model?: string | ModelAdapter;
  /** Maximal number of retries if an answer does not fit the schema. Default: 3. */
  maxRetries?: number;
  /** Maximal number of turns of a prompt. Default: 10. */
  maxTurnSteps?: number;
  /** Maximal number of rebirths. Default: 100. */
  maxReborns?: number;
  /** The agent's code: equips the prompt, prompts, calls tools and other agents. */
  handler: (props: Props) => Promise<Result | RebornSignal> | Result | RebornSignal;
  middlewares?: readonly AgentMiddleware[];
  /** Receives the answers to the agent's prompts while they arrive; on replay, as recorded. */
  onStream?: StreamConsumer;
}
/** A call runs the agent: in a run or another agent as a sub-agent, elsewhere as a run of its own. */
interface Agent<Props, Result> {
  (...args: undefined extends Props ? [props?: Props] : [props: Props]): Promise<Result>;
  readonly id: string;
  /** Creates an agent with a changed configuration. */
  fork(changes: Partial<AgentConfig<Props, Result>>): Agent<Props, Result>;
}
/**
* Creates an agent: a function whose calls are frames that are recorded and replayed.
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
/**
* The effect of a call outside of the program:
* - `"none"`: nothing, like a search. It does not wait until a store has written the calls before it.
* - `"repeatable"` (default): it may be executed again if the process is killed during the call.
* - `"once"`: it must not happen twice, like a payment. If an earlier execution has started and its answer is not
*   recorded, `verify` is asked, or the run fails with an UncertainEffectError.
*/
type Effect = "none" | "repeatable" | "once";
interface EffectOptions<Input = any, Output = unknown> {
  readonly effect?: Effect;
  /**
  * For `effect: "once"`: finds out if an earlier execution took effect. Returns its output, or `"not-done"`, which
  * executes the call. An error means that it is still unknown.
  */
  readonly verify?: (input: Input, context: {
    readonly idempotencyKey: string;
    readonly signal: AbortSignal;
  }) => Output | "not-done" | Promise<Output | "not-done">;
}
/** The part of Standard Schema that this package uses. Schemas of all libraries that implement it are accepted. */
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
/** The type of the values that a schema returns. */
type InferOutput<S> = S extends {
  readonly "~standard": {
    readonly types?: {
      readonly output: infer Output;
    } | undefined;
  };
} ? Output : unknown;
/** The second argument of a tool's handler. */
interface ToolContext {
  /** Aborts when the agent that called the tool must stop. */
  readonly signal: AbortSignal;
  /** Path of this call, such as `root/agent:writer:0/tool:search:1`. */
  readonly callId: string;
  /**
  * Id of this call, 64 hex digits. It stays the same if the process is killed during the call and a resumed run
  * executes it again, so a service that it is passed to can recognize the repetition.
  */
  readonly idempotencyKey: string;
}
/** A layer around a tool's handler. The journal is the innermost layer, so it records the final input. */
interface ToolMiddleware {
  readonly name: string;
  readonly handler: (context: {
    readonly toolName: string;
    readonly input: unknown;
  }, next: (input?: unknown) => Promise<unknown>) => Promise<unknown>;
  /** Settings of the layer. They are part of the request's hash in recordings of `@rejelly/core`. */
  readonly config?: unknown;
}
/** A function that a model can call. */
interface Tool<Input = any, Output = unknown> extends EffectOptions<Input, Output> {
  readonly name: string;
  readonly description: string;
  /** Schema of the input, made with zod 3.25+, zod 4, or another library that implements Standard Schema. */
  readonly parameters: StandardSchemaLike<Input>;
  /** JSON schema of the input. Default: the one that the schema's library provides. */
  readonly jsonSchema?: Readonly<Record<string, unknown>>;
  readonly handler: (input: Input, context: ToolContext) => Output | Promise<Output>;
  readonly middlewares?: readonly ToolMiddleware[];
}
/** Changed fields of a tool. Middlewares are added inside the existing ones. */
type ToolChanges<Input, Output> = Partial<Tool<Input, Output>>;
/**
* Creates a tool from another one, which stays unchanged.
*
* @param changes fields that replace those of the tool, except for `middlewares`: they are added, and run inside the
* existing ones and around the journal. A function computes the changed fields from the old tool; they replace its
* fields, including `middlewares`.
*/
declare function augmentTool<Input, Output>(tool: Tool<Input, Output>, changes: ToolChanges<Input, Output> | ((tool: Tool<Input, Output>) => ToolChanges<Input, Output>)): Tool<Input, Output>;
type Native = typeof Binding;
/** The Rust core. */
declare const native: Native;
/** A built-in rule. `"base64"` replaces images and files with their size and hash. */
type BuiltinRedactRule = "anthropic-key" | "openai-key" | "google-key" | "aws-key" | "github-key" | "gitlab-key" | "slack-key" | "stripe-key" | "huggingface-key" | "groq-key" | "xai-key" | "perplexity-key" | "replicate-key" | "fireworks-key" | "cerebras-key" | "together-key" | "nvidia-key" | "langsmith-key" | "npm-key" | "jwt" | "private-key" | "card-number" | "url-password" | "authorization" | "base64";
/** A custom rule. */
type RedactRule = {
  /** Part of the placeholders: 1 to 64 of the characters A-Z, a-z, 0-9, `_`, `.` and `-`. */id: string;
} & ({
  /**
  * Matches in any key or text are replaced. Matching takes linear time, so look-around, backreferences and `\p` are
  * not supported. The flag `i` applies to ASCII only.
  */
  pattern: RegExp | string;
} | {
  /** Texts and numbers in members with these names are replaced. Case, `_` and `-` are ignored. */keys: readonly string[];
});
interface RedactOptions {
  rules?: readonly RedactRule[];
  /**
  * Key for the digests in placeholders (HMAC-SHA256). Without a key, secrets that could be guessed (card numbers,
  * passwords in URLs, Authorization values, matches of custom rules) get placeholders without a digest, so different
  * secrets of one rule look the same.
  */
  key?: string;
  /** Built-in rules to disable. `["base64"]` keeps images and files. */
  without?: readonly BuiltinRedactRule[];
}
type NativeStream = InstanceType<typeof native.RedactStream>;
interface RedactStreamOptions {
  /**
  * Number of UTF-8 bytes that are held back, so that a secret that spans several chunks is found. If a secret is
  * longer, the part found so far is replaced and the rest is removed.
  * @default 4096
  */
  holdBack?: number;
}
/** Redacts text that arrives in chunks. */
declare class RedactStream {
  #private;
  /** @throws RangeError if `holdBack` is smaller than the longest built-in secrets. */
  constructor(start: (holdBack: number) => NativeStream, {
    holdBack
  }: RedactStreamOptions);
  /** Adds a chunk. Returns the redacted text that is complete so far, often "". */
  push(chunk: string): string;
  /** Returns the rest of the redacted text. */
  end(): string;
}
/** A secret that was found. */
interface RedactFinding {
  /** The id of the rule. */
  rule: string;
  /** JSON pointer in the input to the string or number; for a key, to its object. */
  pointer: string;
  /** True if the secret is in a key. */
  key?: true;
  /** Start and end in the string, in UTF-16 code units. */
  span: [start: number, end: number];
}
/** Replaces secrets with placeholders. A placeholder depends only on the options and the secret. */
declare class Redactor {
  #private;
  /** The rules as a snapshot records them. They contain an id of the key, not the key. */
  readonly recorded: RecordedRedaction;
  /** @throws TypeError, RedactError for an invalid or unsupported rule. */
  constructor(options?: RedactOptions, owner?: string);
  /** Redacts plain text. If the text is JSON, the names of its members count too. */
  text(text: string): string;
  /**
  * Returns a redacted copy of a value, including its keys. A placeholder is a string, even if it replaces a number.
  * @throws TypeError for a value that is not JSON, Date, Map, Set, URL, BigInt, bytes or `undefined`.
  */
  value(value: unknown): unknown;
  /**
  * Redacts JSON text. Whitespace, order and numbers are preserved.
  * @throws RewindError (`ERR_REWIND_INVALID_JSON`) with the byte offset if the text is not JSON. LimitError if it is nested
  * too deep or has too many values.
  */
  json(text: string): string;
  /** Returns the secrets that `text` would replace. */
  findInText(text: string): RedactFinding[];
  /** Returns the secrets that `json` would replace, in order. */
  findInJson(text: string): RedactFinding[];
  /** Starts the redaction of text that arrives in chunks. */
  stream(options?: RedactStreamOptions): RedactStream;
}
/** A receiver of events, such as a bus or a trace writer. */
interface EventSink {
  emit(event: TraceEvent): void;
  /**
  * A call is about to be executed. The call waits for the result, and fails with its error. A store writes everything
  * that it has received so far. Called for calls whose `effect` is not "none".
  *
  * @returns for `effect: "once"`, what is known of an earlier execution of the same call.
  */
  beforeCall?(call: CallAhead): Promise<EarlierExecution | undefined> | undefined;
}
/** A call that is about to be executed. */
interface CallAhead {
  readonly kind: string;
  readonly name: string;
  readonly callId: string;
  readonly effect: Effect;
  /** The same in each run that resumes this one. */
  readonly idempotencyKey: string;
}
/** An earlier execution of a call, whose answer is not part of the recording. */
interface EarlierExecution {
  readonly startedAt?: Date | undefined;
  /** Its output, if somebody has found it: JSON text, and the types that JSON lacks. */
  readonly output?: {
    readonly text: string;
    readonly types: string | null;
  } | undefined;
}
/** Leaves values out of the hash of a request. The request that is sent and recorded does not change. */
type NormalizeRule = {
  /** Name of the rule. Snapshots contain it. */id: string;
} & ({
  /**
  * JSON pointers into the request document, such as `/messages/0/content` or `/input/requestId`. `*` matches any
  * key or index. The values there are replaced by `[id]`.
  */
  pointer: string | readonly string[];
} | {
  /** Matches in all texts of the document are replaced by `replacement`, or by `[id]`. */pattern: RegExp;
  replacement?: string;
} | {
  /**
  * Returns the document to hash. Gets a copy of the request document and its kind. Equal documents must have equal
  * results. Unlike the other rules, it processes the whole conversation in every turn.
  */
  apply: (document: Record<string, unknown>, kind: string) => unknown;
});
/**
* `"api.example.com"`, `"*.example.com"`, `"localhost:8080"`, `"api.example.com/v1/*"`: a host, with a port and a path if
* those matter; `*` stands for any characters. Or a RegExp for the whole URL.
*/
type UrlPattern = string | RegExp;
/** How the network guard treats a request that no wrapper sees. */
type NetworkMode = "refuse" | "report" | "allow";
interface NetworkOptions {
  /**
  * For HTTP requests that no wrapper sees, so that they are not recorded: `"refuse"` fails the request and the run with
  * an UnrecordedRequestError, `"report"` sends the request, warns and lists it in `report.unrecorded`, `"allow"` sends
  * it. Default: `"refuse"` in a strict replay, otherwise `"allow"`. Recorded tests also refuse in CI, and report while
  * they are recorded elsewhere.
  */
  network?: NetworkMode;
  /**
  * Hosts that such requests may reach, such as `["localhost:6333", "*.internal.example.com"]`. Servers of this process
  * need not be listed.
  */
  allowHosts?: readonly UrlPattern[];
}
/** The usage of a tool, for the budget. */
interface ToolUsage {
  /** Name of the tool or its service. */
  readonly name: string;
  /** Costs by unit, in whole numbers, such as `{ microdollars: 1200 }`. */
  readonly costs: Readonly<Record<string, number>>;
  /** Used quantity, in `unit`. */
  readonly quantity: number;
  /** Unit of `quantity`, such as "request" or "page". */
  readonly unit: string;
  /** Other properties of this use, as JSON. Uses with different details are counted separately. */
  readonly details?: Readonly<Record<string, unknown>>;
}
/**
* Tokens, costs and calls used so far by the current frame alone (`own`), and including its sub-agents (`aggregate`).
* @throws ContextNotFoundError outside of runs and agents.
*/
declare function getUsageStats(): BudgetState;
/**
* Adds the usage of a tool to the budget of the current frame, and to the aggregates of the frames above it. Uses with
* the same name, unit and details are one item. A replayed call is not executed, so it adds nothing.
* @throws ContextNotFoundError outside of runs and agents.
* @throws TypeError if an amount is not a finite number, or the details are not JSON.
*/
declare function recordToolUsage(usage: ToolUsage): void;
interface BudgetOptions {
  /**
  * Called for every use in the current frame and below it, in the context in which it was equipped. `own` and
  * `aggregate` are the budget of that frame. It can stop the agent with `getAbortHandle().abort()`. The first error
  * that it throws is printed with `console.warn`.
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
* Lets the model call a tool. A second tool with the same name replaces the first.
* @throws AfterPromptAgentError once the agent has been prompted in this generation.
* @throws TypeError if the tool is invalid.
*/
declare function equipTool(tool: Tool, options?: {
  middleware?: ToolMiddleware | readonly ToolMiddleware[];
}): void;
/**
* Watches the usage of the agent and its sub-agents until its generation ends. Replayed calls have no usage.
* @throws AfterPromptAgentError once the agent has been prompted in this generation.
*/
declare function equipBudget(options: BudgetOptions): void;
/**
* A value that all generations of the agent share, and that snapshots contain. Values are copies: changing one has no
* effect until it is set.
*
* @param initial the first value of the key. Ignored if the key already has a value.
* @returns the value, and a function that sets a new value, or computes it from the latest one.
* @throws TypeError if the key is not a string, or a value is not JSON.
*/
declare function equipMemory<T>(key: string, initial: T): [T, (value: T | ((previous: T) => T)) => void];
/**
* Runs a function as a sub-agent: in its own frame, with its own journal, memory, budget and abort signal. A replay
* finds the frame by `id` and `input`. Outside of a run the frame is a run of its own. Agents are built on this
* function, and your own agent loop can use it too.
*
* @param frame.id the name of the sub-agent; part of the callId.
* @param frame.input the argument of `fn`. `undefined` and `{}` are the same input.
* @param fn may return `reborn(newInput)` to be called again with its memory kept.
* @throws MaxDepthExceededError, AbortError, and the errors of `fn`.
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
/** An answer repeats a text or a number of its request. */
interface Echo {
  /** JSON pointer into the request, such as `/id`. */
  from: string;
  /** JSON pointer into the answer. */
  to: string;
}
/** A class, for options that list some. */
interface Class {
  readonly prototype: object;
}
/** A call to be journaled. */
interface JournaledCall extends EffectOptions {
  /** `"prompt"`, `"tool"`, or your own kind, such as `"embedding"`. Each kind has its own journal. */
  kind: string;
  /** Name of the tool, model or service; part of the callId. */
  name: string;
  /**
  * The request. Its hash finds the recorded answer, so it must contain everything that the answer depends on, and
  * nothing that changes from run to run. For `"prompt"` it is the whole request document (`messages`, `model`, …).
  * For all other kinds the hashed document is `{ input: request, name }`.
  */
  request: unknown;
  /** The context in which the call is journaled. Default: the current one. */
  context?: RunContext;
  /**
  * Number of earlier attempts of a client that reports its retries. From 1 on, this is the same call as the failed one
  * that the asking code has asked before, and its outcome replaces the outcome of that one. Code that does not know its
  * earlier call, because a queue makes the calls, continues the only equal call of its frame that failed.
  */
  attempt?: number;
  /**
  * Classes that a replayed failure of this call comes back as, in addition to those of the run: see `errors` of
  * `runWith`.
  */
  errors?: readonly ErrorClass[];
  /**
  * True if all that the call does inside is sending its request: wrapped clients, such as `rewindFetch`, then pass
  * through unrecorded. Otherwise they are recorded inside this call, like every `journalCall`, agent or `runFrame`.
  */
  leaf?: boolean;
  /**
  * A text or number of the request that the answer repeats, such as an id that is new in every run. If they were equal
  * when recorded, a replayed answer has the one of the new request. Leave it out of the hash by a `normalize` rule.
  */
  echo?: Echo | readonly Echo[];
  /**
  * Classes whose instances in the request have no state but their enumerable fields. See `exact` of `runWith`, to which
  * they are added.
  */
  exact?: readonly Class[];
}
/** Arguments of the function that executes a call. */
interface CallInfo {
  readonly callId: string;
  /** SHA-256 of the RFC 8785 form of the request document, 64 hex digits. */
  readonly contentHash: string;
  /**
  * Id of this call, 64 hex digits. It stays the same if the process is killed during the call and a resumed run
  * executes it again, so a service that it is passed to can recognize the repetition.
  */
  readonly idempotencyKey: string;
  readonly signal: AbortSignal;
}
/**
* Journals one call in the current context. If the run replays a recording that contains the answer, the result is a
* copy of that answer. Otherwise `make` executes the call, and its result or error is journaled. Prompts and tools are
* built on this function, and your own agent loop can use it too.
*
* @throws ContextNotFoundError outside of runs and agents, if no `context` is given.
* @throws the error of `make`, also if a failure is replayed.
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
  /** Restricts the tools that the model may or must call. Part of the request's hash. */
  toolChoice?: ToolChoice;
  /**
  * Options for the model, such as `{ temperature: 0, seed: 7 }`. The adapter receives them as `additionalOptions`.
  * Part of the request's hash. They must be JSON; `undefined` members are ignored.
  */
  modelOptions?: Readonly<Record<string, unknown>>;
  /** JSON schema of the answer, for a schema library that cannot create one. Default: created by the library. */
  jsonSchema?: Readonly<Record<string, unknown>>;
  /** Receives the model's answers of all turns while they arrive; on replay, as recorded. */
  onStream?: StreamConsumer;
}
/**
* Prompts the model with the equipped messages and tools, lets it call tools until it answers, and validates the answer
* with the schema. If the answer is invalid, the model gets a list of its faults and answers again.
*
* @param schema of zod 3.25+, zod 4, or another library that supports Standard Schema, such as valibot or ArkType.
* @throws AfterPromptAgentError if called twice in a generation.
* @throws AttemptsExhaustedError if `maxRetries` further answers did not fit the schema.
* @throws TurnBudgetExceededError if the model still calls tools after `maxTurnSteps` turns.
* @throws JsonSchemaNotFoundError if no JSON schema was given, and the library of the schema or of a tool has none.
* @throws ModelCallError, ModelNotFoundError, ModelRegistryNotFoundError, AbortError
* @throws TypeError if the schema is invalid, or the options are not JSON.
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
/** How a run ended. */
interface RunEnd {
  /** The error that the run ended with. If the function had returned by then, `runWith` did not throw it. */
  readonly error?: unknown;
}
interface RunWithOptions<Props = unknown> extends NetworkOptions {
  /** The argument of the function. */
  initialProps?: Props;
  /** The snapshot to replay: calls that have a recorded answer are not executed again. */
  snapshot?: AgentSnapshot;
  /** True if the run is journaled and can be dumped. Default: true, unless NODE_ENV is "production". */
  enableSnapshot?: boolean;
  /** Receives the run's events, instead of the global bus. */
  eventBus?: EventSink;
  /** The model of agents without a model of their own. */
  model?: ModelAdapter;
  /** Models by the ids that agents use. */
  modelRegistry?: Record<string, ModelAdapter>;
  /** Joins the run to a trace. */
  trace?: {
    traceId?: string;
    parentSpanId?: string;
    attributes?: Record<string, unknown>;
  };
  /** Aborts the run's agents. */
  signal?: AbortSignal;
  /** Maximal depth of nested agents, from 1 to 999. Default: 50. */
  maxDepth?: number;
  /**
  * - `"resume"` (default with a snapshot): calls with a recorded answer are replayed, all others are executed.
  * - `"replay"`: no call is executed. A call without a recorded answer fails with a ReplayMissError.
  * - `"live"` (default without a snapshot): all calls are executed, and a snapshot is ignored.
  */
  mode?: "live" | "resume" | "replay";
  /** With "resume": decides for each call without a recorded answer if it is executed or fails. Default: executed. */
  onMiss?: (miss: Miss) => "live" | "error";
  /**
  * For sub-agents that ended in the recording: `"rerun"` runs their handlers against the recording, so that changed
  * code takes effect; `"reuse"` returns their recorded result. Default: `"rerun"`.
  */
  completedFrames?: "rerun" | "reuse";
  /** Receives the report of replayed and executed calls at the end of the run. */
  onReport?: (report: ReplayReport) => void;
  /**
  * Called in the context of the run when it has ended: with the function, or, if that returned a stream, when the program
  * has read or left the stream. `dumpSnapshot()` returns the whole run here.
  */
  onEnd?: (end: RunEnd) => void | Promise<void>;
  /**
  * Leaves values that change from run to run, such as ids and times, out of the hashes of requests and props. If a
  * snapshot was recorded with other rules, its hashes are computed again, which needs the recorded requests.
  */
  normalize?: readonly NormalizeRule[];
  /**
  * Replaces secrets in everything that is recorded: requests, outputs, failures, memory, events. The agent's data and
  * the sent requests stay unchanged. `true` uses the built-in rules; options set your own rules and key. A snapshot
  * that was recorded with other rules is rejected.
  */
  redact?: boolean | RedactOptions | Redactor;
  /**
  * Classes whose instances in requests and props have no state but their enumerable fields, so that their hash covers
  * them. Without it, an instance is covered only if its source text shows no private members and no accessors.
  */
  exact?: readonly Class[];
  /** True if snapshots contain the requests, which explain a miss. Default: true. */
  requests?: boolean;
  /**
  * For recorded failures: `"replay"` replays them, `"retry"` executes their calls again. With `"auto"`, a call is
  * executed again if its failure ended the run; handled failures are replayed. Default: `"auto"`, and `"replay"` with
  * the mode "replay".
  */
  failures?: "auto" | "replay" | "retry";
  /**
  * The memory that frames start with: `"start"` is their original memory, `"dump"` the memory at the time of the
  * dump. `"auto"` is the original memory if the frame has calls to replay, otherwise the dumped one. Default:
  * `"auto"`, and `"start"` with the mode "replay".
  */
  memory?: "auto" | "start" | "dump";
  /**
  * Classes that replayed failures come back as, such as `[OpenAI.RateLimitError, OutOfStock]`. The error classes among
  * the static members of a class count too, so `[OpenAI]` names all errors of that client. A class is found by its name
  * and the names of its ancestors, and no constructor runs. The errors of JavaScript, DOMException and the errors of this
  * package always come back as themselves. Others come back as their nearest known ancestor, and the report lists them
  * in `incompleteErrors`.
  */
  errors?: readonly ErrorClass[];
}
/**
* Runs a function as the root of a run. The run is recorded, and replayed from a snapshot if one is given.
*
* @throws NestedRunError inside a run or an agent.
* @throws SnapshotDisabledError for a snapshot in production without `enableSnapshot: true`.
* @throws InvalidSnapshotError with all faults of a snapshot, before anything runs.
* @throws NormalizeError for a snapshot that was recorded with other rules and without requests.
* @throws RedactError for a snapshot that was redacted by other rules or not redacted, and for an unsupported rule.
* @throws the error of the function.
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
/** For callers that specify only the type of the result. */
declare function runWith<Result>(fn: () => Promise<Result> | Result, options?: RunWithOptions): Promise<Result>;
/**
* Runs a function in its own span: everything it does is below that span in the trace.
*
* @param name the name of the span in the trace.
* @param attributes are added to `trace.attributes` of the span's two events.
* @returns the result of `fn`.
* @throws ContextNotFoundError outside of runs and agents.
* @throws the error of `fn`.
*/
declare function withCustomSpan<Result>(name: string, fn: () => Result | Promise<Result>, attributes?: Readonly<Record<string, unknown>>): Promise<Result>;
type WithSnapshot<Props> = Omit<RunWithOptions<Props>, "mode" | "snapshot"> & {
  snapshot: AgentSnapshot;
};
/**
* Runs a function with every call answered from a snapshot. No call is executed: a call without a recorded answer
* fails with a ReplayMissError, and so does the run, even if the agent catches the error.
* @throws ReplayMissError, and the errors of `runWith`.
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
* Runs a function with its calls answered from a snapshot. Calls without a recorded answer are executed and journaled.
* @throws the errors of `runWith`.
*
* @example
* ```ts
* import { resume } from "agent-rewind";
* import { restoreSnapshotFromFile } from "agent-rewind/debugger";
*
* export async function resumeRun(agent: () => Promise<string>): Promise<string> {
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
* Runs a function with every call executed.
* @throws the errors of `runWith`.
*/
declare function live<Props, Result>(fn: (props: Props) => Promise<Result> | Result, options: WithoutSnapshot<Props>): Promise<Result>;
declare function live<Result>(fn: () => Promise<Result> | Result, options?: WithoutSnapshot<unknown>): Promise<Result>;
/**
* Calls a tool in the current context, journaled and traced as if a model had called it.
* @throws the error of the tool, or a TypeError with the faults of the input.
*/
declare function callTool<Input, Output>(tool: Tool<Input, Output>, args: Input): Promise<Output>;
export { AbortError, type AbortHandle, AfterPromptAgentError, type Agent, type AgentConfig, AgentEndEvent, AgentFrameSnapshot, type AgentMiddleware, AgentRebornEvent, AgentSnapshot, AgentStartEvent, AttemptsExhaustedError, AuditLogError, type BudgetOptions, BudgetState, type BudgetUpdate, BudgetUpdateEvent, type BuiltinRedactRule, type CallAhead, CallAnswerEvent, CallEndEvent, type CallInfo, CallMeta, CallRecord, CallStartEvent, CaptureError, CauseOptions, ContentPart, type Context, ContextNotFoundError, CustomSpanEndEvent, CustomSpanStartEvent, Difference, EVENTS, type EarlierExecution, type Echo, Effect, EffectOptions, type ErrorClass, ErrorEvent, ErrorGuard, ErrorInfo, type EventBus, type EventSink, Fault, ForkError, FoundSecret, FrameReport, FrameState, GenerationEndEvent, GenerationRecord, GenerationStart, GenerationStartEvent, ImagePart, InFlightCall, IncompleteError, InexactAnswer, InferOutput, InvalidRecordingError, InvalidSnapshotError, InvalidToolOutputError, Journal, JournalEntry, type JournaledCall, JsonSchemaNotFoundError, KeptRequest, LeaseLostError, LimitError, MaxDepthExceededError, MaxRebornsExceededError, McpCallEndedError, MemoryInitEvent, Message, MessagesDelta, Miss, MissExplanation, MissReason, MissedCall, ModelAdapter, ModelCallEndEvent, ModelCallError, ModelCallStartEvent, ModelNotFoundError, ModelRegistryNotFoundError, ModelUsageItem, NativeMissingError, NestedRunError, NormalizeError, type NormalizeRule, PromptAgentEndEvent, PromptAgentStartEvent, type PromptOptions, Provenance, type RebornSignal, RecordedRedaction, RecordedRule, Recorder, RecordingMissingError, RecordingStaleError, RedactError, type RedactOptions, type RedactRule, type Redactor, ReplayMissError, ReplayReport, ReplayReportEvent, RequestPart, RestoreError, RestoreOptions, RewindError, type RunContext, type RunEnd, RunLeasedError, RunVersionError, RunWithEndEvent, type RunWithOptions, RunWithReturnEvent, RunWithStartEvent, SecretInRecordingError, SnapshotDisabledError, SnapshotDisabledSource, SnapshotWarning, StaleCall, StandardSchemaLike, StoreOpenError, StoreVersionError, type StreamConsumer, StreamCutError, StreamEvent, type StreamInfo, StreamMeta, StreamOptions, SysLogEvent, TRACE_EVENT_SCHEMA_VERSION, TextPart, TokenUsage, Tool, ToolCall, ToolCallDelta, ToolCallEndEvent, ToolCallStartEvent, type ToolChanges, ToolChoice, ToolContext, ToolExecution, ToolMiddleware, ToolSchema, type ToolUsage, ToolUsageItem, ToolsExecuteEndEvent, ToolsExecuteStartEvent, TraceEvent, TraceEventOf, TraceEventType, TraceGap, TraceReadError, TraceRef, TraceWriteError, TurnBudgetExceededError, TurnEndEvent, TurnStartEvent, UncertainEffect, UncertainEffectError, UnrecordedCall, UnrecordedRequest, UnrecordedRequestError, UnsupportedNodeError, UsageItem, UsageStats, ValidationFailEvent, ValidationSuccessEvent, VideoPart, WithheldAnswer, augmentTool, callTool, captureContext, createAgent, createEventBus, equipBudget, equipInstruction, equipMemory, equipSystem, equipTool, getAbortHandle, getContext, getContextSignal, getGlobalEventBus, getUsageStats, isAbortError, isAfterPromptAgentError, isAttemptsExhaustedError, isAuditLogError, isCaptureError, isContextNotFoundError, isForkError, isInvalidRecordingError, isInvalidSnapshotError, isInvalidToolOutputError, isJsonSchemaNotFoundError, isLeaseLostError, isLimitError, isMaxDepthExceededError, isMaxRebornsExceededError, isMcpCallEndedError, isModelCallError, isModelNotFoundError, isModelRegistryNotFoundError, isNativeMissingError, isNestedRunError, isNormalizeError, isRebornSignal, isRecordingError, isRecordingMissingError, isRecordingStaleError, isRedactError, isReplayMissError, isRestoreError, isRunLeasedError, isRunVersionError, isSecretInRecordingError, isSnapshotDisabledError, isStoreOpenError, isStoreVersionError, isStreamCutError, isTraceReadError, isTraceWriteError, isTurnBudgetExceededError, isUncertainEffectError, isUnrecordedRequestError, isUnsupportedNodeError, journalCall, live, promptAgent, reborn, recordToolUsage, replay, resume, runFrame, runWith, withCustomSpan };
