export { captureContext, getContext, type Context } from "./run-context/context.js";
export * from "./errors/index.js";
export { createEventBus, getGlobalEventBus } from "./events/bus.js";
export type { EventBus } from "./events/bus.js";
export { EVENTS, TRACE_EVENT_SCHEMA_VERSION } from "./events/names.js";
export { getAbortHandle, getContextSignal, type AbortHandle } from "./runtime/abort.js";
export { createAgent, type Agent, type AgentConfig, type AgentMiddleware } from "./runtime/agent.js";
export { augmentTool, type ToolChanges } from "./runtime/augment-tool.js";
export { getUsageStats, recordToolUsage, type BudgetUpdate } from "./runtime/budget.js";
export {
  equipBudget,
  equipInstruction,
  equipMemory,
  equipSystem,
  equipTool,
  type BudgetOptions,
} from "./runtime/equip.js";
export { runFrame } from "./runtime/frame.js";
export { journalCall, type CallInfo, type JournaledCall } from "./runtime/journal-call.js";
export type { NormalizeRule } from "./runtime/normalize.js";
export { promptAgent, type PromptOptions } from "./runtime/prompt.js";
export { isRebornSignal, reborn, type RebornSignal } from "./runtime/reborn.js";
export type { EventSink } from "./runtime/run-state.js";
export type { Redactor } from "./redact/redactor.js";
export type { BuiltinRedactRule, RedactOptions, RedactRule } from "./redact/rules.js";
export type { RunWithOptions } from "./runtime/run-options.js";
export { runWith } from "./runtime/run-with.js";
export { withCustomSpan } from "./runtime/span.js";
export { live, replay, resume } from "./runtime/verbs.js";
export type { StreamConsumer, StreamInfo } from "./runtime/stream.js";
export { callTool } from "./runtime/tools.js";
export type { ToolUsage } from "./runtime/usage.js";
export type * from "./types/events.js";
export type * from "./types/messages.js";
export type * from "./types/miss.js";
export type * from "./types/model.js";
export type * from "./types/report.js";
export type * from "./types/schema.js";
export type * from "./types/snapshot.js";
export type * from "./types/tool.js";
