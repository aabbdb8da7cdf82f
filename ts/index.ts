export { captureContext, getContext, type Context, type RunContext } from "./runtime/scope/run-context.js";
export * from "./errors/index.js";
export { createEventBus, getGlobalEventBus } from "./events/bus.js";
export type { EventBus } from "./events/bus.js";
export { EVENTS, TRACE_EVENT_SCHEMA_VERSION } from "./events/names.js";
export { getAbortHandle, getContextSignal, type AbortHandle } from "./runtime/scope/abort-handle.js";
export { createAgent, type Agent, type AgentConfig, type AgentMiddleware } from "./runtime/agent/agent.js";
export { augmentTool, type ToolChanges } from "./runtime/agent/augment-tool.js";
export { getUsageStats, recordToolUsage } from "./runtime/usage/budget.js";
export {
  equipBudget,
  equipInstruction,
  equipMemory,
  equipSystem,
  equipTool,
  type BudgetOptions,
} from "./runtime/agent/equip.js";
export { runFrame } from "./runtime/frame/run-frame.js";
export type { Echo } from "./runtime/call/echo.js";
export { journalCall, type CallInfo, type JournaledCall } from "./runtime/call/journal-call.js";
export type { NormalizeRule } from "./values/normalize.js";
export { promptAgent, type PromptOptions } from "./runtime/agent/prompt.js";
export { isRebornSignal, reborn, type RebornSignal } from "./runtime/frame/reborn.js";
export type { CallAhead, EarlierExecution, EventSink } from "./runtime/scope/emitter.js";
export type { Redactor } from "./redact/redactor.js";
export type { BuiltinRedactRule, RedactOptions, RedactRule } from "./redact/rules.js";
export type { RunEnd, RunWithOptions } from "./runtime/run/run-options.js";
export { runWith } from "./runtime/run/run-with.js";
export { withCustomSpan } from "./runtime/scope/span.js";
export { live, replay, resume } from "./runtime/run/modes.js";
export type { BudgetUpdate, StreamConsumer, StreamInfo } from "./runtime/scope/watcher.js";
export { callTool } from "./runtime/agent/tool-calls.js";
export type { ToolUsage } from "./runtime/usage/usage.js";
export type { ErrorClass } from "./types/error-class.js";
export type * from "./types/effect.js";
export type * from "./types/events.js";
export type * from "./types/messages.js";
export type * from "./types/miss.js";
export type * from "./types/model.js";
export type * from "./types/report.js";
export type * from "./types/schema.js";
export type * from "./types/snapshot.js";
export type * from "./types/tool.js";
