/** Version of the events' shape; additions are optional fields. */
export const TRACE_EVENT_SCHEMA_VERSION = 1 as const;

/** The types of events. */
export const EVENTS = {
  RUN_WITH_START: "runWith:start",
  RUN_WITH_END: "runWith:end",
  AGENT_START: "agent:start",
  AGENT_END: "agent:end",
  AGENT_REBORN: "agent:reborn",
  GENERATION_START: "generation:start",
  GENERATION_END: "generation:end",
  PROMPT_AGENT_START: "promptAgent:start",
  PROMPT_AGENT_END: "promptAgent:end",
  TURN_START: "turn:start",
  TURN_END: "turn:end",
  MODEL_CALL_START: "model:call:start",
  MODEL_CALL_END: "model:call:end",
  TOOLS_EXECUTE_START: "tools:execute:start",
  TOOLS_EXECUTE_END: "tools:execute:end",
  TOOL_CALL_START: "tool:call:start",
  TOOL_CALL_END: "tool:call:end",
  CALL_START: "call:start",
  CALL_END: "call:end",
  REPLAY_REPORT: "replay:report",
  BUDGET_UPDATE: "budget:update",
  MEMORY_INIT: "memory:init",
  VALIDATION_SUCCESS: "validation:success",
  VALIDATION_FAIL: "validation:fail",
  CUSTOM_SPAN_START: "custom:span:start",
  CUSTOM_SPAN_END: "custom:span:end",
  SYS_LOG: "sys:log",
  ERROR: "error",
} as const;
