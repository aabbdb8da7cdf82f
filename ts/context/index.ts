export { CaptureError, isCaptureError } from "../errors/index.js";
export { SnapshotHookData, type SegmentHashes } from "./boundary.js";
export type { BoundarySource, SnapshotDict, SnapshotRecord, WireRequest } from "./boundary-types.js";
export { warningsOf, type BudgetAllocation, type ContextLedger, type Segment } from "./budget.js";
export type { CallbackOptions, OnCallbackError, SnapshotCallback } from "./callbacks.js";
export type { CaptureFetchOptions, Fetch } from "./capture-fetch.js";
export {
  createManagerConfig,
  managerConfigFromEnv,
  type ManagerConfig,
  type MonitorFrequency,
  type OptimizerStrategy,
  type SnapshotTiming,
} from "./config.js";
export { detectDrift, type Drift } from "./drift.js";
export type { ContextEvent } from "./history.js";
export { ContextManager, type ContextManagerOptions } from "./manager.js";
export { modelLimit, MODEL_LIMITS, type ModelLimits } from "./models.js";
export type { CachePrefix } from "./prefix.js";
export type { ProcessOptions, ProcessResult } from "./process.js";
export { pythonJson } from "./python-json.js";
export type { Redactor } from "./redactor.js";
export { requestOf, type ExactRequest } from "./request.js";
export { estimateTokens, type CountTokens } from "./tokens.js";
export { verifyPayload, verifySnapshot, type HashFault, type Verification } from "./verify.js";
