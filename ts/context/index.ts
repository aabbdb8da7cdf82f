export { CaptureError, isCaptureError } from "../errors/index.js";
export { BoundaryCapture, type SegmentHashes } from "./capture/boundary.js";
export type { BoundarySource, CaptureDict, CaptureRecord, WireRequest } from "./capture/boundary-types.js";
export { warningsOf, type BudgetAllocation, type ContextLedger, type Segment } from "./window/ledger.js";
export type { CallbackOptions, OnCallbackError, CaptureCallback } from "./capture/callbacks.js";
export type { CaptureFetchOptions, Fetch } from "./capture/capture-fetch.js";
export {
  createManagerConfig,
  managerConfigFromEnv,
  type ManagerConfig,
  type MonitorFrequency,
  type OptimizerStrategy,
  type SnapshotTiming,
} from "./window/config.js";
export { detectDrift, type Drift } from "./capture/drift.js";
export type { ContextEvent } from "./capture/history.js";
export { ContextManager } from "./manager.js";
export type { ContextManagerOptions } from "./options.js";
export { modelLimit, MODEL_LIMITS, type ModelLimits } from "./window/models.js";
export type { CachePrefix } from "./request/prefix.js";
export type { ProcessOptions, ProcessResult } from "./compaction/process.js";
export { pythonJson } from "./request/hashes.js";
export type { MonitorRedactor } from "./monitor/redactor.js";
export {
  SnapshotHookData,
  verifySnapshot,
  type Redactor,
  type SnapshotCallback,
  type SnapshotDict,
  type SnapshotRecord,
} from "./deprecated.js";
export { requestOf, type ExactRequest } from "./capture/exact-request.js";
export { estimateTokens, type CountTokens } from "./window/tokens.js";
export { verifyPayload, verifyCapture, type HashFault, type Verification } from "./capture/verify.js";
