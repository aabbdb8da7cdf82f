export { RewindError, type CauseOptions, type ErrorGuard } from "./base.js";
export { CaptureError, isCaptureError } from "./capture.js";
export {
  AbortError,
  AfterPromptAgentError,
  ContextNotFoundError,
  MaxDepthExceededError,
  NestedRunError,
  isAbortError,
  isAfterPromptAgentError,
  isContextNotFoundError,
  isMaxDepthExceededError,
  isNestedRunError,
} from "./context.js";
export { ForkError, isForkError } from "./fork.js";
export { McpCallEndedError, isMcpCallEndedError } from "./mcp.js";
export {
  AttemptsExhaustedError,
  MaxRebornsExceededError,
  ModelCallError,
  ModelNotFoundError,
  ModelRegistryNotFoundError,
  TurnBudgetExceededError,
  isAttemptsExhaustedError,
  isMaxRebornsExceededError,
  isModelCallError,
  isModelNotFoundError,
  isModelRegistryNotFoundError,
  isTurnBudgetExceededError,
} from "./model.js";
export { AuditLogError, isAuditLogError } from "./audit.js";
export { RedactError, isRedactError } from "./redact.js";
export { JsonSchemaNotFoundError, isJsonSchemaNotFoundError } from "./schema.js";
export { NativeMissingError, isNativeMissingError } from "./platform.js";
export {
  InvalidRecordingError,
  RecordingMissingError,
  RecordingStaleError,
  SecretInRecordingError,
  isInvalidRecordingError,
  isRecordingMissingError,
  isRecordingStaleError,
  isSecretInRecordingError,
} from "./recording.js";
export {
  InvalidSnapshotError,
  LimitError,
  NormalizeError,
  ReplayMissError,
  RestoreError,
  SnapshotDisabledError,
  StreamCutError,
  isInvalidSnapshotError,
  isNormalizeError,
  isLimitError,
  isReplayMissError,
  isRestoreError,
  isSnapshotDisabledError,
  isStreamCutError,
  type Fault,
  type MissedCall,
  type SnapshotDisabledSource,
} from "./snapshot.js";
export { InvalidToolOutputError, isInvalidToolOutputError } from "./tool.js";
export { TraceReadError, TraceWriteError, isTraceReadError, isTraceWriteError } from "./trace.js";
